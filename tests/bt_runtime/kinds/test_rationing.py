"""`once`, `cooldown` and `guarded`: kinds that keep their child from running."""

import asyncio

import pytest

from bt_runtime import Recording, RunLoop, Status, TreeFileError, replay
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import F, InTime, R, S, live, run_root, until_idle


@pytest.mark.parametrize(("end", "status"), [("SUCCESS", S), ("FAILURE", F)])
async def test_once_returns_the_first_result_ever_after(end, status):
    run = await run_root(f"""
sequence:
  - force_success: {{once: {{name: it, child: {{scripted: [RUNNING, {end}, RUNNING]}}}}}}
  - scripted: [RUNNING, SUCCESS]
""")
    assert run.recording.statuses()["sequence/force_success/it"] is status
    run = await run_root(f"""
repeat:
  times: 3
  child: {{parallel: [{{force_success: {{once: {{scripted: [{end}]}}}}}}, {{set: {{count: count + 1}}}}]}}
""")
    assert run.ticks_of("repeat/parallel/force_success/once/scripted") == [1]
    assert run.ticks_of("repeat/parallel/force_success/once") == [1, 2, 3]
    assert run.value("count") == 3


async def test_a_child_that_was_halted_has_not_run_once():
    clock = FakeClock()
    run = await run_root(
        "retry: {attempts: 2, child: {timeout: {seconds: 5, child: {once: {action: x}}}}}",
        clock=clock,
        substitutes={"retry/timeout/once/action": action_from(lambda: clock.sleep(3 if clock.now() else 60))},
    )
    assert (run.status, clock.now()) == (S, 8)


async def test_cooldown_fails_until_its_time_is_over():
    clock = FakeClock()
    run = await run_root(
        """
repeat:
  times: 4
  child:
    sequence:
      - force_success: {cooldown: {seconds: 5, child: {set: {count: count + 1}}}}
      - wait: 2.5
""",
        clock=clock,
    )
    assert (run.status, run.value("count"), clock.now()) == (S, 2, 10)
    assert run.ticks_of("repeat/sequence/force_success/cooldown/set") == [1, 5]


async def test_the_time_of_a_cooldown_begins_at_the_end_of_its_child():
    clock = FakeClock()
    starts = []

    async def work():
        starts.append(clock.now())
        await clock.sleep(10)
        return False

    run = await run_root(
        "repeat: {times: 2, child: {inverter: {cooldown: {seconds: 5, wait: true, child: {action: x}}}}}",
        clock=clock,
        substitutes={"repeat/inverter/cooldown/action": action_from(work)},
    )
    assert (run.status, starts) == (S, [0, 15])


async def test_a_halted_child_rests_as_well_and_a_halt_ends_the_wait():
    clock = FakeClock()
    run = await run_root(
        """
sequence:
  - repeat:
      times: 2
      child: {force_success: {timeout: {seconds: 1, child: {cooldown: {seconds: 9, wait: true, child: {action: x}}}}}}
  - set: {hint: "'on'"}
""",
        clock=clock,
        substitutes={"sequence/repeat/force_success/timeout/cooldown/action": action_from(lambda: clock.sleep(60))},
    )
    assert (run.status, clock.now()) == (S, 2)
    assert run.ticks_of("sequence/repeat/force_success/timeout/cooldown/action") == [1, 2]
    assert run.tree.context.next_deadline_s() is None


async def test_a_cooldown_says_how_long_it_rests():
    run = await run_root("sequence: [{repeat: {times: 2, child: {cooldown: {seconds: 7, child: {set: {count: 1}}}}}}]")
    assert run.status is F
    assert run.tree.nodes[2].feedback_message == "rests for 7 s more"


GUARDED = [
    ("turn < 9", "SUCCESS", S),
    ("turn < 9", "FAILURE", F),
    ("turn > 9", "SUCCESS", F),
]


@pytest.mark.parametrize(("guard", "child", "status"), GUARDED)
async def test_guarded_fails_where_a_guard_trips_and_else_has_the_result_of_its_child(guard, child, status):
    run = await run_root(f"guarded: {{guards: [condition: {guard}], child: {{scripted: [{child}]}}}}")
    assert run.status is status


async def test_a_selector_falls_through_when_a_guard_of_guarded_trips():
    run = await run_root(
        "selector: [{guarded: {guards: [condition: turn > 9], child: {set: {count: 1}}}}, {set: {count: 2}}]"
    )
    assert (run.status, run.value("count")) == (S, 2)


async def test_guarded_halts_its_child_and_awaits_its_end_before_it_fails():
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(60)
        finally:
            await asyncio.sleep(0)
            ends.append(clock.now())

    run = await run_root(
        "selector: [{guarded: {guards: [in_time], child: {action: x}}}, {action: y}]",
        kinds=[InTime.kind],
        clock=clock,
        substitutes={
            "selector/guarded/action": action_from(slow),
            "selector/action": action_from(lambda: asyncio.sleep(0, ends.append("next"))),
        },
    )
    assert (run.status, ends, run.value("termination_reason")) == (S, [5, "next"], "timeout")
    assert [record.cause for record in run.recording] == ["start", "deadline", "again", "outcome"]


async def test_a_guard_that_is_running_stops_nothing():
    run = await run_root("guarded: {guards: [{scripted: [RUNNING]}], child: {scripted: [RUNNING, SUCCESS]}}")
    assert (run.status, run.result.ticks) == (S, 2)


async def test_guarded_needs_guards():
    with pytest.raises(TreeFileError, match="'guarded' needs children"):
        await run_root("guarded: {child: {set: {count: 1}}}")


RACES = [
    ("first_success", ["FAILURE", "SUCCESS"], S, 2),
    ("first_success", ["SUCCESS", "FAILURE"], S, 1),
    ("first_success", ["FAILURE", "FAILURE"], F, 2),
    ("first_end", ["FAILURE", "SUCCESS"], F, 1),
    ("first_end", ["SUCCESS", "FAILURE"], S, 1),
    ("first_end", ["RUNNING, FAILURE", "RUNNING, SUCCESS"], F, 2),
    ("first_end", ["RUNNING, RUNNING, SUCCESS", "RUNNING, FAILURE"], F, 2),
    ("first_success", ["RUNNING, FAILURE", "RUNNING, RUNNING, SUCCESS"], S, 2),
]


@pytest.mark.parametrize(("until", "scripts", "status", "started"), RACES)
async def test_a_race_ends_with_the_child_that_decides_it(until, scripts, status, started):
    children = ", ".join(f"{{scripted: [{script}]}}" for script in scripts)
    run = await run_root(f"parallel: {{until: {until}, children: [{children}]}}")
    assert run.status is status
    assert len({index for record in run.recording for index in record.visited}) == started + 1
    assert R not in run.recording.statuses().values()


async def test_a_race_ends_when_the_work_of_the_others_has_been_awaited():
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(60)
        finally:
            await asyncio.sleep(0)
            ends.append(clock.now())

    run = await run_root(
        "sequence: [{parallel: {until: first_success, children: [{action: slow}, {action: fast}]}}, {action: after}]",
        clock=clock,
        substitutes={
            "sequence/parallel/action": action_from(slow),
            "sequence/parallel/action#2": action_from(lambda: clock.sleep(4)),
            "sequence/action": action_from(lambda: asyncio.sleep(0, ends.append("after"))),
        },
    )
    assert (run.status, ends, clock.now()) == (S, [4, "after"], 4)


@pytest.mark.parametrize("setting", ["success: one", "failure: one", "success: all"])
async def test_a_race_takes_no_other_policy(setting):
    with pytest.raises(TreeFileError, match="'until' decides alone"):
        await run_root(f"parallel: {{until: first_end, {setting}, children: [{{set: {{count: 1}}}}]}}")


async def test_a_run_with_rationing_kinds_is_replayed_tick_by_tick():
    clock, recording = FakeClock(), Recording()
    text = """
sequence:
  - force_success:
      guarded:
        guards: [in_time]
        child: {repeat: {times: 9, child: {cooldown: {seconds: 2, wait: true, child: {once: {action: x}}}}}}
  - parallel: {until: first_end, children: [{action: a}, {wait: 3}]}
"""
    built = live(
        text,
        kinds=[InTime.kind],
        substitutes={
            "sequence/force_success/guarded/repeat/cooldown/once/action": action_from(lambda: clock.sleep(1)),
            "sequence/parallel/action": action_from(lambda: clock.sleep(60)),
        },
    )
    result = await RunLoop(built, clock=clock, observers=[recording]).run()
    assert (result.status, clock.now()) == (S, 8)
    replayed = replay(live(text, kinds=[InTime.kind]), recording)
    assert (replayed.diverged_at, replayed.missing, replayed.unanswered) == (None, (), ())
    await until_idle()
    assert Status.RUNNING not in {node.status for node in built.nodes}
