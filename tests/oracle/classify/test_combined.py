"""Rules and encoder together."""

import pytest

from oracle.classify import (
    QueryClassification,
    classify_query,
    classify_query_with,
    classify_response,
    classify_response_with,
    query_shares,
    response_shares,
)
from oracle.classify.pooling import exponents, is_english, pooled
from oracle.domains.code.weights import QUERY_TYPES

QUESTION = "Does Safari support the View Transitions API?"


def sure_of(label, labels):
    return {each: 0.96 if each == label else 0.04 / (len(labels) - 1) for each in labels}


def test_without_an_encoder_the_rules_decide_alone():
    assert classify_query_with(QUESTION, None) == classify_query(QUESTION)
    assert classify_response_with("It is in a.py.", None) == classify_response("It is in a.py.")


def test_the_pool_adds_up_to_1_and_lies_between_both():
    rules, encoded = query_shares(QUESTION), sure_of("research", QUERY_TYPES)
    pool = pooled(rules, encoded, 0.9, 0.8)
    assert sum(pool.values()) == pytest.approx(1)
    assert pool["research"] > rules["research"]


def test_where_both_agree_it_is_surer_than_each():
    rules = {"code": 0.7, "research": 0.3}
    assert pooled(rules, rules, 1, 1)["code"] > 0.7


def test_no_side_is_beyond_doubt():
    pool = pooled({"code": 1.0, "research": 0.0}, {"code": 0.0, "research": 1.0}, a=1, b=1)
    assert pool == pytest.approx({"code": 0.5, "research": 0.5})


@pytest.mark.parametrize("query_type", QUERY_TYPES)
def test_an_encoder_that_is_sure_decides_where_the_rules_are_not(query_type):
    found = classify_query_with("Frobnicate the quux", sure_of(query_type, QUERY_TYPES))
    assert query_type in found.types


def test_a_bare_follow_up_inherits_its_type_all_the_same():
    before = QueryClassification.of("code", confidence=0.9)
    encoded = sure_of("conversational", QUERY_TYPES)
    assert classify_query_with("and the other one?", encoded, previous=before).query_type == "code"


def test_a_text_without_words_is_as_the_rules_have_it():
    assert classify_query_with("...", sure_of("code", QUERY_TYPES)).query_type == "conversational"
    labels = tuple(response_shares("x"))
    assert classify_response_with("...", sure_of("need_turn", labels)) == classify_response("...")


def test_the_encoder_changes_how_a_response_reads():
    text = "Five of six."
    labels = tuple(response_shares(text))
    assert classify_response_with(text, sure_of("partial_answer", labels)).signal_type == "partial_answer"


@pytest.mark.parametrize("kind", ["query", "intent"])
def test_the_encoder_counts_less_in_other_languages(kind):
    rules, encoder = exponents(kind, is_english=False)
    assert 0 < encoder < rules / 2
    assert encoder < exponents(kind, is_english=True)[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the retry limit?", True),
        ("THANKS", True),
        ("Wo ist das Limit?", False),
        ("ありがとう", False),
        ("", False),
    ],
)
def test_a_common_english_word_tells_the_language(text, expected):
    assert is_english(text) is expected
