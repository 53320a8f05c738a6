"""Warnings about the types and ranges of expressions, and of what nodes write."""

import pytest

from tests.bt_runtime.analysis.judging import found, of_steps, warnings_of

COUNT = "blackboard: { count: { type: int, default: 0 } }"
FOUND = "blackboard: { found: { type: str, default: '' } }"
SCORE = "blackboard: { score: int }"
SPEAKS = "- llm_turn\n"


@pytest.mark.parametrize(
    ("steps", "head", "expected"),
    [
        ("- set: { hint: \"'Turn ' + turn\" }", "", ("operation-fails", "'Turn ' + turn")),
        ("- condition: turn + 'x' == hint", "", ("operation-fails", "turn + 'x'")),
        ("- condition: signal >= 3", "", ("operation-fails", "signal >= 3")),
        ("- condition: len(turn) > 3", "", ("operation-fails", "len(turn)")),
        ("- condition: lower(sources) == 'x'", "", ("operation-fails", "lower(sources)")),
        ("- condition: tokens_used / 0 > 1", "", ("operation-fails", "tokens_used / 0")),
        ("- condition: turn in signal", "", ("operation-fails", "turn in signal")),
        ("- condition: signal.type == 'stuck'", "", ("operation-fails", "signal.type")),
        ("- if: { when: question > turn, then: { say: Yes. } }", "", ("operation-fails", "question > turn")),
        ("- retry: { attempts: turn + signal, child: llm_turn }", "", ("operation-fails", "turn + signal")),
        (
            "- action: { call: search_code, with: { query: question, limit: \"turn + 'x'\" } }",
            "",
            ("operation-fails", "turn + 'x'"),
        ),
        ("- condition: score >= 3", "blackboard: { score: { type: int, from: delivery } }", None),
        (
            "- force_success: { sequence: [condition: tokens_used > 3, set: { score: 3 }] }\n- condition: score >= 3",
            SCORE,
            ("null-operand", "score >= 3"),
        ),
        (
            (
                "- selector: [sequence: [condition: tokens_used > 3, set: { score: 3 }], say: No.]\n"
                "- set: { score: score + 1 }\n"
                "- say: '{score}'"
            ),
            SCORE,
            ("null-operand", "score + 1"),
        ),
        (
            "- condition: turn > 1 and signal == 'needs_turn' or sources",
            "",
            ("never-equal", "signal == 'needs_turn'"),
        ),
        (
            "- condition: query_type in ['bug', 'coding'] or sources",
            "",
            ("never-equal", "query_type in ['bug', 'coding']"),
        ),
        ("- condition: sources == '3' or tokens_used > 2", "", ("never-equal", "sources == '3'")),
        ("- condition: not (confidence > 1) and sources", "", ("always-false", "confidence > 1")),
        ("- condition: turn >= 0 and sources", "", ("always-true", "turn >= 0")),
        ("- set: { hint: \"'x' if confidence < 0 else ''\" }", "", ("always-false", "confidence < 0")),
        (
            "- loop: { until: termination_reason == 'done', child: llm_turn }",
            "",
            ("never-equal", "termination_reason == 'done'"),
        ),
        (
            "- loop: { until: turn > 3 or signal == 'complete', child: llm_turn }",
            "",
            ("never-equal", "signal == 'complete'"),
        ),
        ("- set: { count: signal }\n- say: '{count}'", COUNT, ("wrong-type", "count")),
        ("- set: { count: tokens_used / 2 }\n- say: '{count}'", COUNT, None),
        ("- set: { count: \"'three'\" }\n- say: '{count}'", COUNT, ("wrong-type", "count")),
        ("- set: { hint: turn > 3 }", "", ("wrong-type", "hint")),
        ("- llm_turn: { visible: false, into: count }\n- say: '{count}'", COUNT, ("wrong-type", "count")),
        ("- action: { call: list_files, into: count }\n- say: '{count}'", COUNT, ("wrong-type", "count")),
        (
            "- for_each: { in: tools_tried, as: item, index: found, child: { say: '{item}{found}' } }",
            "blackboard: { item: any, found: { type: str, default: none } }",
            ("wrong-type", "found"),
        ),
    ],
)
def test_an_expression_that_cannot_be_meant_is_a_warning_at_its_column(steps, head, expected):
    assert found(of_steps(SPEAKS + steps, head)) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("steps", "head"),
    [
        (
            (
                "- loop:\n    child:\n"
                "      sequence: [condition: score is null or score > 3, llm_turn, set: { score: turn }]"
            ),
            SCORE,
        ),
        (
            (
                "- loop:\n    child:\n"
                "      sequence: [condition: not score or score > 3, llm_turn, set: { score: turn }]"
            ),
            SCORE,
        ),
        ("- set: { score: 1 }\n- condition: score > 3", SCORE),
        (
            ("- loop:\n    child:\n      sequence: [set: { score: turn }, llm_turn, condition: score > 3 or turn > 2]"),
            SCORE,
        ),
        (
            (
                "- force_success: { sequence: [condition: tokens_used > 3, set: { score: 3 }] }\n"
                "- selector: [condition: score is null, condition: score > 3]"
            ),
            SCORE,
        ),
        (
            (
                "- force_success: { sequence: [condition: tokens_used > 3, set: { score: 3 }] }\n"
                "- if: { when: score, then: { condition: score > 2 }, else: llm_turn }"
            ),
            SCORE,
        ),
        ("- set: { note: note.path }\n- say: '{note}'", "blackboard: { note: { type: any, default: { path: 1 } } }"),
        ("- set: { thing: turn }\n- condition: thing == 3 or thing == 'x'", "blackboard: { thing: any }"),
        ("- condition: signal != '' and confidence < 1", ""),
        ("- condition: turn > 1 and turn < turn_limit", ""),
        ("- condition: turn % 3 == 0 and turn > 0", ""),
        ("- condition: query_type in ['code', 'documentation']", ""),
        ("- condition: contains(lower(question), 'retry')", ""),
        ("- condition: confidence == 1 or confidence > 0.5", ""),
        ("- set: { hint: \"'Be brief.' if tokens_used > 0.5 * token_budget else ''\" }", ""),
        ("- set: { found: signal_reason }\n- set: { hint: found or 'nothing' }", FOUND),
        ("- set: { count: count + 1 }\n- condition: count > 0 or turn > 3", COUNT),
        ("- condition: turn > limit", "parameters: { limit: { type: int, default: 1000 } }"),
        ("- condition: mode == 'fast' or turn > 3", "parameters: { mode: { type: str, default: slow } }"),
        ("- condition: max_turns is not null and turn < max_turns", ""),
        ("- condition: max_turns is null or turn < max_turns", ""),
        ("- condition: len(tools_tried) > 2 and 'search_code' in tools_tried", ""),
        ("- action: { call: search_code, with: { query: \"question + ' ' + signal_reason\", limit: turn + 1 } }", ""),
        ("- wait: { until: sources > 2 or cancel_requested, timeout_s: 2 }", ""),
        (
            "- wait: { for: approved }\n- condition: approved == true\n- set: { approved: null }",
            "blackboard: { approved: { type: bool, from: delivery } }",
        ),
        ("- switch: { value: signal, cases: { stuck: { say: Stuck. }, need_turn: { say: More. } } }", ""),
        ("- switch: { value: confidence * 5, cases: { '2.5': { say: Half. }, '5': { say: All. } } }", ""),
    ],
)
def test_an_expression_that_can_be_meant_is_no_warning(steps, head):
    assert found(of_steps(SPEAKS + steps, head)) == []


def test_a_warning_says_what_the_operands_are():
    (warning,) = warnings_of(of_steps("- llm_turn\n- condition: tokens_used > 1 or confidence == 'high'"))
    assert warning.message == "this compares values that are never equal: 'confidence' is a number from 0 to 1"
    assert warning.hint == "compare with a value that it can have"
    assert warning.path == "sequence/condition"


def test_a_folded_expression_is_reported_where_it_begins():
    (warning,) = warnings_of(of_steps("- llm_turn\n- condition: >-\n    sources\n    or signal == 'x'"))
    assert (warning.code, warning.place.line, warning.place.column) == ("never-equal", 8, 18)
