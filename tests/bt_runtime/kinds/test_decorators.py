import asyncio

import pytest

from bt_runtime import HotLoopError, Status, TreeFileError, TreeLibrary
from bt_runtime.testing import FakeClock, FakeHost, action_from, registry_of, run_tree
from tests.bt_runtime.running import F, S, run_root

SIMPLE = [
    ("inverter", "SUCCESS", F),
    ("inverter", "FAILURE", S),
    ("force_success", "SUCCESS", S),
    ("force_success", "FAILURE", S),
    ("force_failure", "SUCCESS", F),
    ("force_failure", "FAILURE", F),
]


@pytest.mark.parametrize(("kind", "child", "status"), SIMPLE)
async def test_inverter_and_force_change_the_result_when_the_child_has_ended(kind, child, status):
    run = await run_root(f"{kind}: {{scripted: [RUNNING, {child}]}}")
    assert (run.status, run.result.ticks) == (status, 2)


async def test_repeat_needs_the_child_to_succeed_a_number_of_times():
    run = await run_root("repeat: {times: 3, child: {set: {count: count + 1}}}")
    assert (run.status, run.value("count"), run.result.ticks) == (S, 3, 3)


async def test_repeat_fails_with_its_child_and_counts_again_in_the_next_round():
    run = await run_root("""
retry:
  attempts: 2
  child:
    repeat: {times: 2, child: {scripted: [SUCCESS, FAILURE, SUCCESS, SUCCESS]}}
""")
    assert (run.status, run.result.ticks) == (S, 4)


async def test_the_waits_of_retry_grow_up_to_the_bound():
    clock = FakeClock()
    times = []

    async def failing():
        times.append(clock.now())
        return False

    run = await run_root(
        "retry: {attempts: 6, backoff_s: 1, factor: 3, max_backoff_s: 10, child: {action: x}}",
        clock=clock,
        substitutes={"retry/action": action_from(failing)},
    )
    assert run.status is F
    assert times == [0, 1, 4, 13, 23, 33]


async def test_retry_stops_when_the_child_succeeds_and_may_try_again_at_once():
    clock = FakeClock()
    run = await run_root("retry: {attempts: 3, child: {scripted: [FAILURE, RUNNING, SUCCESS]}}", clock=clock)
    assert (run.status, clock.now(), run.result.ticks) == (S, 0, 3)


async def test_retry_accepts_a_factor_that_overflows():
    clock = FakeClock()
    run = await run_root(
        "retry: {attempts: 40, backoff_s: 1, factor: 1.0e+300, max_backoff_s: 2, child: {scripted: [FAILURE]}}",
        clock=clock,
    )
    assert (run.status, run.result.errors, clock.now()) == (F, (), 1 + 38 * 2)


async def test_a_tick_during_the_wait_of_a_retry_does_not_shorten_it():
    clock = FakeClock()
    retry = "{retry: {attempts: 2, backoff_s: %d, child: {scripted: [FAILURE, SUCCESS]}}}"
    run = await run_root(f"parallel: [{retry % 5}, {retry % 2}]", clock=clock)
    assert (run.status, clock.now(), run.result.ticks) == (S, 5, 3)


async def test_a_halt_during_the_wait_of_a_retry_forgets_its_deadline():
    run = await run_root(
        "timeout: {seconds: 5, child: {retry: {attempts: 2, backoff_s: 50, child: {scripted: [FAILURE]}}}}"
    )
    assert run.status is F
    assert run.tree.context.next_deadline_s() is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("{attempts: 0", "'attempts' must be at least 1"),
        ("{attempts: 2, backoff_s: -1", "'backoff_s' must be"),
        ("{attempts: 2, backoff_s: .inf", "'backoff_s' must be"),
        ("{attempts: 2, factor: 0.5", "'factor' must be"),
        ("{backoff_s: 1", "needs 'attempts'"),
    ],
)
async def test_retry_refuses_invalid_settings(settings, message):
    with pytest.raises(TreeFileError, match=message):
        await run_root(f"retry: {settings}, child: {{scripted: [FAILURE]}}}}")


async def test_a_timeout_halts_its_child_when_the_time_is_over():
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(100)
        except asyncio.CancelledError:
            ends.append(clock.now())
            raise

    run = await run_root(
        "timeout: {seconds: 7.5, child: {action: x}}", clock=clock, substitutes={"timeout/action": action_from(slow)}
    )
    assert (run.status, ends, clock.now()) == (F, [7.5], 7.5)
    assert run.tree.root.feedback_message == "7.5 s are over"


async def test_a_child_that_ends_in_time_leaves_no_deadline():
    clock = FakeClock()
    run = await run_root(
        "sequence: [{timeout: {seconds: 9, child: {action: x}}}, {action: y}]",
        clock=clock,
        substitutes={
            "sequence/timeout/action": action_from(lambda: clock.sleep(3)),
            "sequence/action": action_from(lambda: clock.sleep(30)),
        },
    )
    assert (run.status, clock.now()) == (S, 33)
    assert [record.cause for record in run.recording] == ["start", "outcome", "outcome"]


async def test_a_timeout_starts_again_in_every_round():
    clock = FakeClock()
    run = await run_root(
        "repeat: {times: 3, child: {timeout: {seconds: 5, child: {action: x}}}}",
        clock=clock,
        substitutes={"repeat/timeout/action": action_from(lambda: clock.sleep(4))},
    )
    assert (run.status, clock.now()) == (S, 12)


INVALID_TIMES = {
    "0": "'seconds' must be greater than 0, not 0",
    "-1": "'seconds' must be greater than 0, not -1",
    ".inf": "only finite numbers",
    ".nan": "only finite numbers",
    "[5]": "'seconds' must be a number or text",
    "'5 s'": "the expression cannot be read",
    "secs": "there is no blackboard key or parameter 'secs'",
}


@pytest.mark.parametrize("seconds", INVALID_TIMES)
async def test_a_timeout_refuses_an_invalid_time(seconds):
    with pytest.raises(TreeFileError, match=INVALID_TIMES[seconds]):
        await run_root(f"timeout: {{seconds: {seconds}, child: {{scripted: [SUCCESS]}}}}")


FINALLYS = [("SUCCESS", "SUCCESS", S), ("FAILURE", "SUCCESS", F), ("SUCCESS", "FAILURE", F), ("FAILURE", "FAILURE", F)]


@pytest.mark.parametrize(("child", "then", "status"), FINALLYS)
async def test_finally_runs_then_however_its_child_has_ended(child, then, status):
    run = await run_root(f"finally: {{child: {{scripted: [RUNNING, {child}]}}, then: {{scripted: [RUNNING, {then}]}}}}")
    assert run.status is status
    assert run.ticks_of("finally/scripted") == [1, 2]
    assert run.ticks_of("finally/scripted#2") == [2, 3]


async def test_finally_runs_then_after_an_exception_in_its_child():
    run = await run_root("""
finally:
  child: {set: {count: 1 / 0}}
  then: {set: {hint: "'ended'"}}
""")
    assert (run.status, run.value("hint")) == (F, "ended")
    assert [error.path for error in run.result.errors] == ["finally/set"]


async def test_a_loop_runs_until_its_expression_is_true():
    run = await run_root("loop: {until: count >= 3, child: {set: {count: count + 1}}}")
    assert (run.status, run.value("count"), run.result.ticks) == (S, 3, 3)


async def test_a_loop_whose_until_is_true_at_the_start_never_ticks_its_child():
    run = await run_root("loop: {until: turn == 5, child: {set: {count: count + 1}}}")
    assert (run.status, run.value("count")) == (S, 0)


async def test_a_loop_fails_with_its_child():
    assert (await run_root("loop: {child: {scripted: [SUCCESS, FAILURE]}}")).status is F


async def test_a_guard_ends_the_loop_before_the_next_round():
    run = await run_root("loop: {guards: [condition: count < 4], child: {set: {count: count + 1}}}")
    assert (run.status, run.value("count")) == (S, 4)


async def test_guards_after_the_first_failing_one_are_not_ticked():
    run = await run_root("loop: {guards: [condition: turn > 9, condition: turn > 8], child: {scripted: [SUCCESS]}}")
    assert run.recording.visited() == [["loop", "loop/condition"]]


async def test_a_guard_interrupts_running_work_and_the_tree_continues_only_after_it_has_ended():
    clock, events = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(1000)
        except asyncio.CancelledError:
            for _ in range(20):
                await asyncio.sleep(0)
            events.append("the turn has ended")
            return "kept"

    async def next_step():
        events.append("what comes after")

    run = await run_root(
        """
sequence:
  - loop:
      guards: [condition: not cancel_requested]
      child: {action: turn}
  - set: {hint: "'after'"}
  - action: next
""",
        clock=clock,
        substitutes={"sequence/loop/action": action_from(slow), "sequence/action": action_from(next_step)},
        started=lambda loop: asyncio.get_running_loop().call_soon(loop.cancel),
    )
    assert run.status is S
    assert events == ["the turn has ended", "what comes after"]
    records = list(run.recording)
    assert records[1].cause == "delivery"
    assert [(o.key, o.state, o.value) for o in records[2].outcomes] == [("sequence/loop/action@1", "cancelled", "kept")]
    assert not records[1].writes[1:], "nothing after the loop runs in the tick of the halt"
    assert ("hint", "after") in records[2].writes
    assert clock.now() == 0


async def test_a_loop_that_ends_halts_a_guard_that_is_running():
    clock, ends = FakeClock(), []

    async def thinking():
        try:
            await clock.sleep(1000)
        finally:
            ends.append(clock.now())

    run = await run_root(
        """
sequence:
  - loop:
      until: found
      guards: [action: judge]
      child: {action: {name: work, call: work, into: found}}
  - action: next
""",
        clock=clock,
        host=FakeHost({"work": 1}),
        substitutes={
            "sequence/loop/action": action_from(thinking),
            "sequence/action": action_from(lambda: clock.sleep(5)),
        },
    )
    assert (run.status, ends, clock.now()) == (S, [0], 5)


async def test_a_loop_that_cannot_wait_ends_the_run_with_an_error_that_names_it():
    run = await run_root("loop: {name: busy, child: {scripted: [SUCCESS]}}")
    assert run.status is F
    assert isinstance(run.result.error, HotLoopError)
    assert run.result.error.path == "busy"


GREET = """\
tree: greet
parameters:
  times: {type: int, default: 1}
  words: {type: str, default: hello}
blackboard:
  count: {type: int, default: 0}
  said: {type: str, default: ''}
root:
  repeat:
    times: ${times}
    child:
      sequence: [{set: {count: count + times, said: words}}]
"""


async def _run_library(folder, text, **options):
    (folder / "greet.yaml").write_text(GREET)
    (folder / "main.yaml").write_text(text)
    registry = registry_of()
    return await run_tree(TreeLibrary([folder], registry=registry).load("main"), registry=registry, **options)


async def test_a_subtree_is_included_with_its_arguments_and_shares_the_blackboard(tmp_path):
    run = await _run_library(
        tmp_path,
        "tree: main\nblackboard: {count: {type: int, default: 1}}\nroot:\n  sequence:\n"
        "    - subtree: {tree: greet, with: {times: 3, words: hi}}\n    - subtree: greet\n",
        host=FakeHost(),
    )
    assert run.status is S
    assert run.value("count") == 1 + 3 * 3 + 1
    assert run.value("said") == "hello"
    assert "sequence/subtree/repeat/sequence/set" in run.tree.paths
    assert run.recording.statuses()["sequence/subtree"] is Status.SUCCESS


async def test_the_status_of_a_subtree_is_that_of_its_root(tmp_path):
    run = await _run_library(
        tmp_path, "tree: main\nroot:\n  inverter: {subtree: {tree: greet, with: {times: 1}}}\n", host=FakeHost()
    )
    assert run.status is F
