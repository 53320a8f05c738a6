"""Warnings about keys and parameters: written in vain, read in vain, declared in vain."""

import pytest

from tests.bt_runtime.analysis.judging import found, of_steps, warnings_of

GUARDS = "guards: [cancelled, turn_budget, token_budget, deadline]"
COUNT = "blackboard: { count: { type: int, default: 0 } }"
FOUND = "blackboard: { found: { type: str, default: '' } }"


@pytest.mark.parametrize(
    ("steps", "head", "expected"),
    [
        ("- llm_turn\n- stop: completed", COUNT, [("key-unused", "count")]),
        ("- set: { count: 3 }\n- llm_turn\n- stop: completed", COUNT, [("key-never-read", "count")]),
        (
            "- action: { call: list_files, into: found }\n- llm_turn\n- stop: completed",
            FOUND,
            [("key-never-read", "found")],
        ),
        (
            "- llm_turn: { visible: false, into: found }\n- llm_turn\n- stop: completed",
            FOUND,
            [("key-never-read", "found")],
        ),
        ("- llm_turn\n- condition: turn > count\n- stop: completed", COUNT, [("key-never-written", "count")]),
        ("- say: 'Found {found}.'\n- llm_turn\n- stop: completed", FOUND, [("key-never-written", "found")]),
        (
            "- set: { hint: \"'Found: ' + found\" }\n- action: { call: list_files, into: found }\n- llm_turn",
            FOUND,
            [("key-read-early", "found")],
        ),
        ("- condition: intent == 'stuck'\n- llm_turn", "", [("key-read-early", "intent")]),
        ("- say: 'It ended with {signal}.'\n- llm_turn", "", [("key-read-early", "signal")]),
        (
            f"- loop: {{ until: count >= 3, {GUARDS}, child: llm_turn }}\n- set: {{ count: count + 1 }}",
            COUNT,
            [("until-never-changes", "count >= 3")],
        ),
        (
            f"- loop: {{ until: query_type == 'code', {GUARDS}, child: llm_turn }}",
            "",
            [("until-never-changes", "query_type == 'code'")],
        ),
        ("- wait: { until: turn > 3, timeout_s: 5 }\n- llm_turn", "", [("until-never-changes", "turn > 3")]),
        (
            "- set: { count: count }\n- llm_turn\n- condition: count > 2",
            COUNT,
            [("set-without-effect", "count")],
        ),
        ("- llm_turn", "parameters: { tone: { type: str, default: kind } }", [("parameter-unused", "tone")]),
        (
            (
                "- parallel:\n    - action: { name: a, call: list_files, into: found }\n"
                "    - sequence: [action: { name: b, call: list_files, into: found }]\n- say: '{found}'"
            ),
            FOUND,
            [("parallel-writers", "found")],
        ),
        (
            "- parallel: [llm_turn: { visible: false, into: found }, set: { found: question }]\n- say: '{found}'",
            FOUND,
            [("parallel-writers", "found")],
        ),
    ],
)
def test_a_key_that_is_used_in_vain_is_a_warning_at_its_place(steps, head, expected):
    text = of_steps(steps, head)
    assert [
        (code, part[: len(meant)]) for (code, part), (_, meant) in zip(found(text), expected, strict=True)
    ] == expected


@pytest.mark.parametrize(
    ("steps", "head"),
    [
        ("- set: { count: 3 }\n- llm_turn\n- condition: turn > count", COUNT),
        ("- set: { count: 3 }\n- say: 'It is {count}.'\n- llm_turn", COUNT),
        ("- set: { count: 3 }\n- notify: 'It is {count}.'\n- llm_turn", COUNT),
        ("- llm_turn\n- condition: turn < limit", "blackboard: { limit: { type: int, default: 4 } }"),
        ("- llm_turn\n- condition: query_type in kinds", "blackboard: { kinds: { type: list, default: [code] } }"),
        ("- action: { call: list_files, into: found }\n- set: { hint: found }\n- llm_turn", FOUND),
        (
            (
                "- force_success: { action: { call: list_files, into: found } }\n"
                "- set: { hint: \"'Found: ' + found\" }\n- llm_turn"
            ),
            FOUND,
        ),
        (
            (
                f"- loop:\n    until: count >= 3\n    {GUARDS}\n    child:\n"
                "      sequence:\n        - llm_turn\n        - set: { count: count + 1 }"
            ),
            COUNT,
        ),
        (f"- loop: {{ until: termination_reason, {GUARDS}, child: llm_turn }}", ""),
        ("- loop: { until: turn >= 2, child: llm_turn }", ""),
        ("- loop: { until: signal == 'context_sufficient' or turn > 4, child: llm_turn }", ""),
        ("- loop: { until: cancel_requested, child: llm_turn }", ""),
        (
            (
                f"- loop:\n    until: turn > 3\n    {GUARDS}\n    child:\n      sequence:\n"
                "        - set: { hint: \"'Before: ' + found\" }\n        - llm_turn: { visible: false, into: found }"
            ),
            FOUND,
        ),
        (
            "- set: { log: \"log + 'a'\" }\n- set: { log: \"log + 'b'\" }\n- say: '{log}'\n- llm_turn",
            "blackboard: { log: { type: str, default: '' } }",
        ),
        (
            (
                "- parallel:\n    success: one\n    children:\n"
                "      - action: { name: a, call: list_files, into: found }\n"
                "      - action: { name: b, call: list_files, into: found }\n- say: '{found}'"
            ),
            FOUND,
        ),
        (
            (
                "- parallel:\n    max_concurrent: 1\n    children:\n"
                "      - action: { name: a, call: list_files, into: found }\n"
                "      - action: { name: b, call: list_files, into: found }\n- say: '{found}'"
            ),
            FOUND,
        ),
        (
            (
                "- parallel:\n    - sequence: [wait: 1, set: { count: count + 1 }]\n"
                "    - sequence: [wait: 2, set: { count: count + 1 }]\n"
                "- llm_turn\n- condition: count > 1"
            ),
            COUNT,
        ),
        (
            (
                "- parallel:\n    - action: { name: a, call: list_files, into: one }\n"
                "    - action: { name: b, call: list_files, into: two }\n- say: '{one} {two}'"
            ),
            "blackboard: { one: str, two: str }",
        ),
        (
            "- wait: { for: approved }\n- condition: approved\n- llm_turn",
            "blackboard: { approved: { type: bool, from: delivery } }",
        ),
        ("- llm_turn: { hint: 'Be ${tone}.' }", "parameters: { tone: { type: str, default: kind } }"),
        ("- llm_turn\n- condition: turn > most", "parameters: { most: { type: int, default: 3 } }"),
        ("- subtree: { tree: follow_signal }", ""),
        ("- llm_turn\n- condition: signal == 'stuck'\n- say: 'Stuck: {blocker}.'", ""),
        ("- llm_turn\n- classify_response\n- condition: intent == 'stuck'\n- stop: stuck", ""),
        (
            (
                "- if:\n    when: turn > 0\n    then: { set: { hint: found } }\n"
                "    else: { action: { call: list_files, into: found } }\n- llm_turn"
            ),
            "blackboard: { found: { type: str, default: none } }",
        ),
    ],
)
def test_a_key_that_is_used_well_is_no_warning(steps, head):
    assert found(of_steps(steps, head)) == []


def test_a_key_of_a_rule_is_read():
    text = of_steps("- set: { count: 3 }\n- llm_turn", COUNT) + (
        "rules:\n  - { name: counted, text: It counts., existence: { key: count } }\n"
    )
    assert found(text) == []


PART = """\
tree: part
internal: true
blackboard:
  attempts: { type: int, default: 2 }
root:
  sequence:
    - condition: attempts < 5
    - set: { attempts: attempts + 1 }
"""


def test_a_default_that_a_subtree_loses_is_a_warning_where_the_other_one_is_declared():
    text = of_steps("- llm_turn\n- subtree: part", "blackboard:\n  attempts: { type: int, default: 4 }")
    (warning,) = warnings_of(text, PART)
    assert (warning.code, warning.place.line, warning.place.column) == ("default-lost", 3, 3)
    assert warning.message == (
        "'attempts' begins with 4: the default 2 of the tree 'part', which is included here, has no effect"
    )
    same = of_steps("- llm_turn\n- subtree: part", "blackboard:\n  attempts: { type: int, default: 2 }")
    assert found(same, PART) == []


def test_what_a_part_of_other_trees_reads_and_writes_may_be_used_by_those():
    reading = PART.replace("    - set: { attempts: attempts + 1 }\n", "").replace("default: 2", "default: 0")
    writing = PART.replace("    - condition: attempts < 5\n", "").replace("attempts + 1", "3")
    assert found(reading) == found(writing) == []
    unused = "tree: part\ninternal: true\nblackboard: { count: int }\nroot: { sequence: [llm_turn] }\n"
    assert found(unused) == [("key-unused", "count")]


def test_private_keys_are_judged_in_their_own_tree():
    part = """\
tree: part
internal: true
blackboard:
  tries: { type: int, default: 0, private: true }
  spare: { type: int, default: 0, private: true }
  result: { type: str, default: "", private: true }
root:
  sequence:
    - set: { tries: tries + 1 }
    - condition: tries < 3
    - llm_turn: { visible: false, into: result }
"""
    assert found(part) == [("key-unused", "spare")]  # another tree may take `result`
    outer = of_steps(
        "- subtree: { tree: part, out: { result: found } }\n- say: '{found}'\n- llm_turn",
        "blackboard: { found: { type: str, default: '' } }",
    )
    assert found(outer, part) == []
    beside = of_steps("- parallel: [subtree: { name: a, tree: part }, subtree: { name: b, tree: part }]\n- llm_turn")
    assert "parallel-writers" not in [code for code, _ in found(beside, part)]  # each inclusion has its own
