"""What is shown of a run: its rows, marks, values and reasons, as data."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.model import (
    ClauseFacts,
    EvaluationFacts,
    FigureFacts,
    NodeFacts,
    OperandFacts,
    RowFacts,
    SignalFacts,
    TickFacts,
    TreeFacts,
    TurnFacts,
    VisitFacts,
)
from oracle.replay.histories.naming import shown_value
from oracle.replay.histories.steps import steps_of
from oracle.replay.histories.view import MOST_ROWS, Marks, source_rows, with_verdict
from tests.oracle.cli.histories_made import stuck_once


@cache
def tree() -> TreeFacts:
    found = stuck_once().tree
    assert found is not None
    return found


def row_at(file: str, line: int) -> tuple[int, RowFacts]:
    return next((at, row) for at, row in enumerate(tree().rows) if (row.file, row.line) == (file, line))


# Rows


def test_every_node_begins_on_one_row_in_its_own_line():
    shown = tree()
    for node in shown.nodes:
        rows = [row for row in shown.rows if node.index in row.nodes]
        assert [(row.file, row.line, row.kind) for row in rows] == [(node.file, node.line, "node")]


def test_the_file_of_a_subtree_stands_behind_the_line_that_includes_it():
    rows = tree().rows
    at, include = row_at("oracle.yaml", 43)
    assert (rows[at + 1].file, rows[at + 1].line, rows[at + 1].includes) == ("follow_signal.yaml", 1, 1)
    assert rows[include.last].file == "follow_signal.yaml"
    after = rows[include.last + 1]
    assert (after.file, after.line, after.includes) == ("oracle.yaml", 44, 0)


def test_a_node_ends_with_its_last_line_its_settings_and_children_among_them():
    shown = tree()
    named = next(node for node in shown.nodes if node.name == "other_strategy")
    last = shown.rows[next(row for row in shown.rows if named.index in row.nodes).last]
    assert (last.file, last.line) == ("fallback.yaml", 34)
    at, grant = row_at("fallback.yaml", 30)
    assert grant.last - at == 4
    assert (shown.rows[at + 1].kind, shown.rows[at + 1].owner) == ("setting", grant.nodes[0])


def test_a_comment_between_children_belongs_to_their_parent():
    comment, selector = row_at("fallback.yaml", 35)[1], row_at("fallback.yaml", 19)[1]
    assert (comment.kind, comment.owner) == ("comment", selector.nodes[0])


def test_a_row_has_all_nodes_of_its_line():
    nodes = row_at("use_tools.yaml", 20)[1].nodes
    assert [tree().nodes[node].kind for node in nodes] == ["sequence", "turn_budget", "token_budget", "run_tools"]


def test_what_stands_before_the_root_is_folded_and_said():
    assert row_at("oracle.yaml", 7)[1].summary == "7 lines: description, blackboard"


def test_a_subtree_is_indented_from_the_line_that_includes_it():
    include = row_at("oracle.yaml", 43)[1]
    assert row_at("follow_signal.yaml", 7)[1].offset == include.offset
    assert row_at("follow_signal.yaml", 9)[1].offset == include.offset + 2


@pytest.mark.long("builds a view of the greatest size")
def test_a_file_that_is_included_again_and_again_has_a_bounded_number_of_rows():
    nodes = [node(0, None, kind="sequence", file="a.yaml", line=1)]
    for at in range(1, 801, 2):
        nodes += [node(at, 0, kind="subtree", file="a.yaml", line=at + 1), node(at + 1, at, file="b.yaml", line=1)]
    files = {"a.yaml": "\n".join(["root:"] + ["  - subtree: b"] * 900), "b.yaml": "root:\n" + "# a comment\n" * 900}
    assert len(source_rows(nodes, files)) == MOST_ROWS


@pytest.mark.parametrize("text", ["", "root:\n", "\x00\n\n", "- a\n- b"], ids=["none", "short", "control", "lists"])
def test_a_text_that_is_shorter_than_its_nodes_say_is_laid_out_all_the_same(text):
    rows = source_rows([node(0, None, file="a.yaml", line=7), node(1, 0, file="a.yaml", line=9)], {"a.yaml": text})
    assert all(at <= row.last < len(rows) for at, row in enumerate(rows))


# Marks


def test_marks_say_what_each_node_did_in_a_tick():
    nodes = [node(0, None), node(1, 0, slot="guards"), node(2, 0), node(3, 0), node(4, 0)]
    marks = Marks(nodes)
    first = [(0, "RUNNING"), (1, "SUCCESS"), (2, "FAILURE"), (3, "RUNNING")]
    assert marks.take(tick(1, visited=(0, 1, 2, 3), changes=first)) == ">o->"
    assert marks.take(tick(2, visited=(0, 4), changes=[(4, "SUCCESS")])) == ">..=+"
    stopped = [(3, "INVALID"), (0, "SUCCESS")]
    assert marks.take(tick(3, visited=(0,), changes=stopped, errors=(("n4", "boom"),))) == "+../!"
    assert marks.take(tick(4)) == ""


def test_the_marks_of_a_recorded_run_agree_with_its_changes():
    history = stuck_once()
    for each in history.ticks:
        asked = {at for at, code in enumerate(each.marks) if code not in "./="}
        assert asked == set(each.visited)


# Values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234, "1,234"),
        (0.123456, "0.123"),
        (1234567.5, "1,234,567.5"),
        (2.0, "2"),
        (True, "true"),
        (None, "null"),
        ("stuck", '"stuck"'),
        (["a", 1], '["a",1]'),
        ("…", "…"),
        ("x" * 100, '"' + "x" * 38 + "…"),
    ],
)
def test_values_are_shown_as_people_read_them(value, shown):
    assert shown_value(value, 40) == shown


@pytest.mark.parametrize(
    ("setting", "value", "error", "verdict", "tone"),
    [
        ("when", 3, "", "yes", "yes"),
        ("when", [], "", "no", "no"),
        ("until", True, "", "stops", "no"),
        ("until", False, "", "goes on", "none"),
        ("values.n", 12000, "", "12,000", "none"),
        ("when", None, "null > 1", "error", "error"),
    ],
)
def test_an_evaluation_says_what_came_of_it(setting, value, error, verdict, tone):
    found = with_verdict(EvaluationFacts("n", setting, 1, 1, value, error, (), (OperandFacts("n", value, (0,)),)))
    assert (found.verdict, found.tone) == (verdict, tone)


def test_clauses_have_tones_and_operands_texts():
    clauses = (ClauseFacts(0, 5, True, True), ClauseFacts(9, 10, False), ClauseFacts(0, 10, True, None))
    made = EvaluationFacts("a < 1 or b", "when", 1, 1, None, "b", clauses, (OperandFacts("a", 1234, (0,)),))
    found = with_verdict(made)
    assert [clause.tone for clause in found.clauses] == ["yes", "none", "error"]
    assert found.operands[0].text == "1,234"


# Why

NODES: list[dict[str, Any]] = [
    {"parent": None, "kind": "loop", "category": "composite", "name": "turns"},
    {"parent": 0, "kind": "turn_budget", "category": "guard", "slot": "guards"},
    {"parent": 0, "kind": "sequence", "category": "composite"},
    {"parent": 2, "kind": "llm_turn"},
    {"parent": 2, "kind": "selector", "category": "composite", "name": "after_turn"},
    {"parent": 4, "kind": "subtree", "category": "decorator", "title": "use_tools"},
    {"parent": 5, "kind": "condition", "category": "condition"},
    {"parent": 4, "kind": "sequence", "category": "composite", "name": "in_doubt"},
    {"parent": 7, "kind": "condition", "category": "condition"},
    {"parent": 7, "kind": "grant_turn"},
]


def node(index: int, parent: int | None, **facts: Any) -> NodeFacts:
    whole = {"kind": "say", "category": "action", "name": None, "slot": "", "file": "oracle.yaml", "line": 10 + index}
    whole |= facts
    title = whole.pop("title", "") or whole["name"] or whole["kind"]
    return NodeFacts(
        index,
        f"n{index}",
        whole["kind"],
        whole["category"],
        whole["name"],
        parent,
        whole["slot"],
        whole["kind"],
        whole["file"],
        whole["line"],
        1,
        title=title,
    )


def nodes_of(sketches: list[dict[str, Any]]) -> list[NodeFacts]:
    return [node(at, **sketch) for at, sketch in enumerate(sketches)]


def tick(number: int, **facts: Any) -> TickFacts:
    whole: dict[str, Any] = {"visited": (), "changes": (), "writes": (), "errors": (), **facts}
    return TickFacts(number, number, 1, 1, "outcome", (), (), **whole)


def visit(index: int, parent: int | None, status: Any, decider: int | None = None, **facts: Any) -> VisitFacts:
    return VisitFacts(index, status, parent, decider, **facts)


def sentences(
    visits: list[VisitFacts], decision: int | None, *, nodes: Any = None, turns: list[TurnFacts] | None = None
) -> list[str]:
    found = steps_of(nodes or nodes_of(NODES), tick(1, visits=tuple(visits)), decision, turns or [])
    return [
        "".join(f"`{piece.text}`" if piece.kind == "code" else piece.text for piece in step.pieces) for step in found
    ]


def judged(text: str, value: Any, *clauses: tuple[str, bool, Any], error: str = "") -> EvaluationFacts:
    spans = [(text.index(part), part, asked, found) for part, asked, found in clauses]
    facts = tuple(ClauseFacts(start, start + len(part), asked, found) for start, part, asked, found in spans)
    return EvaluationFacts(text, "when", 1, 1, value, error, facts, ())


GUARDED = [
    visit(0, None, "RUNNING", 2),
    visit(1, 0, "SUCCESS", text="4 of 10 turns", figures=(FigureFacts("turns", 4, 10),)),
    visit(2, 0, "SUCCESS", 4),
    visit(3, 2, "SUCCESS", sentence="Turn 5 says it is stuck."),
    visit(4, 2, "SUCCESS", 7),
]
NO_TOOLS = [visit(5, 4, "FAILURE", 6), visit(6, 5, "FAILURE", text="tool_calls 0 → no")]
STUCK = judged(
    'signal == "stuck" or same_reason >= 3', True, ('signal == "stuck"', True, True), ("same_reason >= 3", False, None)
)
GRANTED = [
    visit(7, 4, "SUCCESS", 9),
    visit(8, 7, "SUCCESS", evaluations=(STUCK,)),
    visit(9, 7, "SUCCESS", sentence="One more turn is granted: 6 of 10."),
]
ENDED = TurnFacts(5, 3, 1, 1, 8, 9.63, signal=SignalFacts("stuck", 0.72))


def test_each_step_is_a_sentence_in_the_words_of_the_tree():
    assert sentences([*GUARDED, *NO_TOOLS, *GRANTED], 9, turns=[ENDED]) == [
        "turns goes on: no guard trips. 4 of 10 turns.",
        "llm_turn ended after 1.63 s: turn 5 says it is stuck, 0.72 sure.",
        "use_tools says no: `tool_calls 0`.",
        'in_doubt: `signal == "stuck"` is true.',
        "grant_turn decided: one more turn is granted: 6 of 10.",
    ]


def test_each_step_leads_to_its_line_that_of_the_condition_where_one_was_true():
    found = steps_of(nodes_of(NODES), tick(1, visits=(*GUARDED, *NO_TOOLS, *GRANTED)), 9, [ENDED])
    assert [step.node for step in found] == [0, 3, 5, 8, 9]
    assert [step.decides for step in found] == [False, False, False, False, True]


def test_a_step_names_the_two_guards_that_are_nearest_to_their_limits():
    guards = [{"parent": 0, "kind": "guard", "category": "guard", "slot": "guards"}] * 3
    nodes = nodes_of([NODES[0], *guards, {"parent": 0}])
    said = [("4 of 10 turns", 4, 10), ("1 of 120 s", 1, 120), ("9,000 of 50,000 tokens", 9_000, 50_000)]
    visits = [visit(0, None, "RUNNING", 4)]
    for at, (text, value, limit) in enumerate(said, 1):
        visits.append(visit(at, 0, "SUCCESS", text=text, figures=(FigureFacts("", value, limit),)))
    visits.append(visit(4, 0, "SUCCESS"))
    assert sentences(visits, 4, nodes=nodes)[0] == (
        "turns goes on: no guard trips. 4 of 10 turns, 9,000 of 50,000 tokens."
    )


def test_a_node_error_has_its_own_step_and_so_has_the_branch_that_was_left_because_of_it():
    failed = judged("risk > 0.7", None, error="null > 0.7 compares neither two numbers nor two texts.")
    visits = [
        *GUARDED[:3],
        visit(4, 2, "SUCCESS", 5),
        visit(7, 4, "FAILURE", 8),
        visit(8, 7, "FAILURE", errors=("ExpressionError: null > 0.7",), evaluations=(failed,)),
        visit(5, 4, "SUCCESS", sentence="The tree use_tools said yes."),
    ]
    assert sentences(visits, 5)[1:] == [
        "in_doubt: `risk > 0.7` failed. null > 0.7 compares neither two numbers nor two texts.",
        "An error counts as “no”: in_doubt was left because of it, not by its conditions.",
        "use_tools decided: the tree use_tools said yes.",
    ]


def test_an_error_beside_the_way_is_not_left_out():
    visits = [visit(0, None, "FAILURE"), visit(1, 0, "FAILURE", errors=("ValueError: boom.",))]
    assert sentences(visits, 0) == [
        "turns decided: no.",
        "turn_budget: it raised an error, which counts as no: ValueError: boom.",
    ]


def test_many_branches_that_said_no_share_a_step():
    names = [{"parent": 0, "name": name} for name in "abcde"]
    nodes = nodes_of([{"parent": None, "kind": "selector", "category": "composite", "name": "topics"}, *names])
    visits = [
        visit(each.index, each.parent, "SUCCESS" if each.name in ("e", "topics") else "FAILURE") for each in nodes
    ]
    assert sentences(visits, 5, nodes=nodes) == ["a, b, c and 1 more say no.", "e decided: yes."]


def test_a_reason_that_says_no_itself_does_not_say_it_twice():
    names = [{"parent": 0, "name": name} for name in ("first", "second")]
    nodes = nodes_of([{"parent": None, "kind": "selector", "category": "composite", "name": "strategies"}, *names])
    visits = [
        visit(0, None, "SUCCESS"),
        visit(1, 0, "FAILURE", text="no: failed_tools is empty"),
        visit(2, 0, "SUCCESS"),
    ]
    assert sentences(visits, 2, nodes=nodes) == ["first says no: `failed_tools is empty`.", "second decided: yes."]


@pytest.mark.parametrize(
    ("visits", "decision"),
    [(GUARDED, None), ([], 9), ([visit(7, 7, "SUCCESS")], 7), ([visit(7, 8, "SUCCESS"), visit(8, 7, "SUCCESS")], 7)],
    ids=["no decision", "no visits", "its own parent", "a circle"],
)
def test_there_are_no_steps_without_a_way_from_the_root(visits, decision):
    assert sentences(visits, decision) == []


# The end, and what others have exported


def test_the_tick_that_decided_the_end_has_the_headline_and_the_steps_of_the_end():
    history = stuck_once()
    end = history.end
    assert end is not None
    decided = next(each for each in history.ticks if each.tick == end.tick)
    assert end.sentence in end.headline
    steps = end.why or decided.why
    assert [step.node for step in steps if step.decides] == [end.node]


def test_what_a_file_says_of_the_view_is_made_anew():
    history = stuck_once()
    assert history.tree is not None
    data = json.loads(history_to_json(history))
    data["tree"]["rows"] = [{"file": "x", "line": 1, "kind": "node", "nodes": [10_000]}]
    for each in data["ticks"]:
        each["marks"], each["why"] = "?", [{"node": 10_000, "pieces": [], "decides": True}]
    assert history_from_json(json.dumps(data)) == history


def test_a_history_of_an_earlier_version_gets_its_view():
    history = stuck_once()
    assert history.tree is not None
    data = json.loads(history_to_json(history))
    del data["tree"]["rows"]
    for each in data["ticks"]:
        del each["marks"], each["why"]
    assert history_from_json(json.dumps(data)) == history
    assert replace(history.tree, rows=()) != history.tree
