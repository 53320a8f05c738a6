"""What counts as needed, as complete and as lost."""

import pytest

from benchmarks.habits.scores import Score, needed_calls, score
from benchmarks.habits.summary import loss_of, summary
from benchmarks.habits.tasks import Fact, Question
from benchmarks.habits.world import Ran

FACT = Fact("limit", "LIMIT = 7", ("code:src/limits.py",), ("limit",))
OTHER = Fact("owner", "Amara", ("vault:people.md",), ("owner",))
ABSENT = Fact("kafka", "found nothing about Kafka", ("vault:", "thread:"), ("Kafka",), exists=False)


def ran(text: str, *, turn: int = 1, tool: str = "search_code", group: str = "code") -> Ran:
    return Ran(turn, tool, group, {"query": "limit"}, text, is_error=False)


CALLS = {
    "a fact": ([FACT], [ran("LIMIT = 7")], [True]),
    "the same fact again": ([FACT], [ran("LIMIT = 7"), ran("LIMIT = 7")], [True, False]),
    "nothing": ([FACT], [ran("Nothing matches.")], [False]),
    "its source, then the fact": ([FACT], [ran("src/limits.py:1"), ran("LIMIT = 7")], [True, True]),
    "its source twice": ([FACT], [ran("src/limits.py:1"), ran("src/limits.py:2")], [True, False]),
    "its source, after the fact": ([FACT], [ran("LIMIT = 7"), ran("src/limits.py:1")], [True, False]),
    "another fact": ([FACT, OTHER], [ran("LIMIT = 7"), ran("Amara")], [True, True]),
    "the first look for what is nowhere": (
        [ABSENT],
        [ran("-", tool="vault_search", group="vault"), ran("-"), ran("-", tool="vault_search", group="vault")],
        [True, False, False],
    ),
}


@pytest.mark.parametrize(("facts", "calls", "needed"), CALLS.values(), ids=CALLS)
def test_a_call_is_needed_if_it_brings_something_that_was_missing(facts, calls, needed) -> None:
    assert needed_calls(facts, calls) == needed


def test_what_the_conversation_knew_already_makes_no_call_needed() -> None:
    assert needed_calls([FACT], [ran("LIMIT = 7")], earlier="It is LIMIT = 7.") == [False]


def judged(calls, said, *, reason: str = "completed", made: int | None = None) -> Score:
    made = len(calls) if made is None else made
    return score(Question("?", (FACT, OTHER)), calls, said, earlier="", made=made, tokens=100, reason=reason)


def test_the_costs_of_a_query() -> None:
    calls = [ran("LIMIT = 7"), ran("-", turn=2), ran("Amara", turn=3)]
    found = judged(calls, ["", "", "", "Hm.", "LIMIT = 7, Amara"], made=5)
    assert (found.calls, found.unneeded_calls, found.refused_calls) == (3, 1, 2)
    assert (found.turns, found.unneeded_turns) == (5, 2)
    assert found.is_complete
    assert found.wasted == ("search_code(limit)",)


def test_an_answer_that_nothing_has_shown_is_right_by_luck_and_not_complete() -> None:
    found = judged([ran("LIMIT = 7")], ["", "LIMIT = 7, Amara"])
    assert (found.facts_said, found.facts) == (1, 2)


WHOLE = judged([ran("LIMIT = 7 Amara")], ["", "LIMIT = 7, Amara"])
HALF = [ran("LIMIT = 7")], ["", "LIMIT = 7"]
LOSSES = {
    "complete": (WHOLE, None),
    "ended as no progress": (judged(*HALF, reason="no_progress"), "detection"),
    "ended as stuck": (judged(*HALF, reason="stuck"), "detection"),
    "ended by the user's limit": (judged(*HALF, reason="max_iterations"), "limits"),
    "answered too soon": (judged(*HALF), "short"),
}


@pytest.mark.parametrize(("now", "loss"), LOSSES.values(), ids=LOSSES)
def test_how_an_answer_was_lost(now, loss) -> None:
    assert loss_of(now, WHOLE) == loss
    assert loss_of(now, judged(*HALF)) is None


def test_the_figures_of_known_scores() -> None:
    before = Score(
        calls=10, unneeded_calls=8, turns=12, unneeded_turns=10, facts=1, facts_said=1, reasons=("completed",)
    )
    now = Score(calls=4, unneeded_calls=2, turns=5, unneeded_turns=3, facts=1, facts_said=1, reasons=("completed",))
    ended = Score(calls=2, unneeded_calls=2, turns=15, unneeded_turns=7, facts=1, reasons=("max_iterations",))
    found = summary([(now, before), (ended, before)])
    assert found.fewer_calls is not None
    assert found.fewer_turns is not None
    assert found.fewer_calls_of_whole is not None
    assert (found.fewer_calls.value, found.fewer_turns.value, found.fewer_calls_of_whole.value) == (0.75, 0.5, 0.75)
    assert (found.within_budget.value, found.complete.value) == (0.5, 0.5)
    assert found.lost == {"detection": 0, "limits": 1, "short": 0}
    assert found.fewer_turns.low == pytest.approx(0.3)
    assert found.fewer_turns.high == pytest.approx(0.7)


def test_scores_of_two_questions_add_up() -> None:
    both = WHOLE + judged(*HALF, reason="stuck")
    assert (both.facts, both.facts_said, both.reasons) == (4, 3, ("completed", "stuck"))
