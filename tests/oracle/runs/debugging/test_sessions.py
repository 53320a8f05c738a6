"""Runs that operators pause, step, change and let go."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from bt_runtime import PausableClock
from oracle.agent.control.tree import TreeControl
from oracle.agent.nodes import REGISTRY
from oracle.llm.protocol import ModelRequest
from oracle.replay.recorded import read_run, repeat
from oracle.runs.debugging.commands import DebugCommand, DebugRefusedError, WrongCommandError
from oracle.runs.debugging.debugger import COMMAND, RELOAD
from oracle.runs.options import RunOptions
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.breakpoints import Breakpoint
from oracle.runs.storage.records import RunCommand, RunRecord
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.debugging.sessions import LLM_TURN, Operator, notices
from tests.oracle.runs.running import Gate, Managed, managed, settle

STEPS = "tree: steps\nroot: {sequence: [{wait: 1}, {wait: 1}, {wait: 1}, say: Hello., finish]}\n"


async def debug_events(store: Store, record: RunRecord) -> list[dict[str, Any]]:
    return [json.loads(event.data) for event in await store.log.events(record.id, kinds={"debug"})]


def asked(it: Managed) -> list[ModelRequest]:
    """What the model was asked."""
    assert it.harness.scripted is not None
    return it.harness.scripted.requests


async def replays_exactly(url: str, record: RunRecord) -> None:
    async with open_archive(url) as archive:
        run = await read_run(archive, record)
    replayed = repeat(run, registry=REGISTRY)
    assert replayed.diverged_at is None
    assert [encode_tick(tick, is_timed=False) for tick in replayed.records] == [
        encode_tick(tick, is_timed=False) for tick in run.ticks
    ]


async def test_a_breakpoint_on_the_turn_stops_before_the_model_is_asked_and_a_changed_hint_reaches_it(
    store: Store, url: str
) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start(limits={"timeout_seconds": 60})
        paused = await olga.until(live, "paused")
        assert paused.hit is not None
        assert (paused.hit.breakpoint, paused.hit.path, paused.tick) == ("b1", LLM_TURN, 1)
        assert not asked(it)
        it.clock.advance(41)
        await olga.does(live, "set", key="hint", value="Answer in one word.")
        assert (await olga.debugger.state(live.record)).values == {"hint": "Answer in one word."}
        it.clock.advance(100)  # beyond the deadline of the query, within the lease of the last command
        await olga.does(live, "resume")
        told = await it.told(live.record)
    assert told.record.termination_reason == "completed"
    assert "Answer in one word." in str(asked(it)[0].messages)
    assert notices(told.chunks) == [
        "Paused by an operator at tick 1. The time limit stands still.",
        "Resumed after 141 s.",
    ]
    assert told.record.deadline_at - told.record.created_at == 60 + 141
    await replays_exactly(url, told.record)


async def test_a_forced_turn_never_asks_the_model(store: Store, url: str) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        await olga.does(live, "force", path=LLM_TURN, result="failure")
        assert (await olga.debugger.state(live.record)).results == {LLM_TURN: "failure"}
        await olga.does(live, "resume")
        told = await it.told(live.record)
    assert not asked(it)
    await replays_exactly(url, told.record)
    assert [event["what"] for event in await debug_events(store, told.record)] == [
        "paused",
        "forced",
        "renewed",
        "resumed",
    ]


async def test_steps_are_single_ticks_and_the_user_reads_of_one_pause(store: Store, url: str) -> None:
    async with managed(store, debug_lease_s=1000) as it:
        olga = Operator(it)
        it.harness.write_tree("steps", STEPS)
        await olga.breaks("b1", kind="start")
        live = await it.start(tree="steps")
        assert (await olga.until(live, "paused")).tick == 0
        for tick in (1, 2, 3):
            it.clock.advance(5)  # while it is paused this does not count
            await olga.does(live, "step")
            if tick > 1:
                await olga.until(live, "stepping")
                await settle()
                it.clock.advance(1)
            assert (await olga.until(live, "paused", tick=tick)).hit is None
        await olga.does(live, "resume")
        await settle()
        it.clock.advance(1)
        told = await it.told(live.record)
    assert notices(told.chunks) == [
        "Paused by an operator before the first tick. The time limit stands still.",
        "Resumed after 15 s.",
    ]
    await replays_exactly(url, told.record)
    assert [event["what"] for event in await debug_events(store, told.record)] == [
        *("paused", "stepped") * 3,
        "paused",
        "resumed",
    ]


async def test_a_run_goes_on_when_its_debugger_has_gone_away_and_is_not_paused_again(store: Store) -> None:
    turns = [says("Looking.", calls("probe")), answers()]
    async with managed(store, turns, tools=[made_tool(Open())], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        state = await olga.until(live, "paused")
        assert state.resumes_at is not None
        it.clock.advance(119)
        await settle()
        assert (await olga.debugger.state(live.record)).standing == "paused"
        await olga.does(live, "renew")
        it.clock.advance(119)
        await settle()
        assert (await olga.until(live, "paused")).resumes_at != state.resumes_at
        it.clock.advance(1)
        told = await it.told(live.record)
        assert (await olga.debugger.state(live.record)).why == "lease"
    assert (told.record.termination_reason, told.record.turns) == ("completed", 2)
    assert notices(told.chunks)[-1] == "Resumed after 239 s, because the operator has gone away."


async def test_a_run_is_held_for_an_hour_at_most_however_often_its_lease_is_renewed(store: Store) -> None:
    async with managed(store, [answers()], debug_lease_s=1000) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        for _ in range(4):
            it.clock.advance(899)
            await settle()
            await olga.does(live, "renew")
        it.clock.advance(4)
        told = await it.told(live.record)
        assert (await olga.debugger.state(live.record)).why == "limit"
    assert told.record.termination_reason == "completed"
    assert notices(told.chunks)[-1] == "Resumed after 3,600 s, because a run is held for an hour at most."


async def test_the_hour_begins_with_the_pause_and_not_with_the_command_that_asks_for_it(store: Store) -> None:
    async with managed(store, debug_lease_s=10_000) as it:
        olga = Operator(it)
        it.harness.write_tree("slow", "tree: slow\nroot: {sequence: [{wait: 500}, say: Hello., finish]}\n")
        live = await it.start(tree="slow", limits={"timeout_seconds": 600})
        await settle()
        await olga.does(live, "pause")
        await olga.until(live, "pausing")
        it.clock.advance(500)
        await olga.until(live, "paused")
        it.clock.advance(3_599)
        await settle()
        assert (await olga.debugger.state(live.record)).standing == "paused"
        it.clock.advance(1)
        told = await it.told(live.record)
    assert notices(told.chunks)[-1] == "Resumed after 3,600 s, because a run is held for an hour at most."


class Open(Gate):
    """A tool's call that does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.open.set()


async def test_a_cancel_ends_a_paused_run_at_once(store: Store, url: str) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        await it.manager.cancel(live.record)
        told = await it.told(live.record)
        with pytest.raises(DebugRefusedError, match="has ended"):
            await olga.does(live, "pause")
    assert told.record.termination_reason == "user_cancelled"
    assert not asked(it)
    assert notices(told.chunks)[-1] == "Resumed after 0 s, because the run was cancelled."
    await replays_exactly(url, told.record)


async def test_a_service_that_stops_lets_paused_runs_go_on(store: Store) -> None:
    async with managed(store, [answers()], options=RunOptions(drain_s=60), debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        await it.manager.drain()
        told = await it.told(live.record)
    assert told.record.termination_reason == "completed"
    assert notices(told.chunks)[-1] == "Resumed after 0 s, because the service is stopping."


async def test_a_paused_run_whose_task_is_cancelled_ends(store: Store) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        live.interrupt()
        told = await it.told(live.record)
    assert told.record.termination_reason == "user_cancelled"


async def test_conditions_errors_and_turns_that_begin_anew_are_hit(store: Store, url: str) -> None:
    turns = [says("Looking.", calls("probe")), answers()]
    async with managed(store, turns, tools=[made_tool(Open())], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("turn", tree="oracle", path=LLM_TURN)
        await olga.breaks("condition", kind="condition", expression="turn >= 1 and tool_calls > 0")
        live = await it.start()
        hits, tick = [], 0
        for _ in range(3):
            state = await olga.until(live, "paused", after=tick)
            assert state.hit is not None
            hits.append(state.hit.breakpoint)
            tick = state.tick
            await olga.does(live, "resume")
        told = await it.told(live.record)
    assert hits == ["turn", "condition", "turn"]
    await replays_exactly(url, told.record)


async def test_an_error_in_a_node_is_hit_with_its_words(store: Store) -> None:
    tree = 'tree: bad\nroot: {selector: [{condition: "hint > 3"}, {sequence: [say: Hello., finish]}]}\n'
    async with managed(store, debug_lease_s=120) as it:
        olga = Operator(it)
        it.harness.write_tree("bad", tree)
        await olga.breaks("b1", kind="error")
        live = await it.start(tree="bad")
        state = await olga.until(live, "paused")
        assert state.hit is not None
        assert (state.hit.kind, state.hit.path) == ("error", "selector/condition")
        assert state.hit.error is not None
        assert state.hit.error.startswith("ExpressionError: ")
        await olga.does(live, "resume")
        await it.told(live.record)


async def test_a_breakpoint_that_is_set_while_a_run_is_under_way_holds_for_it(store: Store) -> None:
    gate = Gate()
    turns = [says("Looking.", calls("probe")), answers()]
    async with managed(store, turns, tools=[made_tool(gate)], debug_lease_s=120) as it:
        olga = Operator(it)
        live = await it.start()
        await gate.begun.wait()
        new = await olga.breaks("b1", run_id=live.record.id, path=LLM_TURN)
        other = await it.start(question="Something else?")
        gate.open.set()
        assert (await olga.until(live, "paused")).tick > 1
        await it.store.breakpoints.remove(new.id)
        await olga.debugger.announce(new)
        await olga.does(live, "resume")
        await it.told(live.record)
        await it.told(other.record)


async def test_a_command_that_comes_after_a_change_of_breakpoints_waits_until_they_are_read(store: Store) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("first", kind="start")
        live = await it.start()
        await olga.until(live, "paused")
        await store.breakpoints.add(Breakpoint("second", "node", "olga", run_id=live.record.id, path=LLM_TURN))
        olga.debugger.take(RunCommand(live.record.id, RELOAD))
        olga.debugger.take(RunCommand(live.record.id, COMMAND, asdict(DebugCommand("resume", "olga"))))
        paused = await olga.until(live, "paused", after=0)
        assert paused.hit is not None
        assert paused.hit.breakpoint == "second"
        await olga.does(live, "resume")
        await it.told(live.record)


async def test_an_operator_pauses_a_run_that_waits_for_the_model_after_its_next_tick(store: Store) -> None:
    gate = Gate()
    turns = [says("Looking.", calls("probe")), answers()]
    async with managed(store, turns, tools=[made_tool(gate)], debug_lease_s=120) as it:
        olga = Operator(it)
        live = await it.start()
        await gate.begun.wait()
        await olga.does(live, "pause")
        assert (await olga.debugger.state(live.record)).standing == "pausing"
        with pytest.raises(DebugRefusedError, match="will be paused after its next tick"):
            await olga.does(live, "step")
        gate.open.set()
        state = await olga.until(live, "paused")
        assert (state.by, state.hit) == ("olga", None)
        with pytest.raises(DebugRefusedError, match="is paused already"):
            await olga.does(live, "pause")
        await olga.does(live, "resume")
        assert (await it.told(live.record)).record.termination_reason == "completed"


async def test_what_a_run_cannot_have_is_refused_with_what_would_be_right(store: Store) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        for fields, problem in (
            ({"key": "turn", "value": 3}, "'turn' shows the state of the run and cannot be changed"),
            ({"key": "cancel_requested", "value": True}, "cannot be changed"),
            ({"key": "hnt", "value": ""}, "there is no blackboard key 'hnt'; did you mean 'hint'"),
            ({"key": "hint", "value": 3}, "'hint' must be text, not 3"),
            ({"key": "hint", "value": "x" * 100_001}, "a value has 100,000 bytes at most"),
        ):
            with pytest.raises(WrongCommandError, match=problem):
                await olga.does(live, "set", **fields)
        with pytest.raises(WrongCommandError, match="has no node 'llm_trn'"):
            await olga.does(live, "force", path="llm_trn")
        await olga.does(live, "resume")
        with pytest.raises(DebugRefusedError, match="is not paused; 'pause' pauses it after its next tick"):
            await olga.does(live, "set", key="hint", value="")
        await it.told(live.record)


async def test_a_run_of_the_plain_loop_cannot_be_debugged(store: Store) -> None:
    gate = Gate()
    async with managed(
        store, [says("", calls("probe")), answers()], tools=[made_tool(gate)], control="loop", debug_lease_s=120
    ) as it:
        olga = Operator(it)
        await olga.breaks("b1", kind="start")
        live = await it.start()
        await gate.begun.wait()
        with pytest.raises(DebugRefusedError, match="only a run that a YAML tree drives"):
            await olga.does(live, "pause")
        gate.open.set()
        await it.told(live.record)


async def test_without_a_debugger_nothing_stands_between_a_run_and_its_ticks(store: Store) -> None:
    gate = Gate()
    for lease_s in (None, 120):
        gate.begun.clear()
        gate.open.clear()
        turns = [says("Looking.", calls("probe")), answers()]
        async with managed(store, turns, tools=[made_tool(gate)], debug_lease_s=lease_s) as it:
            live = await it.start()
            await gate.begun.wait()
            query = live._query
            assert query is not None
            assert isinstance(query.control, TreeControl)
            assert (query.control._loop._pacer is None) is (lease_s is None)
            assert isinstance(query.agent.equipment.clock, PausableClock) is (lease_s is not None)
            assert not [node for node in query.control.tree.nodes if "step" in vars(node)]
            gate.open.set()
            await it.told(live.record)
