"""Runs go on in another process where the one that had them was killed: nothing is said, asked or written twice."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from bt_runtime.testing import FakeClock
from oracle.llm.protocol import ModelFault, ModelRequest
from oracle.runs.options import RunOptions
from oracle.runs.storage import schema
from oracle.runs.storage.log import EventLog
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.run_pages import NOT_CONTINUED, RunFilter
from oracle.runs.storage.store import open_store
from oracle.runs.storage.trees import tree_version
from oracle.tools import ToolResult, call_key
from tests.acceptance.harness import ACTION_QUESTION, answers, calls, made_tool, says
from tests.oracle.runs.running import Gate, Managed, managed, settle

_WRITE = {"question": ACTION_QUESTION}
SENT = "Interrupted: the service stopped before this call had ended."


async def until_killed(
    url: str,
    turns: list[Any],
    *,
    said: str = "",
    gate: Gate | None = None,
    ask: Mapping[str, Any] | None = None,
    **oracle: Any,
) -> RunRecord:
    """Begin a query, and leave it as a process that is killed when it has said this, or a call has begun."""
    async with open_store(url, worker="killed") as store, managed(store, turns, **oracle) as it:
        live = await it.start(**(ask or {}))
        if gate is not None:
            async with asyncio.timeout(20):
                await gate.begun.wait()
        else:
            await it.until_text(live.record, said or turns[-1].text)
        return live.record


@asynccontextmanager
async def restarted(url: str, turns: list[Any], *, worker: str = "next", **oracle: Any) -> AsyncIterator[Managed]:
    async with open_store(url, worker=worker) as store, managed(store, turns, **oracle) as it:
        yield it


def requests(it: Managed) -> list[ModelRequest]:
    assert it.harness.scripted is not None
    return it.harness.scripted.requests


async def events(url: str, record: RunRecord, kind: str) -> list[dict[str, Any]]:
    async with open_store(url, worker="reader") as store:
        found = await store.log.events(record.id, kinds={kind})  # type: ignore[arg-type]
    return [json.loads(entry.data) for entry in found]


async def test_a_turn_goes_on_exactly_where_it_was_cut_off(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    async with restarted(url, [answers(" answer.")]) as it:
        told = await it.told(record)
        (request,) = requests(it)
    assert told.text == "Half of the answer."
    assert told.record.termination_reason == "completed"
    assert (told.record.turns, told.record.worker) == (1, "next")
    *_, said, asked, note = request.messages
    assert said == {"role": "assistant", "content": [{"type": "text", "text": "Half of the"}]}
    assert asked["role"] == "user"  # a trailing message of the model would be refused
    assert note["role"] == "system"
    assert "Go on exactly where it ended" in note["content"][0]["text"]
    (notice,) = [chunk for chunk in told.chunks if chunk["type"] == "system"]
    assert (notice["system_type"], notice["metadata"]["attempt"]) == ("recovered", 1)
    (resumed,) = await events(url, record, "resumed")
    assert [each[2] for each in resumed["under_way"]] == ["continued"]


async def test_the_log_is_read_once_to_go_on(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record, read, events_of = await until_killed(url, [says("Half of the", hang=True)]), list[str](), EventLog.events

    async def noting(log: EventLog, run_id: str, **how: Any) -> list[LogEntry]:
        if how.get("kinds") is None:
            read.append(run_id)
        return await events_of(log, run_id, **how)

    monkeypatch.setattr(EventLog, "events", noting)
    async with restarted(url, [answers(" answer.")]) as it:
        await it.told(record)
    assert read == [record.id]


async def test_what_a_lost_turn_has_cost_counts(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    async with restarted(url, [answers(" answer.", tokens=(10, 5))]) as it:
        told = await it.told(record)
    ends = await events(url, record, "turn_end")
    lost, rest = (end["value"] for end in ends)
    assert lost["is_lost"]
    assert lost["tokens"] > len("Half of the") // 4  # its input as well, of which nothing was reported
    assert told.record.tokens_used == lost["tokens"] + rest["tokens"]
    assert told.record.tokens_estimated


async def test_a_turn_without_text_is_asked_once_more_as_it_was(url: str) -> None:
    async with open_store(url, worker="killed") as store, managed(store, [says("", hang=True)]) as it:
        live = await it.start()
        async with asyncio.timeout(20):
            while not requests(it):
                await settle()
        await store.write(lambda _: None)
        (before,) = requests(it)
    async with restarted(url, [answers("The answer.", tokens=(10, 5))]) as it:
        told = await it.told(live.record)
        (again,) = requests(it)
    assert (again.messages, again.system) == (before.messages, before.system)
    assert told.text == "The answer."
    (end,) = await events(url, live.record, "turn_end")
    assert end["value"]["tokens"] > 15  # with what the lost request has cost


async def test_the_conversation_before_is_what_the_model_sees(url: str) -> None:
    async with open_store(url, worker="first") as store, managed(store, [answers("Tests.")]) as it:
        first = await it.ask("Where are the tests?")
    ask = {"question": "And the fixtures?", "context_id": first.record.context_id}
    record = await until_killed(url, [says("They are", hang=True)], ask=ask)
    async with restarted(url, [answers(" beside them.")]) as it:
        told = await it.told(record)
        (request,) = requests(it)
    assert [message["role"] for message in request.messages[:3]] == ["user", "assistant", "user"]
    assert "Where are the tests?" in str(request.messages[0])
    assert told.text == "They are beside them."


@pytest.mark.parametrize("writes", [False, True])
async def test_a_reading_call_runs_again_and_a_writing_one_answers_with_the_truth(url: str, *, writes: bool) -> None:
    gate, second = Gate(), Gate("found")
    second.open.set()
    probe = replace(made_tool(gate), writes=writes)
    record = await until_killed(
        url, [says("Looking.", calls("probe"))], gate=gate, tools=[probe], ask=_WRITE if writes else {}
    )
    async with restarted(url, [answers("Done.")], tools=[replace(probe, call=second)]) as it:
        told = await it.told(record)
    (result,) = [chunk for chunk in told.chunks if chunk["type"] == "tool_result"]
    assert second.begun.is_set() is not writes
    assert result["tool_result"].startswith(SENT) if writes else result["tool_result"] == "found"
    assert result["is_error"] is writes
    assert told.text == "Looking.\n\nDone."


async def test_a_writing_call_with_a_key_is_repeated_with_the_same_key(url: str) -> None:
    keys = []
    gate = Gate()

    async def write(arguments: Mapping[str, Any]) -> ToolResult:
        keys.append(call_key())
        return await gate(arguments)

    probe = replace(made_tool(gate), writes=True, takes_key=True, call=write)
    record = await until_killed(url, [says("Writing.", calls("probe"))], gate=gate, tools=[probe], ask=_WRITE)
    gate.open.set()
    async with restarted(url, [answers("Done.")], tools=[probe]) as it:
        await it.told(record)
    first, again = keys
    assert first is not None
    assert again == replace(first, is_repeat=True)
    assert first.run_id == record.id


async def test_results_that_were_shown_are_kept(url: str) -> None:
    """Of two calls side by side, the one that had ended is not run again, and its result is not sent again."""
    slow, again = Gate("slow"), Gate("slow")
    again.open.set()
    ran = []

    async def quick(_: Mapping[str, Any]) -> ToolResult:
        ran.append("quick")
        return ToolResult("quick")

    tools = [made_tool(slow), replace(made_tool(slow), name="quick", call=quick)]
    turn = says("Looking.", calls("quick"), calls("probe"))
    async with open_store(url, worker="killed") as store, managed(store, [turn], tools=tools) as it:
        live = await it.start()
        async with asyncio.timeout(20):
            async for batch in store.log.follow(live.record.id):
                if any(b'"tool_result"' in chunk.data for chunk in batch):
                    break
    async with restarted(url, [answers("Done.")], tools=[replace(tools[0], call=again), tools[1]]) as it:
        told = await it.told(live.record)
        (request,) = requests(it)
    results = [chunk["tool_result"] for chunk in told.chunks if chunk["type"] == "tool_result"]
    assert sorted(results) == ["quick", "slow"]
    assert ran == ["quick"]
    assert "quick" in str(request.messages[-1])


async def test_a_call_that_a_lost_turn_has_announced_is_announced_once(url: str) -> None:
    gate = Gate("found")
    gate.open.set()
    lost = replace(says("Looking.", calls("probe")), hang=True)
    async with open_store(url, worker="killed") as store, managed(store, [lost], tools=[made_tool(gate)]) as it:
        live = await it.start()
        async with asyncio.timeout(20):
            async for batch in store.log.follow(live.record.id):
                if any(b'"tool_call"' in chunk.data for chunk in batch):
                    break
    async with restarted(url, [says("", calls("probe")), answers("Done.")], tools=[made_tool(gate)]) as it:
        told = await it.told(live.record)
    assert [chunk["type"] for chunk in told.chunks].count("tool_call") == 1
    assert told.text == "Looking.\n\nDone."


async def test_calls_of_a_turn_whose_outcome_no_tick_has_taken_are_run(url: str) -> None:
    gate, second = Gate(), Gate("found")
    second.open.set()
    probe = made_tool(gate)
    event = schema.event
    async with open_store(url, worker="killed") as store:
        async with managed(store, [says("Looking.", calls("probe"))], tools=[probe]) as it:
            live = await it.start()
            async with asyncio.timeout(20):
                await gate.begun.wait()
        (end,) = await store.log.events(live.record.id, kinds={"turn_end"})
        later = event.delete().where(event.c.run_id == live.record.id, event.c.seq > end.seq)
        await store.write(lambda connection: connection.execute(later))
    async with restarted(url, [answers("Done.")], tools=[replace(probe, call=second)]) as it:
        told = await it.told(live.record)
    (result,) = [chunk for chunk in told.chunks if chunk["type"] == "tool_result"]
    assert (result["tool_result"], result["is_error"]) == ("found", False)
    assert told.text == "Looking.\n\nDone."


async def test_a_thread_gets_an_entry_once(url: str, tmp_path: Path) -> None:
    """The process dies between the write and its result."""
    entry = calls("thread_push", thread="log", content="Released.")
    async with open_store(url, worker="killed") as store, managed(store, [says("", entry), says("x", hang=True)]) as it:
        live = await it.start(ACTION_QUESTION)
        await it.until_text(live.record, "x")
        written = (it.harness.vault / "threads" / "log.md").read_bytes()

        def forget(connection: Connection) -> None:
            event = schema.event
            begun = (
                select(event.c.seq).where(event.c.run_id == live.record.id, event.c.kind == "intent").scalar_subquery()
            )
            connection.execute(event.delete().where(event.c.run_id == live.record.id, event.c.seq > begun))

    async with open_store(url, worker="between") as store:
        await store.write(forget)
    async with restarted(url, [answers("Logged.")]) as it:
        (it.harness.vault / "threads").mkdir(exist_ok=True)
        (it.harness.vault / "threads" / "log.md").write_bytes(written)
        told = await it.told(live.record)
        assert (it.harness.vault / "threads" / "log.md").read_bytes() == written
    assert told.text == "Logged."


async def test_another_tick_than_the_recorded_one_ends_the_run(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])

    def change(connection: Connection) -> None:
        event = schema.event
        of_tick = (event.c.run_id == record.id) & (event.c.kind == "tick")
        data = connection.execute(select(event.c.data).where(of_tick)).scalar_one()
        connection.execute(update(event).where(of_tick).values(data=data.replace(b'"code"', b'"research"', 1)))

    async with open_store(url, worker="between") as store:
        await store.write(change)
    async with restarted(url, []) as it:
        told = await it.told(record)
        figures = it.metrics.exposition().decode()
        assert requests(it) == []
        listed = await it.store.runs.page(RunFilter(reasons=(NOT_CONTINUED,)), limit=5)
    assert [each.id for each in listed.runs] == [record.id]
    assert told.record.error is not None
    assert told.record.error["error_type"] == "not_continued"
    assert told.record.error["detail"]["tick"] == 1
    assert "research" in told.record.error["detail"]["expected"]
    assert told.text.startswith("Half of the\n\nStopped: ")
    assert "oracle_runs_not_continued_total 1.0" in figures.splitlines()


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("tick", lambda data: data | {"changes": [9_999, "S"]}),
        ("tick", lambda data: data | {"at_s": "now"}),
        ("opened", lambda data: data | {"tools": []}),
    ],
    ids=["a node that there is not", "no time", "no tools"],
)
async def test_a_record_that_cannot_be_repeated_ends_the_run(url: str, kind: str, change: Any) -> None:
    """Whatever is wrong with it: trying again and again would leave the readers without an end."""
    record = await until_killed(url, [says("Half of the", hang=True)])

    def damage(connection: Connection) -> None:
        event = schema.event
        meant = (event.c.run_id == record.id) & (event.c.kind == kind)
        data = json.loads(connection.execute(select(event.c.data).where(meant)).scalar_one())
        connection.execute(update(event).where(meant).values(data=json.dumps(change(data)).encode()))

    async with open_store(url, worker="between") as store:
        await store.write(damage)
    async with restarted(url, []) as it:
        told = await it.told(record)
        assert requests(it) == []
    assert told.record.error is not None
    assert told.record.error["error_type"] == "not_continued"
    assert told.text.startswith("Half of the\n\nStopped: ")


async def test_another_history_than_the_model_was_sent_ends_the_run(url: str) -> None:
    async with open_store(url, worker="first") as store, managed(store, [answers("Tests.")]) as it:
        first = await it.ask("Where are the tests?")
    ask = {"question": "And the fixtures?", "context_id": first.record.context_id}
    record = await until_killed(url, [says("They are", hang=True)], ask=ask)
    async with open_store(url, worker="between") as store:
        content = update(schema.message).where(schema.message.c.role == "assistant").values(content="Other tests.")
        await store.write(lambda connection: connection.execute(content))
    async with restarted(url, []) as it:
        told = await it.told(record)
        assert requests(it) == []
    assert told.record.error is not None
    assert told.record.error["error_type"] == "not_continued"
    assert "digest" in told.record.error["detail"]["expected"]


async def test_a_run_that_ends_nothing_is_given_up_after_some_attempts(url: str) -> None:
    gate = Gate()
    record = await until_killed(url, [says("Looking.", calls("probe"))], gate=gate, tools=[made_tool(gate)])
    options = RunOptions(most_attempts=2)
    for attempt in range(2):
        again = Gate()
        async with restarted(url, [], worker=f"next{attempt}", tools=[made_tool(again)], options=options) as it:
            async with asyncio.timeout(20):
                await again.begun.wait()
    async with restarted(url, [], worker="last", tools=[made_tool(Gate())], options=options) as it:
        told = await it.told(record)
    assert told.record.error is not None
    assert told.record.error["error_type"] == "interrupted"
    assert [event["attempt"] for event in await events(url, record, "resumed")] == [1, 2]


async def test_limits_count_on_and_a_lost_turn_is_none(url: str) -> None:
    more = '<signal type="need_turn"><reason>more {}</reason></signal>'
    turns = [says(f"One. {more.format(1)}"), says("Two is", hang=True)]
    record = await until_killed(url, turns, said="Two is", ask={"limits": {"max_iterations": 2}})
    async with restarted(url, [says(f" this. {more.format(2)}")]) as it:
        told = await it.told(record)
    assert told.text.startswith("One. \n\nTwo is this. \n\nStopped: ")
    assert (told.record.termination_reason, told.record.turns) == ("max_iterations", 2)


async def test_the_clock_goes_on_with_a_bounded_part_of_the_pause(url: str) -> None:
    """The process that died had another clock; of a pause of an hour half a minute counts."""
    wall = [1_000_000.0]
    async with (
        open_store(url, worker="killed", now=lambda: wall[0]) as store,
        managed(store, [says("Half of the", hang=True)], clock=FakeClock(5_000.0, jump=False)) as it,
    ):
        live = await it.start()
        await it.until_text(live.record, "Half of the")
    wall[0] += 3_600.0
    clock = FakeClock(7.0, jump=False)
    async with (
        open_store(url, worker="next", now=lambda: wall[0]) as store,
        managed(store, [answers(" answer.")], clock=clock, now=lambda: wall[0]) as it,
    ):
        told = await it.told(live.record)
    assert told.text == "Half of the answer."
    (resumed,) = await events(url, live.record, "resumed")
    assert (resumed["pause_s"], resumed["counted_s"], resumed["clock_s"]) == (3_600.0, 30.0, 5_030.0)
    first, *later = await events(url, live.record, "tick")
    assert first["at_s"] == 5_000.0
    assert {tick["at_s"] for tick in later} == {5_030.0}
    assert told.record.summary is not None
    spans = [(span.kind, span.start_ms) for span in told.record.summary.shape]
    assert spans == [("turn", 0), ("notice", 30_000), ("turn", 30_000)]
    assert told.record.deadline_at == pytest.approx(live.record.deadline_at + 3_570.0)


async def test_what_a_run_depends_on_is_recorded_and_a_log_without_it_is_ended(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    (opened,) = await events(url, record, "opened")
    assert opened["versions"] == ["oracle-bt 1"]
    old = await until_killed(url, [says("Half of the", hang=True)], goes_on=False)
    async with restarted(url, [answers(" answer.")]) as it:
        assert (await it.told(old)).record.error["error_type"] == "interrupted"  # type: ignore[index]


async def test_a_node_kind_that_is_gone_ends_the_run(url: str) -> None:
    record = await until_killed(url, [says("Half of the", hang=True)])
    version = tree_version
    async with open_store(url, worker="between") as store:

        def change(connection: Connection) -> None:
            source = dict(connection.execute(select(version.c.source)).scalar_one())
            source["oracle"] = source["oracle"].replace("- llm_turn", "- llm_turn_of_a_plugin")
            connection.execute(update(version).values(source=source))

        await store.write(change)
    async with restarted(url, []) as it:
        told = await it.told(record)
        assert requests(it) == []
    assert told.record.error is not None
    assert told.record.error["error_type"] == "not_continued"
    assert "llm_turn_of_a_plugin" in told.record.error["detail"]["found"]


async def test_rules_count_on(url: str) -> None:
    """A rule of the tree that forbids a second call of a tool has seen the first one in another process."""
    rule = """
tree: once
description: Looks once.
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget]
        child:
          sequence:
            - llm_turn
            - selector:
                - sequence: [{condition: tool_calls > 0}, run_tools]
                - stop: completed
rules:
  - name: one_look
    text: The probe is called once.
    at_most: {tool: probe, times: 1}
    enforce: refuse
"""
    gate = Gate("found")
    gate.open.set()
    probe = made_tool(gate)
    turns = [says("One.", calls("probe")), says("Two", hang=True)]
    async with open_store(url, worker="killed") as store, managed(store, turns, tools=[probe]) as it:
        it.harness.write_tree("once", rule)
        live = await it.start(tree="once")
        await it.until_text(live.record, "Two")
    async with restarted(url, [says(" more.", calls("probe")), answers("Done.")], tools=[probe]) as it:
        told = await it.told(live.record)
    results = [chunk["tool_result"] for chunk in told.chunks if chunk["type"] == "tool_result"]
    assert results == ["found", "Not run: The probe is called once."]
    assert told.text == "One.\n\nTwo more.\n\nDone."


async def test_a_run_that_is_being_handed_over_is_cancelled_all_the_same(url: str) -> None:
    async with open_store(url, worker="one") as store, managed(store, [says("Half of the", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        live.hand_over()
        await it.manager.cancel(live.record)
        told = await it.told(live.record)
    assert told.record.termination_reason == "user_cancelled"


async def test_the_model_that_stands_in_for_a_failed_one_goes_on_with_both_texts(url: str) -> None:
    tree = """
tree: two_models
description: Asks another model where the first one fails.
root:
  sequence:
    - classify_query
    - compose_prompt
    - selector: [llm_turn: {model: a}, llm_turn: {model: b}]
    - stop: completed
rules:
  - {name: two_turns, text: Two turns are enough., at_most: {turn: answer, times: 2}, enforce: stop}
"""
    fails = says("The first half", fault=ModelFault("provider_failed", "It broke.", narrower="broken_off"))
    async with (
        open_store(url, worker="killed") as store,
        managed(store, [fails, says(", then", hang=True)]) as it,
    ):
        it.harness.write_tree("two_models", tree)
        live = await it.start(tree="two_models")
        await it.until_text(live.record, "then")
    async with restarted(url, [answers(" the rest.")]) as it:
        told = await it.told(live.record)
        (request,) = requests(it)
    own = [each["content"] for each in request.messages if each["role"] == "assistant"]
    assert "".join(block["text"] for blocks in own for block in blocks) == "The first half, then"
    assert told.text == "The first half, then the rest."
    assert (told.record.termination_reason, told.record.turns) == ("completed", 1)
    assert told.record.error is None
