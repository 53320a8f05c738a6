"""What a rule or an expression distinguishes is tried, or the verdict is not "proven"."""

import pytest

from tests.oracle.features.verifier.verified import guarded, tree_of, verified

RULED = """
tree: sample
blackboard:
  approved: { type: bool, default: false, from: delivery }
  note: { type: str, default: '' }
rules:
  - name: tried
    text: What is tried.
    RULE
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - selector:
        - sequence: [{ condition: tool_calls > 0 }, run_tools]
        - condition: turn > 0
    - set: { note: signal_reason }
    - stop: completed
"""


def verdict(rule):
    return verified(RULED.replace("RULE", rule), turns=1).result("rule tried")


def test_a_rule_about_the_value_of_an_argument_is_tried_with_that_value():
    result = verified(
        tree_of(RULED.replace("RULE", "absence: { tool: search_code, where: \"path == '/etc/passwd'\" }")), turns=2
    ).result("rule tried")
    assert result.verdict == "refuted"
    assert any("path: '/etc/passwd'" in step.text for step in result.story.steps)


def test_a_condition_that_no_arguments_make_true_is_not_decided():
    result = verified(
        tree_of(RULED.replace("RULE", "absence: { tool: search_code, where: len(path) > 100 }")), turns=2
    ).result("rule tried")
    assert result.verdict == "not_decided"
    assert "len(path) > 100" in result.problem


@pytest.mark.parametrize(
    "rule",
    [
        "absence: { key: note, where: \"value == 'because'\" }",
        "absence: { signal: need_turn, where: \"reason == 'because'\" }",
        "absence: { end: completed, where: tokens > 49 }",
    ],
    ids=["key", "signal", "end"],
)
def test_a_condition_about_what_others_choose_freely_is_never_proven(rule):
    assert verdict(rule).verdict != "proven"


def test_what_the_model_says_in_a_signal_is_tried_with_the_texts_of_the_tree():
    report = verified(
        guarded("""
sequence:
  - llm_turn
  - selector:
      - sequence: [{ condition: "capability == 'a compiler'" }, { stop: stuck }]
      - stop: completed
"""),
        turns=1,
    )
    assert report.result("reachable").verdict == "proven"


def test_a_value_from_outside_comes_at_any_moment():
    report = verified(
        """
tree: sample
blackboard:
  approved: { type: str, from: delivery }
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - force_success: { wait: { for: approved, timeout_s: 10 } }
    - selector:
        - sequence: [{ condition: "approved == 'yes'" }, { stop: completed }]
        - stop: stuck
""",
        turns=1,
    )
    assert report.result("reachable").verdict == "proven"
    assert report.result("ends").verdict == "proven"


def test_a_tree_that_reads_what_is_never_tried_is_not_proven():
    report = verified(guarded("sequence: [llm_turn, { condition: sources < 9 }, { stop: completed }]"), turns=1)
    assert report.result("saved").verdict == "not_decided"
    assert "sources" in report.result("saved").problem


ASKING = """
    - classify_query
    - compose_prompt
    - force_success: { offer_tools: [vault_write] }
    - llm_turn
    - selector:
        - sequence: [{ condition: pending_writes }, refuse_tools, say: No., stop: completed]
        - sequence: [{ condition: tool_calls > 0 }, run_tools]
        - condition: turn > 0
    - stop: completed
"""


def test_a_tree_that_asks_for_calls_that_write_gets_some():
    tree = tree_of(RULED.partition("rules:")[0] + "root:\n  sequence:" + ASKING)
    assert verified(tree, turns=1).result("reachable").verdict == "proven"


def test_nothing_is_proven_of_a_tree_that_asks_how_much_time_is_left():
    asking = ASKING.replace("pending_writes", "seconds_left < 9")
    report = verified(tree_of(RULED.partition("rules:")[0] + "root:\n  sequence:" + asking), turns=1)
    assert report.result("saved").verdict == "not_decided"
    assert "seconds_left" in report.result("saved").problem
