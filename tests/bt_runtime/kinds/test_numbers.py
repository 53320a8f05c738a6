"""Settings that are a number, or an expression over the blackboard that is evaluated when the node begins."""

import pytest

from bt_runtime import TreeFileError
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import F, S, run_root

ONCE_MORE = """
sequence:
  - set: {turn: 2}
  - force_success: {retry: {attempts: turn + 1, child: {sequence: [set: {count: count + 1}, scripted: [FAILURE]]}}}
  - set: {turn: 4}
  - repeat: {times: turn, child: {set: {count: count + 10}}}
"""


async def test_the_numbers_of_retry_and_repeat_may_be_expressions():
    run = await run_root(ONCE_MORE)
    assert (run.status, run.value("count"), run.result.errors) == (S, 43, ())


async def test_a_number_is_evaluated_when_the_node_begins_and_kept_while_it_runs():
    run = await run_root("repeat: {times: turn, child: {set: {count: count + 1, turn: 2}}}", values={"turn": 3})
    assert (run.value("count"), run.value("turn")) == (3, 2)


async def test_the_time_of_a_timeout_may_be_an_expression():
    clock = FakeClock()
    run = await run_root(
        "timeout: {seconds: turn * 2.5, child: {action: x}}",
        clock=clock,
        substitutes={"timeout/action": action_from(lambda: clock.sleep(100))},
    )
    assert (run.status, clock.now(), run.tree.root.feedback_message) == (F, 12.5, "12.5 s are over")


WRONG = [
    ("retry: {attempts: turn - 5, ", "'attempts' must be a whole number from 1 to 1000, not 0"),
    ("retry: {attempts: turn * 201, ", "'attempts' must be a whole number from 1 to 1000, not 1005"),
    ("retry: {attempts: turn / 2, ", "'attempts' must be a whole number from 1 to 1000, not 2.5"),
    ("retry: {attempts: hint, ", "'attempts' must be a whole number from 1 to 1000, not ''"),
    ("retry: {attempts: found, ", "'attempts' must be a whole number from 1 to 1000, not null"),
    ("repeat: {times: 0 * turn, ", "'times' must be a whole number of at least 1, not 0"),
    ("repeat: {times: turn > 1, ", "'times' must be a whole number of at least 1, not true"),
    ("timeout: {seconds: 0 - turn, ", "'seconds' must be a number of at least 0, not -5"),
    ("cooldown: {seconds: question, ", "'seconds' must be a number of at least 0, not 'q'"),
]


@pytest.mark.parametrize(("node", "message"), WRONG)
async def test_a_value_that_is_no_such_number_makes_the_node_fail_with_an_error(node, message):
    run = await run_root(node + "child: {set: {count: 1}}}")
    assert (run.status, run.value("count")) == (F, 0)
    (error,) = run.result.errors
    assert error.error == f"ExpressionError: {message} (column 1)"


@pytest.mark.parametrize("node", ["retry: {attempts: tries", "repeat: {times: tries", "cooldown: {seconds: tries"])
async def test_an_unknown_name_in_such_an_expression_is_a_mistake(node):
    with pytest.raises(TreeFileError, match="there is no blackboard key or parameter 'tries'"):
        await run_root(node + ", child: {scripted: [SUCCESS]}}")
