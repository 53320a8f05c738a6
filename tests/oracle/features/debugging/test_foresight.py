"""Runs that are held before a node begins, and whose log shows nothing of it."""

from random import Random

import pytest

from bt_runtime import TickRecord
from oracle.agent.nodes import REGISTRY
from oracle.features.debugging.foresight import RunForesight
from oracle.replay.recorded import read_run, repeat
from oracle.runs.live import LiveRun
from oracle.runs.record.debug import BreakpointHit, DebugState
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.debugging.sessions import LLM_TURN, Operator
from tests.oracle.runs.debugging.test_sessions import Open, replays_exactly
from tests.oracle.runs.running import managed

STEPS = """
tree: steps
blackboard: {count: {type: int, default: 0}}
root:
  sequence:
    - set: {count: 1}
    - condition: count < 5
    - say: Hello.
    - finish
"""
ROUNDS = """
tree: rounds
blackboard: {count: {type: int, default: 0}}
root:
  sequence:
    - loop: {until: count >= 5, child: {sequence: [{condition: count < 9}, {set: {count: count + 1}}]}}
    - repeat: {times: 3, child: {set: {count: count + 1}}}
    - finish
"""


async def paused(olga: Operator, live: LiveRun) -> tuple[DebugState, BreakpointHit]:
    """Wait for the next pause by a breakpoint."""
    state = await olga.until(live, "paused")
    assert state.hit is not None
    return state, state.hit


async def ticks_of(url: str, record: RunRecord) -> tuple[TickRecord, ...]:
    async with open_archive(url) as archive:
        return (await read_run(archive, record)).ticks


@pytest.mark.parametrize("is_changed", [False, True])
async def test_a_run_is_held_before_a_node_that_answers_at_once_and_a_change_decides_what_it_does(
    store: Store, url: str, is_changed: bool
) -> None:
    async with managed(store, debug_lease_s=120) as it:
        olga = Operator(it)
        it.harness.write_tree("steps", STEPS.replace("set: {count: 1}", "condition: count < 7"))
        await olga.breaks("b1", tree="steps", path="sequence/condition#2")
        live = await it.start(tree="steps")
        state, hit = await paused(olga, live)
        assert (hit.path, hit.is_ahead, state.tick) == ("sequence/condition#2", True, 0)
        assert not await store.log.events(live.record.id, kinds={"tick"})
        if is_changed:
            await olga.does(live, "set", key="count", value=6)
        await olga.does(live, "resume")
        told = await it.told(live.record)
    assert ("Hello." in told.text) is not is_changed
    (first, *_) = await ticks_of(url, told.record)
    assert first.deliveries == ((("count", 6),) if is_changed else ())
    await replays_exactly(url, told.record)


async def test_the_record_of_a_run_that_was_held_is_that_of_one_that_was_not(store: Store, url: str) -> None:
    found: list[list[bytes]] = []
    paths: tuple[str, ...] = ()
    turns = [says("Looking.", calls("probe")), answers()] * 2
    async with managed(store, turns, tools=[made_tool(Open())], debug_lease_s=120) as it:
        olga = Operator(it)
        for number, is_held in enumerate((False, True)):
            for at, path in enumerate(paths):
                await olga.breaks(f"b{at}", tree="oracle", path=path)
            live = await it.start(question=f"Which files are there, and why? {number}")
            pauses = await let_through(olga, live, Random(0), changes=False)
            assert bool(pauses) is is_held
            record = (await it.told(live.record)).record
            paths = (await olga.debugger.definition_of(record)).paths[::3]
            found.append([encode_tick(each, is_timed=False) for each in await ticks_of(url, record)])
    assert found[0] == found[1]


async def let_through(olga: Operator, live: LiveRun, dice: Random, *, changes: bool) -> int:
    """Let a run go on at each of its pauses until it has ended; returns how many there were before a node."""
    pauses, ahead, since = 0, 0, None
    foresight = olga.debugger._sessions[live.record.id]._foresight
    assert isinstance(foresight, RunForesight)
    paths = (await olga.debugger.definition_of(live.record)).paths
    while not live._ended.is_set():
        await olga.it.store.write(lambda _: None)
        state = await olga.debugger.state(live.record)
        if state.standing != "paused" or state.since == since:
            continue
        pauses, since = pauses + 1, state.since
        ahead += state.hit is not None and state.hit.is_ahead
        if changes and dice.random() < 0.4:
            await olga.does(live, "force", path=dice.choice(paths), result=dice.choice(["success", "failure"]))
        await olga.does(live, dice.choice(["step", "resume"]) if changes and pauses < 60 else "resume")
    assert not foresight._has_failed
    return ahead


@pytest.mark.parametrize("seed", range(4))
async def test_a_run_that_is_held_before_random_nodes_replays_to_the_identical_record(
    store: Store, url: str, seed: int
) -> None:
    dice = Random(seed)
    turns = [says("Looking.", calls("probe")), says(""), *(answers() for _ in range(12))]
    async with managed(store, turns, tools=[made_tool(Open())], debug_lease_s=1000) as it:
        olga = Operator(it)
        await olga.breaks("start", kind="start")
        live = await it.start()
        await olga.until(live, "paused")
        for path in dice.sample((await olga.debugger.definition_of(live.record)).paths, 12):
            await olga.breaks(path, run_id=live.record.id, path=path)
        assert await let_through(olga, live, dice, changes=True)
        record = (await it.told(live.record)).record
    async with open_archive(url) as archive:
        run = await read_run(archive, record)
    replayed = repeat(run, registry=REGISTRY)
    assert replayed.diverged_at is None
    assert [encode_tick(each, is_timed=False) for each in replayed.records] == [
        encode_tick(each, is_timed=False) for each in run.ticks
    ]


async def test_nodes_of_one_tick_are_hit_in_their_order_and_each_time_they_begin(store: Store) -> None:
    async with managed(store, debug_lease_s=120) as it:
        olga = Operator(it)
        it.harness.write_tree("rounds", ROUNDS)
        twice, last = "sequence/repeat/set", "sequence/finish"
        for path in (last, twice):
            await olga.breaks(path, tree="rounds", path=path)
        live = await it.start(tree="rounds")
        hits, since = [], None
        for _ in range(4):
            state, hit = await paused(olga, live)
            while state.since == since:
                state, hit = await paused(olga, live)
            hits.append(hit.path)
            since = state.since
            await olga.does(live, "resume")
        await it.told(live.record)
    assert hits == [twice, twice, twice, last]


async def test_a_breakpoint_with_an_expression_holds_the_run_where_it_is_true_before_the_node(store: Store) -> None:
    async with managed(store, debug_lease_s=120) as it:
        olga = Operator(it)
        it.harness.write_tree("rounds", ROUNDS)
        path = "sequence/loop/sequence/set"
        await olga.breaks("b1", tree="rounds", path=path, expression="count == 3")
        live = await it.start(tree="rounds")
        _, hit = await paused(olga, live)
        assert (hit.path, hit.expression, hit.is_ahead) == (path, "count == 3", True)
        query = live._query
        assert query is not None
        assert query.control.tree.blackboard["count"] <= 3  # type: ignore[attr-defined]
        await olga.does(live, "resume")
        await it.told(live.record)


async def test_a_forced_result_before_which_a_run_is_held_replaces_the_nodes_own(store: Store) -> None:
    async with managed(store, debug_lease_s=120) as it:
        olga = Operator(it)
        it.harness.write_tree("steps", STEPS)
        await olga.breaks("b1", tree="steps", path="sequence/say")
        live = await it.start(tree="steps")
        await paused(olga, live)
        await olga.does(live, "force", path="sequence/say", result="success")
        await olga.does(live, "resume")
        told = await it.told(live.record)
    assert "Hello." not in told.text


async def test_a_step_from_before_a_node_ends_after_its_tick(store: Store) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path="finally/sequence/classify_query")
        live = await it.start()
        state, hit = await paused(olga, live)
        assert (state.tick, hit.is_ahead) == (0, True)
        await olga.does(live, "step")
        state = await olga.until(live, "paused", after=0)
        assert (state.tick, state.hit) == (1, None)
        await olga.does(live, "resume")
        await it.told(live.record)


async def test_a_node_that_asks_for_work_is_held_after_its_tick_and_before_the_work(store: Store) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN, expression="turn == 0")
        live = await it.start()
        state, hit = await paused(olga, live)
        assert (state.tick, hit.path, hit.is_ahead) == (1, LLM_TURN, False)
        assert it.harness.scripted is not None
        assert not it.harness.scripted.requests
        await olga.does(live, "resume")
        await it.told(live.record)


async def test_a_cancel_ends_a_run_that_is_held_before_a_node(store: Store, url: str) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path="finally/sequence/classify_query")
        live = await it.start()
        await paused(olga, live)
        await it.manager.cancel(live.record)
        told = await it.told(live.record)
    assert told.record.termination_reason == "user_cancelled"
    await replays_exactly(url, told.record)


async def test_without_foresight_the_node_is_hit_after_its_tick(store: Store) -> None:
    async with managed(store, debug_lease_s=120, foresees=False) as it:
        olga = Operator(it)
        it.harness.write_tree("steps", "tree: steps\nroot: {sequence: [say: Hello., {wait: 1}, finish]}\n")
        await olga.breaks("b1", tree="steps", path="sequence/say", expression="turn == 0")
        live = await it.start(tree="steps")
        state, hit = await paused(olga, live)
        assert (state.tick, hit.is_ahead) == (1, False)
        await it.manager.cancel(live.record)
        await it.told(live.record)
