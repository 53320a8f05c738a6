"""Recorded runs of a real store, played again on their own tree: nothing of them is lost, nothing is asked anew."""

import asyncio
from typing import Any

import pytest

from bt_runtime import TickRecord
from oracle.agent.nodes import REGISTRY
from oracle.core.chunks import Content, Failed, SystemNotice
from oracle.llm.protocol import ModelFault
from oracle.replay.courses import course_of
from oracle.replay.recorded import UnreplayableError, read_run, repeat
from oracle.runs.options import RunOptions
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.running import Gate, managed

STUCK = '<signal type="stuck"><attempted>["a"]</attempted><blocker>no access</blocker></signal>'
MORE = '<signal type="need_turn"><reason>more to do</reason></signal>'


class Open(Gate):
    """A tool's call that does not wait."""

    def __init__(self, text: str = "done") -> None:
        super().__init__(text)
        self.open.set()


SCRIPTS: dict[str, list[ScriptedTurn]] = {
    "an answer": [answers()],
    "a tool": [says("Looking.", calls("probe")), answers()],
    "the project's tools": [says("Searching.", calls("search_code", query="log_in")), answers()],
    "stuck twice": [says(f"Hm. {STUCK}"), says(f"Still. {STUCK}")],
    "another turn": [says(f"Part one. {MORE}"), answers()],
    "the provider fails": [ScriptedTurn("Half", fault=ModelFault("provider_failed", "It failed.", "status 500"))],
    "no progress": [says("Again.", calls("probe")) for _ in range(4)],
    "empty responses": [says(""), says(""), says("")],
    "a limit": [says(f"Part {n}. {MORE.replace('more', str(n))}") for n in range(3)],
    "a refusal": [ScriptedTurn("No.", stop_reason="refusal")],
    "cut off": [ScriptedTurn("Half of", stop_reason="max_tokens"), answers()],
}


def bytes_of(tick: TickRecord) -> bytes:
    """Everything but the duration, which is another one at each time."""
    return encode_tick(tick, is_timed=False)


async def recorded(store: Store, name: str, **ask: Any) -> RunRecord:
    limits = {"limits": {"max_iterations": 3}} if name == "a limit" else {}
    async with managed(store, SCRIPTS[name], tools=[made_tool(Open())]) as it:
        return (await it.ask(**limits, **ask)).record


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_recorded_run_replays_to_the_identical_record(store: Store, archive: Archive, name: str):
    run = await read_run(archive, await recorded(store, name))
    replayed = repeat(run, registry=REGISTRY)
    assert replayed.diverged_at is None
    assert [bytes_of(tick) for tick in replayed.records] == [bytes_of(tick) for tick in run.ticks]
    assert not replayed.missing
    assert not replayed.unanswered


@pytest.mark.long("writes megabytes")
async def test_a_loop_that_writes_long_texts_fills_no_disk_and_replays_from_what_is_kept(
    store: Store, archive: Archive
):
    joins = "".join(f"            - set: {{text: base + '{n}'}}\n" for n in range(20))
    grow = "    - set: {base: base + base}\n" * 12
    tree = (
        "tree: hostile\nblackboard:\n  text: {type: str, default: ''}\n  base: {type: str, default: elevenchars}\n"
        f"root:\n  sequence:\n{grow}    - loop:\n        child:\n          sequence:\n{joins}"
    )
    async with managed(store, options=RunOptions(most_tick_bytes=1_500_000)) as it:
        (it.harness.trees / "hostile.yaml").write_text(tree, encoding="utf-8")
        record = (await it.ask(tree="hostile")).record
    assert record.error is not None
    assert "without waiting for anything" in record.error["cause"]
    ticks = await store.log.events(record.id, kinds={"tick"}, limit=10_000)
    assert len(ticks) > 5
    assert sum(len(tick.data) for tick in ticks) < 3_000_000
    replayed = repeat(await read_run(archive, record), registry=REGISTRY)
    assert replayed.diverged_at is None


@pytest.mark.parametrize("name", SCRIPTS)
async def test_its_course_has_the_effects_that_the_user_saw(store: Store, archive: Archive, name: str):
    run = await read_run(archive, await recorded(store, name))
    course = course_of(run, run.tree(REGISTRY), registry=REGISTRY)
    assert course.reason == run.record.termination_reason
    assert not course.unknown
    sent = [chunk for _, chunk in run.chunks]
    effects = [effect for step in course.steps for effect in step.effects]
    assert [each.text for each in effects if each.kind == "notice"] == [
        chunk.system_message for chunk in sent if isinstance(chunk, SystemNotice)
    ]
    assert [each.text for each in effects if each.kind == "error"] == [
        chunk.error for chunk in sent if isinstance(chunk, Failed)
    ]
    sentences = [each.text for each in effects if each.kind == "sentence"]
    assert (
        sentences
        == [chunk.content for chunk in sent if isinstance(chunk, Content)][-len(sentences) :][: len(sentences)]
    )
    assert len([each for each in effects if each.kind == "turn"]) == len(
        [key for tick in run.ticks for key in (o.key for o in tick.outcomes) if "llm_turn" in key]
    )


async def test_a_cancelled_run_replays_with_what_was_said(store: Store, archive: Archive):
    async with managed(store, [says("Half of the answer", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the answer")
        live.cancel()
        record = (await it.told(live.record)).record
    run = await read_run(archive, record)
    course = course_of(run, run.tree(REGISTRY), registry=REGISTRY)
    assert course.reason == "user_cancelled"
    assert repeat(run, registry=REGISTRY).diverged_at is None


async def test_a_follow_up_inherits_the_kind_of_the_question_before(store: Store, archive: Archive):
    async with managed(store, [answers(), answers()]) as it:
        first = await it.ask()
        second = await it.ask("and the other one?", context_id=first.record.context_id)
    run = await read_run(archive, second.record)
    assert run.opened.previous is not None
    assert repeat(run, registry=REGISTRY).diverged_at is None


async def test_what_cannot_be_replayed_says_why(store: Store, archive: Archive):
    async with managed(store, [answers()], control="loop") as it:
        loop = (await it.ask()).record
    with pytest.raises(UnreplayableError, match="no YAML tree drove it"):
        await read_run(archive, loop)
    record = await recorded(store, "an answer")
    await store.conversations.forget(record.user_id, record.context_id)
    gone = await archive.find(record.id)
    with pytest.raises(UnreplayableError, match="its texts and ticks were deleted"):
        await read_run(archive, gone)


async def test_nothing_is_logged_while_a_run_is_played(store: Store, archive: Archive, capsys: pytest.CaptureFixture):
    run = await read_run(archive, await recorded(store, "the provider fails"))
    capsys.readouterr()
    await asyncio.to_thread(course_of, run, run.tree(REGISTRY), registry=REGISTRY)
    assert capsys.readouterr().err == ""


RULED = """\
tree: ruled
rules:
  - {name: one_search, text: One search is enough., at_most: {tool: search_code, times: 1}, enforce: ENFORCE}
root: {subtree: oracle}
"""


@pytest.mark.parametrize("enforce", ["refuse", "stop", "notify"])
async def test_a_run_in_which_a_rule_was_enforced_replays_to_the_identical_record(
    store: Store, archive: Archive, enforce: str
):
    search = says("", calls("search_code", query="log_in"))
    async with managed(store, [search, says("", calls("search_code", query="retry")), answers()]) as it:
        it.harness.write_tree("ruled", RULED.replace("ENFORCE", enforce))
        record = (await it.ask(tree="ruled")).record
    assert record.termination_reason == ("error" if enforce == "stop" else "completed")
    run = await read_run(archive, record)
    replayed = repeat(run, registry=REGISTRY)
    assert replayed.diverged_at is None
    assert [bytes_of(tick) for tick in replayed.records] == [bytes_of(tick) for tick in run.ticks]
