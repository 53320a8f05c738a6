"""The report: what is counted, what is left out, and what is said of it."""

from dataclasses import asdict

from oracle.core.encoding import from_json, to_json
from oracle.features.shadow.command import report_lines
from oracle.features.shadow.pairs import (
    Decision,
    PairFigures,
    PairParting,
    ShadowPair,
    SideFigures,
    read_figures,
)
from oracle.features.shadow.report import MOST_PAIRS, RatingCount, report_of


def side(reason: str = "completed", *, tools: int = 1, tokens: int = 1_000) -> SideFigures:
    return SideFigures(reason, turns=tools + 1, tools=tools, tokens=tokens, model_ms=500, ms=900)


def pair(n: int, **more) -> ShadowPair:
    figures = more.pop("figures", None) or PairFigures(side(), side(tools=3, tokens=2_000), similarity=0.9)
    fields = {"tree": "oracle", "primary_control": "oracle@aaaaaa", "shadow_control": "loop", "state": "finished"}
    given = fields | {"shadow_id": f"s{n}", "figures": figures, "question": f"Question {n}?"} | more
    return ShadowPair(f"p{n}", at=1_000.0 + n, **given)


def unfinished(n: int, state, why: str = "") -> ShadowPair:
    return ShadowPair(f"p{n}", "oracle", "oracle@aaaaaa", "loop", state, 1_000.0 + n, why=why)


def test_differences_are_those_of_the_shadow_less_the_primary():
    (group,) = report_of([pair(n) for n in range(4)]).groups
    measures = {each.name: each for each in group.measures}
    assert (measures["tool_calls"].primary, measures["tool_calls"].shadow) == (1, 3)
    assert measures["tool_calls"].difference.estimate == 2
    assert measures["tokens"].relative == 1.0
    assert {each.name: each.count for each in group.agreement} == {
        "agreement": 4, "same_end": 4, "similar_answer": 4, "same_decisions": 4, "same_tools": 4,
    }  # fmt: skip


def test_runs_that_failed_are_counted_and_not_compared():
    failed = PairFigures(side(), side("error", tools=0), similarity=0.0)
    (group,) = report_of([pair(1), pair(2, figures=failed)]).groups
    assert (group.pairs, group.compared) == (2, 1)
    assert [(each.primary, each.shadow, each.count) for each in group.ends] == [
        ("completed", "completed", 1), ("completed", "error", 1),
    ]  # fmt: skip
    assert [each.primary_run_id for each in group.worst] == ["p2", "p1"]


def test_ratings_of_what_users_saw_are_counted_with_the_answers_that_are_alike():
    unlike = PairFigures(side(), side(), similarity=0.2)
    pairs = [pair(1, rating="down", figures=unlike), pair(2, rating="down"), pair(3, rating="up"), pair(4)]
    (group,) = report_of(pairs).groups
    assert group.ratings == (RatingCount("up", 1, similar=1), RatingCount("down", 2, similar=1))
    assert [(each.primary_run_id, each.rating) for each in group.worst][:2] == [("p1", "down"), ("p2", "down")]
    lines = [line.strip() for line in report_lines(report_of(pairs))]
    assert "users rated the primary's answers: 1 up (shadow alike: 1), 2 down (shadow alike: 1)" in lines
    assert "similarity 0.20, completed, rated down; the same decisions" in lines


def test_ratings_are_those_of_their_group_and_nothing_is_said_where_there_are_none():
    report = report_of([pair(3, primary_control="loop", rating="up"), pair(2), unfinished(1, "dropped", "quota")])
    assert [[each.rating for each in group.ratings] for group in report.groups] == [["up"], []]
    assert "rated" not in "\n".join(report_lines(report_of([pair(1)])))


def test_controls_and_versions_are_never_mixed():
    groups = report_of([pair(2, primary_control="oracle@bbbbbb"), pair(1)]).groups
    assert [(each.primary, each.pairs) for each in groups] == [("oracle@bbbbbb", 1), ("oracle@aaaaaa", 1)]


def test_what_was_dropped_or_failed_is_said():
    pairs = [unfinished(4, "running"), unfinished(3, "failed", "interrupted"), *(
        unfinished(n, "dropped", "quota") for n in (1, 2)
    )]  # fmt: skip
    report = report_of(pairs)
    assert (report.pairs, report.running, report.groups) == (4, 1, ())
    assert (report.dropped, report.failed) == ({"quota": 2}, {"interrupted": 1})
    head = "\n".join(report_lines(report))
    assert "4 sampled questions: 0 finished, 1 under way, 1 failed, 2 dropped" in head
    assert "dropped: 2 quota" in head


def test_there_may_be_no_pairs_and_very_many():
    assert list(report_lines(report_of([]))) == [
        "No pairs. They are recorded while a service runs with ORACLE_CONTROL=shadow."
    ]
    many = report_of([unfinished(n, "running") for n in range(MOST_PAIRS + 1)])
    assert (many.pairs, many.is_complete) == (MOST_PAIRS, False)


def test_figures_are_read_back_as_they_were_written():
    parting = PairParting(Decision(1, "calls", ("read_file",)), Decision(1, "end", reason="completed"))
    figures = PairFigures(side(), side(), 0.25, parting, answered=1, ran=2, would_call=("vault_write",))
    for each in (figures, PairFigures(side(), side(), 1.0)):
        assert read_figures().validate_python(from_json(to_json(asdict(each)))) == each


def test_where_two_runs_part_is_said_in_words():
    calls, end = Decision(2, "calls", ("read_file", "search_code")), Decision(1, "end", reason="no_progress")
    said = []
    for parting in (
        PairParting(calls, end),
        PairParting(calls, calls, same_tools=True),
        PairParting(Decision(1, "text"), calls),
        None,
    ):
        figures = PairFigures(side(), side("no_progress"), 0.1, parting)
        said += [line.strip() for line in report_lines(report_of([pair(1, figures=figures)])) if "similarity 0" in line]
    assert [line.partition("; ")[2] for line in said] == [
        "they differ from turn 2: calls read_file, search_code, shadow ends (no progress)",
        "they differ from turn 2: the same tools, with other arguments",
        "they differ from turn 1: goes on without a call, shadow calls read_file, search_code",
        "the same decisions",
    ]
