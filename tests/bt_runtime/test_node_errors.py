import asyncio

import pytest

from bt_runtime import (
    Action,
    Node,
    NoSettings,
    Status,
    node,
)
from bt_runtime.nodes.registration import CHILD
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import S, run_root


def broken_kind(method, error):
    class Broken(Node[NoSettings]):
        """Raises in one of its methods."""

        def update(self):
            return Status.SUCCESS

    def fail(self, *_arguments):
        raise error

    setattr(Broken, method, fail)
    return node("broken")(Broken).kind


class UnspeakableError(Exception):
    def __str__(self):
        raise RuntimeError("cannot say")


ERRORS = [
    ValueError("bad"),
    asyncio.CancelledError("odd"),
    RecursionError(),
    UnspeakableError(),
    KeyError("x" * 10_000),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("method", ["update", "initialise", "terminate"])
async def test_an_exception_in_a_node_is_a_failure_and_is_recorded(method, error):
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(100)
        finally:
            ends.append("halted")

    run = await run_root(
        """
selector:
  - parallel:
      failure: one
      children:
        - action: x
        - sequence: [{action: y}, broken]
  - set: {count: 1}
""",
        kinds=[broken_kind(method, error)],
        clock=clock,
        substitutes={
            "selector/parallel/action": action_from(slow),
            "selector/parallel/sequence/action": action_from(lambda: clock.sleep(1)),
        },
    )
    assert (run.status, run.value("count"), ends, clock.now()) == (S, 1, ["halted"], 1)
    (error_recorded,) = run.result.errors
    assert error_recorded.path == "selector/parallel/sequence/broken"
    assert error_recorded.error.startswith(type(error).__name__)
    assert len(error_recorded.error) <= 2000


@pytest.mark.parametrize("method", ["finish", "interrupted", "failed", "start"])
async def test_an_exception_in_a_part_of_an_action_is_recorded_under_its_path(method):
    clock = FakeClock()

    class Broken(Action[NoSettings]):
        """Raises in one of its methods."""

        async def start(self):
            if method == "failed":
                raise OSError("first")
            await clock.sleep(10 if method == "interrupted" else 1)

    def fail(self, *_arguments):
        raise ValueError("bad")

    setattr(Broken, method, fail)
    run = await run_root(
        "force_success: {timeout: {seconds: 5, child: broken}}", kinds=[node("broken")(Broken).kind], clock=clock
    )
    assert run.status is S
    assert [(e.path, e.error) for e in run.result.errors] == [("force_success/timeout/broken", "ValueError: bad")]


@pytest.mark.parametrize("answer", [None, True, "SUCCESS", Status.INVALID])
async def test_an_update_that_returns_something_else_fails_with_an_error(answer):
    class Odd(Node[NoSettings]):
        """Answers something else."""

        def update(self):
            return answer

    run = await run_root("selector: [odd, {scripted: [SUCCESS]}]", kinds=[node("odd")(Odd).kind])
    assert run.status is S
    assert "must return SUCCESS, FAILURE or RUNNING" in run.result.errors[0].error


async def test_an_error_above_a_running_action_withdraws_its_request():
    clock, ends = FakeClock(), []

    class Overseer(Node[NoSettings]):
        """Ticks its child, then raises."""

        def update(self):
            self.children[0].step()
            raise ValueError("bad")

    async def work():
        try:
            await clock.sleep(10)
        finally:
            ends.append(clock.now())

    run = await run_root(
        "sequence: [{force_success: {overseer: {child: {action: x}}}}, {action: y}]",
        kinds=[node("overseer", category="decorator", slots=CHILD)(Overseer).kind],
        clock=clock,
        substitutes={
            "sequence/force_success/overseer/action": action_from(work),
            "sequence/action": action_from(lambda: clock.sleep(1)),
        },
    )
    assert (run.status, ends) == (S, [])  # withdrawn before it started
    assert run.recording.statuses()["sequence/force_success/overseer/action"] is Status.INVALID
