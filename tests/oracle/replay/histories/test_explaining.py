"""What an explainer says of whole, growing, cut off and damaged logs."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from bt_runtime import Registry
from oracle.agent.nodes import REGISTRY
from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.reading import read_history
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedSearch, ScriptedTurn
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.replay.histories.logs import Log, is_same, log_of
from tests.oracle.replay.test_replays import MORE, SCRIPTS, STUCK, Open, recorded
from tests.oracle.runs.running import PATIENCE_S, Gate, managed, settle
from tests.support.shares import some

DAMAGES = [b"", b"{}", b"[1, 2]", b'{"tick": null}', b"\xff\xfe", b'{"type":"content"}']


async def log_of_script(store: Store, archive: Archive, name: str) -> Log:
    return await log_of(archive, await recorded(store, name))


async def log_of_turns(store: Store, archive: Archive, turns: Sequence[ScriptedTurn], **options: Any) -> Log:
    tree = options.pop("tree", None)
    async with managed(store, turns, tools=[made_tool(Open())], **options) as it:
        if tree is not None:
            it.harness.write_tree("own", tree)
        record = (await it.ask(**({"tree": "own"} if tree else {}))).record
    return await log_of(archive, record)


async def until_tick(archive: Archive, record: RunRecord, tick: int) -> None:
    """Wait until so many ticks are committed."""
    async with asyncio.timeout(PATIENCE_S):
        while len(await archive.events(record.id, kinds=["tick"])) < tick:
            await settle()


async def test_a_turn_has_what_it_was_asked_and_what_it_answered(store: Store, archive: Archive):
    history = (await log_of_script(store, archive, "the project's tools")).explained()
    first, second = history.turns
    assert history.tree is not None
    assert [history.tree.nodes[turn.node or 0].kind for turn in history.turns] == ["llm_turn", "llm_turn"]
    assert [(turn.n, turn.began_tick, turn.ended_tick) for turn in history.turns] == [(1, 1, 2), (2, 4, 5)]
    assert first.answer == "Searching."
    assert first.stop_reason == "tool_use"
    assert second.answer is not None
    assert second.answer.startswith("This is the answer.")
    assert "<signal" in second.answer
    assert second.signal is not None
    assert (second.signal.type, second.signal.fields) == ("context_sufficient", {"sources_found": 1})
    assert second.signal.action == "completed"
    assert first.request is not None
    assert second.request is not None
    assert "base" in first.request.segments
    assert "search_code" in first.request.tools
    assert [message["role"] for message in first.request.messages] == ["user"]
    assert [message["role"] for message in second.request.messages] == ["assistant", "user"]


async def test_a_request_has_the_text_of_its_prompt(store: Store, archive: Archive):
    record = await recorded(store, "the project's tools")
    history = await read_history(archive, record, registry=REGISTRY)
    first, second = (turn.request for turn in history.turns)
    assert first is not None
    assert second is not None
    assert first.recorded
    assert first.prompt
    assert "<signal" in first.prompt
    assert first.prompt is second.prompt
    assert (first.total_messages, second.total_messages) == (1, 3)


async def test_a_call_has_the_tick_that_ran_it_and_the_tick_that_got_its_result(store: Store, archive: Archive):
    history = (await log_of_script(store, archive, "the project's tools")).explained()
    (call,) = history.calls
    assert (call.name, call.turn, call.began_tick, call.ended_tick) == ("search_code", 1, 2, 3)
    assert (call.ran, call.caller, call.is_error) == (True, "model", False)
    assert history.tree is not None
    assert history.tree.nodes[call.node or 0].kind == "run_tools"


async def test_calls_side_by_side_and_calls_beyond_the_limit(store: Store, archive: Archive):
    many = [calls("probe", n=n) for n in range(4)]
    async with managed(store, [says("", *many), answers()], tools=[made_tool(Open())]) as it:
        record = (await it.ask(limits={"max_tool_calls_per_turn": 3})).record
    history = (await log_of(archive, record)).explained()
    assert [call.ran for call in history.calls] == [True, True, True, False]
    assert {(call.began_tick, call.ended_tick) for call in history.calls} == {(2, 3)}
    assert history.calls[3].ended_s is None
    assert history.calls[3].is_error


async def test_a_search_that_the_provider_ran(store: Store, archive: Archive):
    turn = ScriptedTurn("Found.", searches=(ScriptedSearch("news", (("https://e.org", "E"),)),))
    async with managed(store, [turn]) as it:
        record = (await it.ask("What is the latest news about Python on the web?")).record
    history = (await log_of(archive, record)).explained()
    (call,) = history.calls
    assert (call.caller, call.name, call.ran, call.turn) == ("provider", "web_search", True, 1)
    assert history.turns[0].server_tools == ("web_search",)
    assert [text.text for text in history.texts if text.type == "source"] == ["https://e.org"]


OWN_CALL = """\
tree: own
blackboard:
  found: {type: str, description: What the probe found.}
root:
  sequence:
    - classify_query:
    - compose_prompt:
    - action: {call: probe, into: found}
    - llm_turn:
    - stop: completed
"""


async def test_a_call_of_the_tree_itself(store: Store, archive: Archive):
    history = (await log_of_turns(store, archive, [answers()], tree=OWN_CALL)).explained()
    assert history.problem == ""
    (call,) = history.calls
    assert (call.caller, call.ran, call.result) == ("tree", True, "done")
    assert (call.began_tick, call.ended_tick) == (1, 2)
    assert history.tree is not None
    assert history.tree.nodes[call.node or 0].kind == "action"


SUBAGENT = """\
tree: own
blackboard:
  plan: {type: str, description: A plan.}
root:
  sequence:
    - classify_query:
    - compose_prompt:
    - llm_turn: {visible: false, hint: Make a plan., into: plan}
    - llm_turn:
    - stop: completed
"""


async def test_the_turn_of_a_subagent_is_not_visible(store: Store, archive: Archive):
    turns = [ScriptedTurn("A plan."), answers()]
    history = (await log_of_turns(store, archive, turns, tree=SUBAGENT)).explained()
    assert history.problem == ""
    assert [turn.visible for turn in history.turns] == [False, True]
    assert history.turns[0].request is not None
    assert history.turns[0].request.notes == ("Make a plan.",)
    assert {text.turn for text in history.texts} == {2}


async def test_malformed_and_further_signals(store: Store, archive: Archive):
    text = f"Hm. <signal type='stuck'>nothing</signal> {MORE} {STUCK}"
    history = (await log_of_turns(store, archive, [ScriptedTurn(text), answers()])).explained()
    first = history.turns[0]
    assert first.signal is not None
    assert first.signal.type == "need_turn"
    assert [(each.type, each.malformed) for each in first.other_signals] == [("stuck", True), ("stuck", False)]
    assert first.other_signals[0].problem
    assert first.answer == text


async def test_a_run_that_is_under_way_shows_its_turn_and_its_tools(store: Store, archive: Archive):
    gate = Gate("done")
    async with managed(store, [says("Looking.", calls("probe")), answers()], tools=[made_tool(gate)]) as it:
        live = await it.start()
        await gate.begun.wait()
        await until_tick(archive, live.record, 2)
        history = (await log_of(archive, live.record)).explained()
        assert history.end is None
        assert [(turn.n, turn.ended_tick) for turn in history.turns] == [(1, 2)]
        (call,) = history.calls
        assert (call.began_tick, call.ended_s, call.result, call.ran) == (2, None, None, None)
        gate.open.set()
        await it.told(live.record)


async def test_a_turn_that_was_cancelled_is_interrupted(store: Store, archive: Archive):
    async with managed(store, [says("Half of the answer", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the answer")
        running = (await log_of(archive, live.record)).explained()
        assert [(turn.n, turn.ended_s, turn.answer) for turn in running.turns] == [(1, None, None)]
        assert running.turns[0].first_text_ms is not None
        live.cancel()
        record = (await it.told(live.record)).record
    history = (await log_of(archive, record)).explained()
    assert history.problem == ""
    (turn,) = history.turns
    assert turn.interrupted
    assert turn.answer == "Half of the answer"
    assert turn.ended_tick == 3


async def test_the_blackboard_is_that_before_the_first_tick(store: Store, archive: Archive):
    history = (await log_of_script(store, archive, "an answer")).explained()
    values = {key.name: key.value for key in history.keys}
    assert values["query_type"] == ""
    assert values["question"]
    written = {key for key, _ in history.ticks[0].writes}
    assert "query_type" in written


@pytest.mark.parametrize("name", SCRIPTS)
async def test_explained_while_it_goes_on_or_afterwards_is_the_same(store: Store, archive: Archive, name: str):
    log = await log_of_script(store, archive, name)
    live = Explainer(log.underway, log.version, registry=REGISTRY)
    compared = some(range(1, len(log.events) + 1), first=list(SCRIPTS).index(name))
    for seq, event in enumerate(log.events, start=1):
        live.feed(event)
        if seq in compared:
            assert is_same(live.history, log.explained(log.events[:seq], is_over=False))
    live.ended(log.record)
    assert is_same(live.history, log.explained())


@pytest.mark.parametrize("name", SCRIPTS)
async def test_any_beginning_of_a_log_is_explained_as_far_as_it_goes(store: Store, archive: Archive, name: str):
    log = await log_of_script(store, archive, name)
    whole = log.explained()
    for length in some(range(len(log.events)), first=list(SCRIPTS).index(name)):
        part = log.explained(log.events[:length])
        assert part.problem == ""
        assert part.unexplained_from is None
        assert part.ticks == whole.ticks[: len(part.ticks)]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["the project's tools", "stuck twice"])
async def test_a_damaged_event_does_not_lose_the_others(store: Store, archive: Archive, name: str, damage: bytes):
    log = await log_of_script(store, archive, name)
    whole = log.explained()
    for at, event in some(enumerate(log.events), first=DAMAGES.index(damage)):
        events = [*log.events[:at], replace(event, data=damage), *log.events[at + 1 :]]
        history = log.explained(events)
        if event.kind in ("chunk", "tick", "turn_end", "tool_end", "opened"):
            assert f"event {event.seq} of the log ({event.kind}) is damaged" in history.problem
        lost = event.kind == "tick"
        assert len(history.ticks) == len(whole.ticks) - lost
        assert [tick.visited for tick in history.ticks if tick.tick < 2] or lost
        assert history.end is not None
        assert history_to_json(history_from_json(history_to_json(history))) == history_to_json(history)


async def test_a_tick_that_was_changed_says_from_where_on_there_are_no_reasons(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "the project's tools")
    at = next(n for n, event in enumerate(log.events) if event.kind == "tick" and from_json(event.data)["tick"] == 3)
    fields = from_json(log.events[at].data)
    changed = replace(log.events[at], data=to_json(fields | {"writes": [["hint", "made up"]]}))
    history = log.explained([*log.events[:at], changed, *log.events[at + 1 :]])
    assert history.unexplained_from == 3
    assert "tick 3 was not repeated as it was recorded" in history.problem
    assert [bool(tick.visits) for tick in history.ticks] == [True, True, False, False, False, False]
    assert [turn.n for turn in history.turns] == [1, 2]
    assert history.turns[1].began_tick == 4


async def test_an_outcome_that_was_lost_still_ends_its_turn(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "an answer")
    history = log.explained([event for event in log.events if event.kind != "turn_end"])
    (turn,) = history.turns
    assert turn.ended_tick == 2
    assert history.unexplained_from == 2


def without_kinds(*names: str) -> Registry:
    kinds = [kind for name, kind in REGISTRY.kinds.items() if name not in names]
    return Registry(kinds, REGISTRY.keys.values())


async def test_a_version_whose_kinds_are_gone_is_shown_by_its_paths(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "the project's tools")
    whole, history = log.explained(), log.explained(registry=without_kinds("grant_turn"))
    assert "its version of the tree cannot be read any more" in history.problem
    assert "grant_turn" in history.problem
    assert history.tree is not None
    assert whole.tree is not None
    assert [node.path for node in history.tree.nodes] == [node.path for node in whole.tree.nodes]
    assert set(history.tree.files.values()) == set(whole.tree.files.values())
    assert [node.parent for node in history.tree.nodes] == [node.parent for node in whole.tree.nodes]
    assert [(tick.visited, tick.changes, tick.at_s) for tick in history.ticks] == [
        (tick.visited, tick.changes, tick.at_s) for tick in whole.ticks
    ]
    assert [turn.answer for turn in history.turns] == [turn.answer for turn in whole.turns]
    assert [(turn.began_tick, turn.ended_tick) for turn in history.turns] == [(1, 2), (4, 5)]
    assert history.unexplained_from == 1


async def test_a_version_that_is_not_stored_any_more(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "the project's tools")
    history = replace(log, version=None).explained()
    assert history.problem == "its version of the tree is not in the store any more"
    assert history.tree is None
    assert [(turn.began_tick, turn.ended_tick) for turn in history.turns] == [(1, 2), (4, 5)]
    assert [call.result is not None for call in history.calls] == [True]
    assert len(history.ticks) == len(log.explained().ticks)


async def test_a_run_of_the_plain_loop_has_turns_and_calls_and_no_ticks(store: Store, archive: Archive):
    turns = [says("Looking.", calls("probe")), answers()]
    log = await log_of_turns(store, archive, turns, control="loop")
    history = log.explained()
    assert history.problem == "no YAML tree drove it, so it has no ticks"
    assert not history.ticks
    assert [(turn.n, turn.ended_tick, turn.interrupted) for turn in history.turns] == [
        (1, None, False),
        (2, None, False),
    ]
    assert [(text.turn, text.tick) for text in history.texts] == [(1, 0), (2, 0)]
    (call,) = history.calls
    assert (call.turn, call.result, call.ran) == (1, "done", True)
    assert history.end is not None
    assert history.end.reason == "completed"


async def test_a_loop_that_was_stopped_has_no_turn_of_its_closing_sentence(store: Store, archive: Archive):
    turns = [says(f"Part {n}. {MORE.replace('more', str(n))}") for n in range(3)]
    async with managed(store, turns, control="loop") as it:
        record = (await it.ask(limits={"max_iterations": 3})).record
    history = (await log_of(archive, record)).explained()
    assert [turn.n for turn in history.turns] == [1, 2, 3]
    assert history.texts[-1].text.endswith("Stopped: iteration limit reached (3/3).")


async def test_a_run_without_its_beginning_is_of_an_earlier_version(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "an answer")
    history = log.explained([event for event in log.events if event.kind != "opened"])
    assert history.ticks
    assert history.keys


async def test_a_forgotten_run_has_its_row(store: Store, archive: Archive):
    record = await recorded(store, "an answer")
    await store.conversations.forget(record.user_id, record.context_id)
    log = await log_of(archive, await archive.find(record.id))
    history = log.explained()
    assert history.run.kept == "gone"
    assert history.run.question == ""
    assert "its texts and ticks were deleted; only its summary is left" in history.problem
    assert history.end is not None
    assert history.end.reason == "completed"


async def test_a_query_that_cannot_be_built_again_is_shown_without_reasons(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "an answer")
    history = replace(log, record=replace(log.record, limits={"max_iterations": "many"})).explained()
    assert "its run cannot be rebuilt" in history.problem
    assert history.ticks
    assert history.unexplained_from == 1


async def test_the_figures_of_an_outcome_that_no_tick_got(store: Store, archive: Archive):
    log = await log_of_script(store, archive, "an answer")
    at = next(n for n, event in enumerate(log.events) if event.kind == "turn_end")
    history = log.explained(log.events[: at + 1])
    (turn,) = history.turns
    assert turn.ended_tick is None
    assert turn.ended_s is not None
    assert turn.answer


async def test_the_request_of_a_turn_is_the_recorded_one_with_the_texts_that_a_repetition_knows(
    store: Store, archive: Archive
):
    history = (await log_of_turns(store, archive, [answers()])).explained()
    request = history.turns[0].request
    assert request is not None
    assert (request.recorded, request.tool_choice, request.wrap_up) == (True, "auto", False)
    assert request.segments[0] == "base"
    assert [message["role"] for message in request.messages] == ["user"]
    assert request.prompt_sha is not None
    prompt = await archive.prompt(request.prompt_sha)
    assert prompt is not None
    assert "signal" in prompt
