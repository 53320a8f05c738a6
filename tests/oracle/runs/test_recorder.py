import asyncio
import json
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import pytest
from sqlalchemy import select, update

from bt_runtime import Outcome, RunLoop, TickRecord
from bt_runtime.testing import FakeClock, FakeHost, action_from
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.core.chunks import Content
from oracle.core.metrics import Metrics
from oracle.decision import ToolAction
from oracle.llm.protocol import ToolUse
from oracle.runs.record.record import Record
from oracle.runs.record.ticks import decode_tick
from oracle.runs.recorder import Backlog, RunRecorder, TickRoom
from oracle.runs.storage.records import NewRun
from oracle.runs.storage.schema import event as event_table
from oracle.runs.storage.schema import run as run_table
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.writer import CommitFigures
from tests.bt_runtime.running import live, until_idle
from tests.oracle.runs.running import CODE_QUESTION, PATIENCE_S
from tests.oracle.runs.test_unwritable import locked


async def recorder_of(
    store: Store, ends: list[str], *, most_bytes: int = 1_000, most_tick_bytes: int = 1_000
) -> RunRecorder:
    """The recorder of a new run; it adds to `ends` why the run is asked to end."""
    new = NewRun("run-1", "local", "context-1", "oracle", {"question": CODE_QUESTION}, {}, timeout_s=120.0)
    log = store.log.writer(await store.runs.begin(new))
    return RunRecorder(
        log=log,
        backlog=Backlog(log, most_bytes=most_bytes, is_well=lambda: True),
        clock=FakeClock(),
        started_s=0.0,
        metrics=Metrics(),
        on_done=lambda: None,
        on_unwritable=lambda: ends.append("unwritable"),
        room=TickRoom(most_tick_bytes),
        on_no_room=lambda: ends.append("no room"),
    )


def tick(number: int, *writes: tuple[str, Any]) -> TickRecord:
    """A tick of a loop that never waits."""
    return TickRecord(number, 0.0, "again", ("root",), (), (), (0, 1), (), writes, ())


async def ticks_of(store: Store) -> list[TickRecord]:
    """The ticks of the run that `recorder_of` has begun."""
    return [decode_tick(event.data) for event in await store.log.events("run-1", kinds={"tick"})]


async def test_no_commit_has_what_a_tick_sends_without_its_record(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oracle.runs.storage.writer._MOST_ENTRIES", 1)  # each entry is a commit
    monkeypatch.setattr("oracle.runs.joining.BEHIND_S", inf)  # no chunks are joined

    class Host(FakeHost):
        def notify(self, *, message: str, **_: Any) -> None:
            recorder.emit(Content(message))

    figures: list[CommitFigures] = []
    async with open_store(url, worker="w1", observe=figures.append) as store:
        recorder = await recorder_of(store, [])
        twice = "sequence: [{notify: one}, {notify: two}, {action: work}, {notify: three}, {notify: four}]"
        substitutes = {"sequence/action": action_from(partial(asyncio.sleep, 0, True))}
        tree = live(twice, host=Host(), substitutes=substitutes)
        await RunLoop(tree, clock=FakeClock(), observers=[recorder], journal=recorder).run()
        await recorder.log.flush()
        assert [event.kind for event in await store.log.events("run-1")] == [
            *("chunk", "chunk", "tick", "tool_end", "chunk", "chunk", "tick")
        ]
    assert [each.events for each in figures if each.events] == [3, 1, 3]


async def test_everything_else_comes_after_the_text_that_was_held_before_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oracle.runs.joining.BEHIND_S", -inf)  # whatever waits makes the store be behind
    monkeypatch.setattr("oracle.runs.joining.HOLD_S", 3600)
    monkeypatch.setattr("oracle.runs.joining.LONGEST_HOLD_S", 3600)
    recorder = await recorder_of(store, [], most_bytes=1_000_000)
    recorder.emit(Content("It begins."))  # nothing waits yet, so it is written at once
    for piece in ("a", "b"):
        recorder.emit(Content(piece))
    recorder.on_tick(tick(1))
    recorder.emit(Content("c"))
    recorder.intend("call", "probe", step="run_tools@1", at="root")
    recorder.emit(Content("d"))
    recorder.end_tick()
    recorder.emit(Content("e"))
    await recorder.keep([Outcome("run_tools@1", "done", ToolsOutcome(()))])
    recorder.emit(Content("f"))
    await recorder.flush()
    events = [(event.kind, json.loads(event.data).get("content")) for event in await store.log.events("run-1")]
    assert events == [
        *(("chunk", "It begins."), ("chunk", "ab"), ("tick", None), ("chunk", "c"), ("intent", None)),
        *(("chunk", "d"), ("chunk", "e"), ("tool_end", None), ("chunk", "f")),
    ]


async def test_what_a_delivery_allows_does_not_begin_while_the_database_does_not_have_it(
    store: Store, url: str
) -> None:
    begun: list[str] = []

    async def write() -> bool:
        begun.append(await store.database.read(lambda connection: str(connection.scalar(last_tick))))
        return True

    last_tick = select(event_table.c.data).where(event_table.c.kind == "tick").order_by(event_table.c.seq.desc())
    recorder = await recorder_of(store, [])
    waits = "sequence: [{force_success: {loop: {guards: [condition: not cancel_requested], child: {action: asks}}}}, "
    paths = {"sequence/force_success/loop/action": asyncio.Event().wait, "sequence/writes": write}
    tree = live(
        waits + "{action: {call: write, name: writes}}]",
        host=FakeHost(),
        substitutes={path: action_from(work) for path, work in paths.items()},
    )
    loop = RunLoop(tree, clock=FakeClock(), observers=[recorder], journal=recorder)
    task = asyncio.create_task(loop.run())
    await until_idle()
    await recorder.log.flush()
    with locked(url):
        loop.cancel()
        await until_idle()
        assert begun == []
    assert (await asyncio.wait_for(task, PATIENCE_S)).status.name == "SUCCESS"
    assert '"again"' in begun[0]


async def test_what_an_outcome_leads_to_does_not_begin_while_the_database_does_not_have_it(
    store: Store, url: str
) -> None:
    begun: list[str] = []
    found = asyncio.Event()

    async def ask() -> TurnOutcome:
        await found.wait()
        return TurnOutcome(stop_reason="end_turn")

    async def write() -> bool:
        of_turns = select(event_table.c.kind).where(event_table.c.kind.in_(("turn_end", "tick")))
        query = of_turns.order_by(event_table.c.seq)
        begun.extend(await store.database.read(lambda connection: list(connection.scalars(query))))
        return True

    recorder = await recorder_of(store, [])
    paths = {"sequence/asks": ask, "sequence/writes": write}
    tree = live(
        "sequence: [{action: {call: ask, name: asks}}, {action: {call: write, name: writes}}]",
        host=FakeHost(),
        substitutes={path: action_from(work) for path, work in paths.items()},
    )
    task = asyncio.create_task(RunLoop(tree, clock=FakeClock(), observers=[recorder], journal=recorder).run())
    await until_idle()
    await recorder.log.flush()
    with locked(url):
        found.set()
        await until_idle()
        assert begun == []
    assert (await asyncio.wait_for(task, PATIENCE_S)).status.name == "SUCCESS"
    assert begun == ["tick", "turn_end", "tick"]


async def test_ticks_count_as_what_waits_to_be_written(store: Store) -> None:
    ends: list[str] = []
    recorder = await recorder_of(store, ends, most_bytes=1_000, most_tick_bytes=1_000_000)
    for number in range(1, 7):  # nothing is written meanwhile: the event loop has no turn
        recorder.on_tick(tick(number, ("text", f"{number}" * 400)))
        assert bool(ends) is (number >= 4)
    assert ends == ["unwritable"]


async def test_long_values_beyond_the_room_are_recorded_by_their_size(store: Store) -> None:
    ends: list[str] = []
    recorder = await recorder_of(store, ends, most_bytes=1_000_000, most_tick_bytes=1_000)
    long: list[Any] = ["x"]
    for _ in range(60):
        long = [long, long]  # 2^60 texts, in no memory
    wholes = [tick(1, ("text", "a" * 700)), tick(4, ("text", "short"), ("termination_reason", "stuck"))]
    recorder.on_tick(wholes[0])
    recorder.on_tick(tick(2, ("text", "b" * 700), ("count", 3)))
    recorder.on_tick(tick(3, ("list", long), ("map", {"key": long})))
    recorder.on_tick(wholes[1])
    await recorder.log.flush()
    sizes = [(("text", {"characters": 700}), ("count", 3)), (("list", {"items": 2}), ("map", {"entries": 1}))]
    first, second, third, last = await ticks_of(store)
    assert [first, last] == wholes
    assert [second.writes, third.writes] == sizes
    assert not ends


async def test_a_run_whose_ticks_need_twice_the_room_without_long_values_is_ended_and_recorded_no_further(
    store: Store,
) -> None:
    ends: list[str] = []
    recorder = await recorder_of(store, ends, most_bytes=1_000_000, most_tick_bytes=1_000)
    for number in range(1, 1_000):
        recorder.on_tick(tick(number, ("text", "b" * 10_000)))
    await recorder.log.flush()
    assert ends == ["no room"]
    events = await store.log.events("run-1", kinds={"tick"})
    assert 2_000 < sum(len(event.data) for event in events) < 2_000 + len(events[-1].data) + 1


async def test_a_call_whose_result_was_not_sent_is_measured_without_a_duration(store: Store) -> None:
    recorder = await recorder_of(store, [])
    action = ToolAction.from_call("probe", {}, is_error=True, result_digest="0")
    call = ToolUse("c1", "probe", {})
    result = CallResult(call, "no", is_error=True, counts=True, is_empty=False, group=None, action=action, began=True)
    await recorder.keep([Outcome("run_tools@1", "done", ToolsOutcome((result,)))])
    figures = recorder.metrics.exposition().decode().splitlines()
    of_tools = [line for line in figures if line.startswith(("oracle_tool_seconds_sum", "oracle_tool_seconds_count"))]
    assert [line.rpartition(" ")[2] for line in of_tools] == ["1.0", "0.0"]


async def test_an_outcome_that_a_worker_kept_before_it_died_is_not_recorded_or_counted_again(store: Store) -> None:
    turn = TurnOutcome(stop_reason="end_turn", tokens=7, model="scripted")
    outcome = Outcome("root/turn@1", "done", turn, at_s=2.0)
    first = await recorder_of(store, [])
    await first.keep([outcome])
    await first.flush()
    again = replace(first, record=Record.fold(await store.log.events("run-1")))
    await again.keep([outcome])
    await again.flush()
    assert [event.kind for event in await store.log.events("run-1")] == ["turn_end"]
    await again.keep([replace(outcome, state="cancelled")])  # the run went on with a cancel, and its node was halted
    await again.flush()
    recorded = Record.fold(await store.log.events("run-1"))
    assert [each.state for each in recorded.pending.outcomes] == ["cancelled"]
    assert (recorded.turns, recorded.tokens) == (again.record.turns, again.record.tokens) == (1, 7)


async def test_a_flush_is_cancelled_where_another_worker_has_the_run_though_nothing_waits(store: Store) -> None:
    recorder = await recorder_of(store, [])
    await recorder.flush()
    await store.write(lambda connection: connection.execute(update(run_table).values(epoch=run_table.c.epoch + 1)))
    with pytest.raises(asyncio.CancelledError):
        await recorder.flush()
    assert recorder.log.is_lost


async def test_a_flush_asks_again_where_its_process_was_held_up_after_the_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oracle.runs.recorder._TRUSTED_S", 1e-9)  # whatever it takes is too long
    recorder = await recorder_of(store, [])
    flushing = asyncio.create_task(recorder.flush())
    await asyncio.sleep(0)
    await store.write(lambda connection: connection.execute(update(run_table).values(epoch=run_table.c.epoch + 1)))
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(asyncio.CancelledError):
            await flushing
