"""`if` and `switch`."""

import asyncio

import pytest

from bt_runtime import Status, TreeFileError
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import F, S, run_root

IFS = [
    ("turn > 3", "SUCCESS", "FAILURE", S),
    ("turn > 3", "FAILURE", "SUCCESS", F),
    ("turn > 9", "FAILURE", "SUCCESS", S),
    ("turn > 9", "SUCCESS", "FAILURE", F),
    ("hint", "SUCCESS", "FAILURE", F),
]


@pytest.mark.parametrize(("when", "then", "otherwise", "status"), IFS)
async def test_if_has_the_result_of_the_branch_that_it_chose(when, then, otherwise, status):
    run = await run_root(f"if: {{when: {when}, then: {{scripted: [{then}]}}, else: {{scripted: [{otherwise}]}}}}")
    assert run.status is status
    assert len(run.recording.visited()[0]) == 2


async def test_if_without_else_succeeds_when_there_is_nothing_to_do():
    run = await run_root("if: {when: turn > 9, then: {scripted: [FAILURE]}}")
    assert (run.status, run.recording.visited()) == (S, [["if"]])


async def test_the_branch_of_if_stays_the_same_while_it_is_running():
    run = await run_root("""
if:
  when: count == 0
  then: {sequence: [set: {count: 1}, scripted: [RUNNING, RUNNING, SUCCESS], set: {count: count + 1}]}
  else: {set: {count: 50}}
""")
    assert (run.status, run.value("count"), run.result.ticks) == (S, 2, 3)


async def test_if_decides_anew_each_time_it_begins():
    run = await run_root("""
repeat:
  times: 3
  child: {if: {when: count == 0, then: {set: {count: 10}}, else: {set: {count: count + 1}}}}
""")
    assert run.value("count") == 12


async def test_a_condition_that_cannot_be_evaluated_is_an_error_and_failure():
    run = await run_root("if: {when: found > 1, then: {scripted: [SUCCESS]}}")
    assert run.status is F
    assert "null" in run.result.errors[0].error


SWITCH = """
switch:
  value: found
  cases:
    text: {set: {hint: "'text'"}}
    "1": {set: {hint: "'one'"}}
    "2.5": {set: {hint: "'number'"}}
    "true": {set: {hint: "'yes'"}}
    "null": {set: {hint: "'nothing'"}}
    "[]": {set: {hint: "'list'"}}
"""
CASES = [
    ("text", S, "text"),
    (1, S, "one"),
    ("1", S, "one"),
    (1.0, S, "one"),
    (2.5, S, "number"),
    ("2.5", S, "number"),
    ("true", S, "yes"),
    (True, S, "yes"),
    (None, S, "nothing"),
    (False, F, ""),
    (2, F, ""),
    ([], F, ""),
    ({"a": 1}, F, ""),
    ("TEXT", F, ""),
]


@pytest.mark.parametrize(("value", "status", "hint"), CASES)
async def test_switch_runs_the_case_of_the_value(value, status, hint):
    run = await run_root(SWITCH, values={"found": value})
    assert (run.status, run.value("hint"), run.result.errors) == (status, hint, ())


async def test_a_text_that_is_no_number_of_expressions_is_only_a_text():
    run = await run_root("switch: {value: turn, cases: {'05': {set: {count: 1}}, '+5': {set: {count: 2}}}}")
    assert (run.status, run.value("count")) == (F, 0)


@pytest.mark.parametrize("value", ["other", 7, ["text"], None])
async def test_switch_runs_default_where_there_is_no_case(value):
    run = await run_root(
        "switch: {value: found, cases: {text: {scripted: [FAILURE]}}, default: {set: {hint: \"'d'\"}}}",
        values={"found": value},
    )
    assert (run.status, run.value("hint")) == (S, "d")


async def test_a_case_called_default_is_not_the_default():
    run = await run_root(
        "switch: {value: hint, cases: {default: {set: {count: 1}}}, default: {set: {count: 2}}}", values={"hint": "x"}
    )
    assert run.value("count") == 2
    assert run.tree.root.feedback_message == ""


async def test_switch_without_a_case_says_for_which_value():
    run = await run_root("switch: {value: turn, cases: {a: {set: {count: 1}}}}")
    assert (run.status, run.tree.root.feedback_message) == (F, "no case for 5")


async def test_switch_keeps_its_choice_while_it_is_running_and_chooses_anew_the_next_time():
    run = await run_root("""
repeat:
  times: 2
  child:
    switch:
      value: count
      cases:
        "0": {sequence: [set: {count: 1}, scripted: [RUNNING, SUCCESS], set: {turn: turn + 1}]}
        "1": {set: {turn: turn * 10}}
""")
    assert (run.status, run.value("turn")) == (S, 60)


@pytest.mark.parametrize(
    "node", ["if: {when: turn > 3, then: {action: x}}", "switch: {value: question, cases: {q: {action: x}}}"]
)
async def test_a_halt_halts_the_chosen_branch(node):
    clock, ends = FakeClock(), []

    async def slow():
        try:
            await clock.sleep(100)
        except asyncio.CancelledError:
            ends.append(clock.now())
            raise

    kind = node.partition(":")[0]
    run = await run_root(
        f"timeout: {{seconds: 3, child: {{{node}}}}}",
        clock=clock,
        substitutes={f"timeout/{kind}/action": action_from(slow)},
    )
    assert (run.status, ends) == (F, [3])
    assert [each.status for each in run.tree.nodes] == [F, Status.INVALID, Status.INVALID]


MISTAKES = [
    ("if: {then: {scripted: [SUCCESS]}}", "'if' needs 'when'"),
    ("if: {when: turn > 3}", "'if' needs a child"),
    ("if: {when: trun > 3, then: {set: {count: 1}}}", "did you mean 'turn'"),
    ("switch: {value: turn}", "'switch' needs children"),
    ("switch: {value: turn, cases: {}}", "'switch' needs at least one node below 'cases'"),
    ("switch: {value: turn, cases: [{set: {count: 1}}]}", "'cases' must be a mapping of nodes, not a list"),
    ("switch: {value: turn, cases: {1: {set: {count: 1}}}}", "a key must be text"),
    ("switch: {value: turn, cases: {a: {sett: {count: 1}}}}", "there is no node kind 'sett'"),
    ("switch: {value: turn, cases: {a: {set: {cuont: 1}}, b: {set: {cuont: 1}}}}", "did you mean 'count'"),
]


@pytest.mark.parametrize(("node", "message"), MISTAKES)
async def test_mistakes_in_choices_are_reported(node, message):
    with pytest.raises(TreeFileError, match=message):
        await run_root(node)
