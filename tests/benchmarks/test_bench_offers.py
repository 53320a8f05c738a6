"""How questions of other products are served by the shipped tools (decision 23)."""

import pytest

from benchmarks.bench_offers import Question, by_evidence, load_questions, score, shipped_tools


@pytest.fixture(scope="module")
def offer(tmp_path_factory):
    return by_evidence(shipped_tools(tmp_path_factory.mktemp("project")))


@pytest.mark.parametrize("name", ["questions", "questions_heldout"])
def test_97_of_100_questions_are_offered_what_they_need_with_few_needless_groups(offer, name):
    found = score(load_questions(name), offer)
    assert found.served >= 0.97
    assert found.needless <= 0.8
    assert found.forbidden <= 0.1


def test_a_question_is_served_by_all_that_it_must_have_and_one_of_what_it_may_have():
    question = Question("?", frozenset({"web"}), frozenset({"code", "vault"}), frozenset({"write"}), "en")
    assert question.is_served(frozenset({"web", "vault"}))
    assert not question.is_served(frozenset({"code", "vault"}))
    assert not question.is_served(frozenset({"web"}))
    assert not question.is_fully_served(frozenset({"web", "vault"}))
    assert question.is_fully_served(frozenset({"web", "vault", "code"}))
    assert question.needless(frozenset({"web", "thread", "write"})) == 2


def test_the_two_sets_share_no_question():
    given, other = (load_questions(name) for name in ("questions", "questions_heldout"))
    assert not {question.text for question in given} & {question.text for question in other}
    assert len(given) == 120
    assert len(other) >= 60
