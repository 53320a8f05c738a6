"""How questions of other products are served by the shipped tools (decision 23)."""

import pytest

from benchmarks.bench_offers import SETS, Question, by_evidence, load_questions, score, shipped_tools


@pytest.fixture(scope="module")
def offer(tmp_path_factory):
    return by_evidence(shipped_tools(tmp_path_factory.mktemp("project")))


KEPT = {
    "questions_heldout": 1.9,
    "exam_queries": 2.1,
    "exam_offers": 2.1,
    "exam2_offers": 2.0,
    "heldout_queries": 2.4,  # made hard on purpose, so that more is in doubt
}
"""The sets that training has not seen, and how many needless groups a question of each may be offered.

A question about the project is offered code, notes and threads, so two of them are often needless.
"""


@pytest.mark.parametrize("name", KEPT)
def test_questions_of_strangers_are_offered_what_they_need_with_few_needless_groups(offer, name):
    found = score(load_questions(name), offer)
    assert found.served >= 0.98
    assert found.needless <= KEPT[name]


def test_98_of_100_questions_of_strangers_are_offered_all_that_may_help(offer):
    assert score([question for name in KEPT for question in load_questions(name)], offer).fully >= 0.98


def test_tools_that_write_are_offered_where_they_are_needed_and_seldom_else(offer):
    questions = [question for name in KEPT for question in load_questions(name)]
    wanted = [question for question in questions if "write" in question.must]
    others = [question for question in questions if "write" not in question.must | question.any_of]
    assert all("write" in offer(question.text) for question in wanted)
    assert sum("write" in offer(question.text) for question in others) / len(others) <= 0.12


def test_a_question_is_served_by_all_that_it_must_have_and_one_of_what_it_may_have():
    question = Question("?", frozenset({"web"}), frozenset({"code", "vault"}), frozenset({"write"}), "en")
    assert question.is_served(frozenset({"web", "vault"}))
    assert not question.is_served(frozenset({"code", "vault"}))
    assert not question.is_served(frozenset({"web"}))
    assert not question.is_fully_served(frozenset({"web", "vault"}))
    assert question.is_fully_served(frozenset({"web", "vault", "code"}))
    assert question.needless(frozenset({"web", "thread", "write"})) == 2


def test_no_two_sets_share_a_question():
    texts = [question.text for name in SETS for question in load_questions(name)]
    assert len(texts) == len(set(texts)) > 1_000
