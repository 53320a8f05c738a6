"""One process's runs: what is kept of them, how they end, and who may begin one."""

import asyncio
import gc
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import delete, func, select, text, update
from structlog.testing import capture_logs

from bt_runtime import Outcome
from oracle.agent.answering import Ask
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.core.errors import UserError
from oracle.runs.live import LiveRun
from oracle.runs.options import RunOptions
from oracle.runs.record.outcome_json import decode_outcome
from oracle.runs.record.ticks import decode_tick
from oracle.runs.storage.errors import ConversationBusyError, TooManyRunsError
from oracle.runs.storage.records import EventKind, RunRecord
from oracle.runs.storage.schema import conversation, message, run
from oracle.runs.storage.store import Store
from oracle.runs.storage.tails import Tail
from oracle.testing import ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import CODE_QUESTION, answers, calls, hangs, made_tool, says
from tests.oracle.runs.running import PATIENCE_S, Gate, Managed, managed, settle
from tests.oracle.runs.storage.making import latest

_BROKEN_STATE = update(conversation).values(state=text("'{'"))
STOPPING = "Stopped: The service is stopping. Please ask again in a moment."


def hanging(text: str = "Half of the") -> ScriptedTurn:
    return says(text, hang=True)


async def events(store: Store, record: RunRecord, *kinds: EventKind) -> list[Any]:
    return await store.log.events(record.id, kinds=kinds or None)


async def test_chunks_row_and_conversation_of_a_query_agree(store: Store) -> None:
    async with managed(store, [says("Looking.", calls("probe")), answers()], tools=[made_tool(Open())]) as it:
        told = await it.ask(project_id="p")
    assert told.text == "Looking.\n\nThis is the answer."
    assert told.record.termination_reason == "completed"
    assert told.record.tree == "oracle"
    assert told.record.tree_sha
    assert told.record.input["question"] == CODE_QUESTION
    assert told.record.limits["max_iterations"] == 15
    assert told.done["context_id"] == told.record.context_id
    assert told.conversation is not None
    assert told.conversation.project_id == "p"


class Open(Gate):
    """A tool's call that does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.open.set()


async def test_the_log_holds_ticks_signals_and_outcomes_beside_the_chunks(store: Store) -> None:
    async with managed(store, [says("Looking.", calls("probe")), answers()], tools=[made_tool(Open())]) as it:
        record = (await it.ask()).record
    outcomes = [decode_outcome(event.data) for event in await events(store, record, "turn_end", "tool_end")]
    assert [type(outcome.value) for outcome in outcomes] == [TurnOutcome, ToolsOutcome, TurnOutcome]
    kept = {outcome.key: outcome for outcome in outcomes}
    ticks = [decode_tick(event.data, kept) for event in await events(store, record, "tick")]
    assert [tick.tick for tick in ticks] == list(range(1, len(ticks) + 1))
    assert [each.value for tick in ticks for each in tick.outcomes if each.value is not None] == [
        outcome.value for outcome in outcomes
    ]
    assert ticks[-1].changes  # the last tick, in which `finish` has ended, is there as well
    assert not any(status.name == "RUNNING" for _, status in ticks[-1].changes)
    signals = [json.loads(event.data) for event in await events(store, record, "signal")]
    assert [signal["outcome"] for signal in signals] == ["absent", "accepted"]
    assert record.tree_sha is not None
    version = await store.trees.find(record.tree_sha)
    assert version is not None
    assert version.name == "oracle"
    assert set(version.source) >= {"oracle", "follow_signal"}
    assert max(index for tick in ticks for index in tick.visited) < len(version.nodes)


async def test_a_tree_that_is_edited_after_the_check_does_not_change_the_run(store: Store) -> None:
    """The version that was checked runs, and is the one that the row names: ids are made between check and open."""
    original = "tree: mine\nroot: {sequence: [say: Checked., stop: stuck]}\n"

    def edit_and_name() -> str:
        it.harness.write_tree("mine", original.replace("Checked.", "This was edited."))
        return uuid4().hex

    async with managed(store, new_id=edit_and_name) as it:
        it.harness.write_tree("mine", original)
        version = it.harness.oracle.check(Ask("Why?", tree="mine")).tree
        told, later = await it.ask(tree="mine"), await it.ask(tree="mine")
    assert told.text.startswith("Checked.")
    assert version is not None
    assert told.record.tree_sha == version.sha
    assert later.text.startswith("This was edited.")
    assert later.record.tree_sha != version.sha
    kept = await store.trees.find(version.sha)
    assert kept is not None
    assert kept.source["mine"] == original


async def test_what_a_turn_brought_is_in_the_log_before_its_tools_run(store: Store) -> None:
    seen: list[Outcome] = []

    async def look(arguments: Mapping[str, Any]) -> ToolResult:
        (running,) = await latest(store, user_id="local", limit=1)
        seen.extend(decode_outcome(event.data) for event in await events(store, running, "turn_end"))
        return ToolResult("seen")

    async with managed(store, [says("Looking.", calls("probe")), answers()], tools=[made_tool(look)]) as it:
        await it.ask()
    (outcome,) = seen
    assert isinstance(outcome.value, TurnOutcome)
    assert [call.name for call in outcome.value.calls] == ["probe"]


@pytest.mark.parametrize("control", ["tree", "loop"])
async def test_under_both_controls_a_run_is_kept(store: Store, control: str) -> None:
    turns = [says("Looking.", calls("probe")), answers()]
    async with managed(store, turns, tools=[made_tool(Open())], control=control) as it:
        told = await it.ask()
    assert (told.record.termination_reason, told.record.turns) == ("completed", 2)
    assert len(await events(store, told.record, "turn_end", "tool_end")) == 3


async def test_a_conversation_answers_one_query_at_a_time_and_then_the_next_with_its_history(store: Store) -> None:
    async with managed(store, [hanging("One."), answers("Two.")]) as it:
        first = await it.start()
        await it.until_text(first.record, "One.")
        context_id = first.record.context_id
        with pytest.raises(ConversationBusyError):
            await it.start(context_id=context_id)
        first.cancel()
        await first.wait()
        second = await it.ask("And then, in the code?", context_id=context_id)
        assert second.text == "Two."
        assert it.harness.scripted is not None
        assert "One." in str(it.harness.scripted.requests[-1].messages)


async def test_of_a_question_that_cannot_be_asked_no_trace_is_left(store: Store) -> None:
    async with managed(store, [answers()]) as it:
        with pytest.raises(UserError, match="no tree 'orakle'"):
            await it.start(tree="orakle")
        with pytest.raises(UnknownConversationError):
            await it.start(context_id="nowhere")
        assert await latest(store, user_id=None, limit=10) == []
        assert it.manager.active == 0


async def test_a_user_has_no_more_runs_than_allowed(store: Store) -> None:
    async with managed(store, [hanging()] * 3, options=RunOptions(most_per_user=2)) as it:
        mine = [await it.start(user_id="ann") for _ in range(2)]
        with pytest.raises(TooManyRunsError):
            await it.start(user_id="ann")
        other = await it.start(user_id="bob")
        for live in (*mine, other):
            live.cancel()
            assert (await live.wait()).termination_reason == "user_cancelled"


async def test_a_cancel_keeps_the_text_so_far(store: Store) -> None:
    async with managed(store, [hanging()]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        await it.manager.cancel(live.record)
        told = await it.told(live.record)
        await it.manager.cancel(told.record)  # once more, when it has ended
    assert (told.text, told.record.termination_reason) == ("Half of the", "user_cancelled")


async def test_a_cancel_while_a_run_is_being_opened_takes_effect_once_it_is_open(store: Store) -> None:
    async with managed(store, [answers(), hanging()]) as it:
        earlier = await it.ask()
        starting = asyncio.create_task(it.start(run_id="opening"))
        while it.manager.active == 0:  # noqa: ASYNC110  no event marks the moment between row and query
            await asyncio.sleep(0)
        assert not starting.done()
        await it.manager.cancel(replace(earlier.record, id="opening"))
        told = await it.told((await starting).record)
    assert told.record.termination_reason == "user_cancelled"


async def test_a_conversation_is_forgotten_with_the_query_that_it_is_answering(store: Store) -> None:
    async with managed(store, [hanging()]) as it:
        live = await it.start(user_id="ann")
        await it.until_text(live.record, "Half of the")
        assert await it.manager.forget("bob", live.record.context_id) is False
        assert not (await store.runs.find(live.record.id)).finished_at  # type: ignore[union-attr]
        assert await it.manager.forget("ann", live.record.context_id) is True
        record = await store.runs.find(live.record.id)
        assert record is not None
        assert (record.status, record.answer) == ("finished", None)
        assert record.forgotten_at is not None
        assert await store.conversations.load("ann", live.record.context_id) is None
        assert await events(store, record) == []


async def test_one_run_is_forgotten_while_it_is_under_way(store: Store) -> None:
    async with managed(store, [answers(), hanging()]) as it:
        first = await it.ask(user_id="ann")
        live = await it.start(user_id="ann", context_id=first.record.context_id)
        await it.until_text(live.record, "Half of the")
        assert await it.manager.forget_run(live.record) is True
        record = await store.runs.find(live.record.id)
        assert record is not None
        assert (record.status, record.kept) == ("finished", "gone")
        conversation = await store.conversations.load("ann", first.record.context_id)
        assert conversation is not None
        assert [message.role for message in conversation.messages] == ["user", "assistant"]


async def test_a_stopping_service_begins_nothing_and_lets_runs_end(store: Store) -> None:
    gate = Gate()
    turns = [says("Looking.", calls("probe")), answers()]
    async with managed(store, turns, tools=[made_tool(gate)]) as it:
        live = await it.start()
        await gate.begun.wait()
        draining = asyncio.create_task(it.manager.drain())
        await settle()
        assert it.manager.is_draining
        with pytest.raises(UserError, match="stopping"):
            await it.start()
        gate.open.set()
        async with asyncio.timeout(PATIENCE_S):
            await draining
        told = await it.told(live.record)
    assert told.record.termination_reason == "completed"
    assert it.clock.now() == 0


async def test_a_run_that_exceeds_the_drain_time_is_left_to_others(store: Store) -> None:
    async with managed(store, [hanging()]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        with capture_logs() as logs:
            await drained(it, 10)
        assert not it.manager.active
    left = await store.runs.find(live.record.id)
    assert left is not None
    assert (left.status, left.worker, left.attempts) == ("queued", "", 0)
    page = await store.log.page(left.id)
    assert page is not None
    assert b"Half of the" in page.chunks[-1].data
    assert [each["event"] for each in logs if each["event"].startswith("run.")] == ["run.handed_over"]


async def test_a_run_that_nobody_can_go_on_with_ends_with_an_error_after_the_drain_time(store: Store) -> None:
    async with managed(store, [hanging()], control="loop") as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        with capture_logs() as logs:
            await drained(it, 10)
        told = await it.told(live.record)
    assert [each["runs"] for each in logs if each["event"] == "drain.hurried"] == [1]
    assert told.text == f"Half of the\n\n{STOPPING}"
    assert told.record.termination_reason == "error"
    assert told.record.error == {
        "error": "The service is stopping. Please ask again in a moment.",
        "error_type": "service_stopping",
    }
    assert told.types[-4:] == ["error", "content", "content", "done"]


async def drained(it: Managed, *steps_s: float) -> None:
    """Drain, moving the clock by so much each time that nothing else happens."""
    draining = asyncio.create_task(it.manager.drain())
    for seconds in steps_s:
        await settle()
        it.clock.advance(seconds)
    async with asyncio.timeout(PATIENCE_S):
        await draining


async def test_a_reader_that_stays_away_has_the_run_cancelled(store: Store) -> None:
    async with managed(store, [hanging()], options=RunOptions(reader_grace_s=60)) as it:
        live = await it.start()
        with it.manager.attach(live.record):
            await it.until_text(live.record, "Half of the")
        await settle()
        it.clock.advance(60)
        told = await it.told(live.record)
    assert (told.text, told.record.termination_reason) == ("Half of the", "user_cancelled")


async def test_a_run_that_needs_no_reader_goes_on_when_its_last_one_has_left(store: Store) -> None:
    gate = Gate()
    async with managed(
        store,
        [says("Looking.", calls("probe")), answers()],
        tools=[made_tool(gate)],
        options=RunOptions(reader_grace_s=60),
    ) as it:
        live = await it.start(is_detached=True, limits={"timeout_seconds": 600})
        await gate.begun.wait()
        with it.manager.attach(live.record):
            pass
        await settle()
        it.clock.advance(61)
        await settle()
        gate.open.set()
        assert (await it.told(live.record)).record.termination_reason == "completed"


async def test_a_run_that_was_never_read_and_one_whose_reader_came_back_go_on(store: Store) -> None:
    gates = [Gate(), Gate()]
    tools = [made_tool(gate, f"probe{n}") for n, gate in enumerate(gates)]
    turns = [says("Looking.", calls("probe0")), says("Looking.", calls("probe1")), answers(), answers()]
    async with managed(store, turns, tools=tools) as it:
        unread = await it.start()
        await gates[0].begun.wait()
        read = await it.start()
        await gates[1].begun.wait()
        with it.manager.attach(read.record):
            pass
        await settle()
        it.clock.advance(59)
        with it.manager.attach(read.record):
            await settle()
            it.clock.advance(59)
            await settle()
            for gate in gates:
                gate.open.set()
            for live in (unread, read):
                assert (await it.told(live.record)).record.termination_reason == "completed"


async def test_one_log_line_summarizes_a_run(store: Store) -> None:
    with capture_logs() as logs:
        async with managed(store, [says("Looking.", calls("probe")), answers()], tools=[made_tool(Open())]) as it:
            await it.ask()
            figures = it.metrics.exposition().decode()
    (line,) = [each for each in logs if each["event"] == "run.finished"]
    assert {name: line[name] for name in ("tree", "reason", "turns", "tools", "tokens")} == {
        "tree": "oracle",
        "reason": "completed",
        "turns": 2,
        "tools": 1,
        "tokens": 100,
    }
    assert line["first_chunk_ms"] == line["ms"] == 0  # by a clock that stands still
    assert 'tool="probe"' in figures


async def test_a_tool_that_a_tree_calls_after_the_end_does_not_begin_and_does_not_hold_up_the_end(store: Store) -> None:
    gate = Gate()
    async with managed(store, [answers()], tools=[made_tool(gate, "late")]) as it:
        (it.harness.trees / "late.yaml").write_text(
            "tree: late\nroot:\n  sequence:\n    - classify_query\n    - compose_prompt\n    - llm_turn\n"
            "    - stop: completed\n    - finish\n    - action: late\n",
            encoding="utf-8",
        )
        live = await it.start(tree="late")
        told = await it.told(live.record)
        assert told.record.termination_reason == "completed"
        assert not gate.begun.is_set()


async def test_arguments_that_json_can_hardly_say_do_no_harm(store: Store) -> None:
    call = calls("probe", big=10**30, deep=json.loads("[" * 300 + "]" * 300), half="\ud83d")
    async with managed(store, [says("a\ud83d", call), answers("\ude00b")], tools=[made_tool(Open())]) as it:
        told = await it.ask()
    assert told.record.termination_reason == "completed"
    assert told.text == "a\ufffd\n\n\ufffdb"


async def test_a_cancel_and_a_limit_end_a_run_at_once_and_close_the_providers_connection(store: Store) -> None:
    async with managed(store, [hangs(says("Half of the"))] * 6, wire=True) as it:
        assert it.harness.provider is not None
        cancels_s, limits_s = [], []
        for number in (1, 3, 5):
            live = await it.start()
            cancels_s.append(await seconds_to_end(it, live, live.cancel))
            await it.harness.provider.wait_disconnected(number)
            live = await it.start(limits={"timeout_seconds": 10})
            limits_s.append(await seconds_to_end(it, live, lambda: it.clock.advance(10)))
            await it.harness.provider.wait_disconnected(number + 1)
            assert (await it.told(live.record)).record.termination_reason == "timeout"
    assert min(cancels_s) < 0.1  # the least is of our own making; what is above it is the machine's
    assert min(limits_s) < 0.1


async def seconds_to_end(it: Managed, live: LiveRun, stop: Callable[[], None]) -> float:
    """How long it takes from there to a reader that has `done`."""
    await it.until_text(live.record, "Half of the")
    began_s = asyncio.get_running_loop().time()
    stop()
    async for _ in it.store.log.follow(live.record.id, after=1):
        pass
    return asyncio.get_running_loop().time() - began_s


async def test_a_run_whose_asker_went_away_while_it_was_opened_does_not_stay_under_way(store: Store) -> None:
    async with managed(store, [hanging()]) as it:
        asking = asyncio.create_task(it.start())
        await settle()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        async with asyncio.timeout(PATIENCE_S):
            await it.manager.drain()
        assert it.manager.active == 0
        assert [run.status for run in await latest(store, user_id=None, limit=10)] in ([], ["finished"])


async def test_an_answer_that_cannot_be_added_to_its_conversation_is_an_error_and_the_run_has_one_end(
    store: Store,
) -> None:
    gate = Gate()
    async with managed(store, [says("Looking.", calls("probe")), answers()], tools=[made_tool(gate)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Looking.")
        gone = delete(conversation).where(conversation.c.id == live.record.context_id)
        await store.write(lambda connection: connection.execute(gone).close())
        with capture_logs() as logs:
            gate.open.set()
            record = await asyncio.wait_for(live.wait(), PATIENCE_S)
    assert [each["run_id"] for each in logs if each["event"] == "answer.not_saved"] == [record.id]
    page = await store.log.page(record.id)
    assert page is not None
    assert page.is_last
    chunks = [json.loads(chunk.data) for chunk in page.chunks]
    assert [chunk["type"] for chunk in chunks][-4:] == ["error", "content", "content", "done"]
    assert [chunk["termination_reason"] for chunk in chunks if chunk["type"] == "done"] == ["error"]
    answer = "".join(chunk["content"] for chunk in chunks if chunk["type"] == "content")
    assert answer.endswith("answer.\n\nStopped: the answer could not be saved in the conversation.")
    assert (record.status, record.termination_reason, record.answer) == ("finished", "error", answer)
    assert [event.kind for event in await store.log.events(record.id)][-2:] == ["chunk", "final"]


async def test_a_conversation_has_the_answer_from_the_commit_on_that_ends_its_run(store: Store) -> None:
    async with managed(store, [answers()]) as it:
        record = (await it.start()).record
        status = select(run.c.status).where(run.c.id == record.id).scalar_subquery()
        said = select(func.count()).where(message.c.run_id == record.id).scalar_subquery()
        seen: set[tuple[str, int]] = set()
        async with asyncio.timeout(PATIENCE_S):
            while not any(each == "finished" for each, _ in seen):
                row = await store.database.read(lambda connection: connection.execute(select(status, said)).one())
                seen.add((row[0], row[1]))
    assert seen <= {("running", 0), ("finished", 2)}


async def test_a_forked_conversation_outlives_a_query_that_could_not_be_opened(store: Store) -> None:
    async with managed(store, [answers()]) as it:
        known = (await it.ask()).record
        forked = await store.conversations.fork(known.user_id, known.context_id, before_run=known.id)
        assert forked is not None
        await store.write(lambda connection: connection.execute(_BROKEN_STATE).close())
        with pytest.raises(ValueError, match="unexpected"):
            await it.start(context_id=forked.context_id)
        assert [run.id for run in await latest(store, user_id=None, limit=10)] == [known.id]
        assert await store.conversations.page(known.user_id, forked.context_id, limit=10) is not None


def tails() -> int:
    """How many tails of runs are in memory."""
    gc.collect()
    return sum(isinstance(each, Tail) for each in gc.get_objects())


async def test_a_query_that_could_not_be_opened_leaves_nothing_in_memory(store: Store) -> None:
    async with managed(store, [answers()]) as it:
        known = await it.ask()
        await store.write(lambda connection: connection.execute(_BROKEN_STATE).close())
        before = tails()
        for _ in range(3):
            with pytest.raises(ValueError, match="unexpected"):
                await it.start(context_id=known.record.context_id)
        assert tails() <= before + 1  # the latest error has a traceback, which holds one
        assert it.manager.active == 0
