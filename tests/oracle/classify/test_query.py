"""Classifying queries: the specification's examples, the labelled sets, follow-ups, and hostile text."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.classify import QueryClassification, classify_query
from oracle.classify.training import load_labelled, query_examples, train_queries
from oracle.classify.types import QUERY_TYPES
from oracle.classify.weights import probabilities

LABELLED = Path(__file__).parents[2] / "data" / "labelled"
SETS = ("queries", "queries_fresh_dev", "queries_fresh_heldout")


def share_right(name, classify):
    labelled = load_labelled(LABELLED / f"{name}.jsonl")
    return sum(classify(text) == label for text, label in labelled) / len(labelled)


@pytest.mark.parametrize(
    ("query", "query_type"),
    [
        ("What's the weather in Paris?", "research"),
        ("How does the auth middleware work?", "code"),
        ("What did we decide about caching?", "documentation"),
        ("Thanks, that helps!", "conversational"),
        ("How are mistakes in a tree file reported?", "code"),
        ("Create a note about today's meeting", "action"),
    ],
)
def test_the_examples_of_the_specification_get_their_types(query, query_type):
    assert classify_query(query).query_type == query_type


@pytest.mark.parametrize(
    ("query", "query_type"),
    [
        ("Look up the newest Redis release and put it into the upgrade note", "action"),
        ("Why does delete_note fail on Windows?", "code"),
        ("When was the note on backups deleted?", "documentation"),
        ("Write a unit test for the slug helper", "code"),
        ("Which version of Django do we pin?", "code"),
        ("What is the latest version of Django?", "research"),
        ("Why did we choose Redis?", "documentation"),
        ("Is our release process in line with what other companies do?", "research"),
        ("Thanks! Where is the logger set up?", "code"),
        ("yes, delete the note", "action"),
        ("commit and push", "action"),
        ("Thanks for adding the page", "conversational"),
    ],
)
def test_the_precedence_rules_hold(query, query_type):
    assert classify_query(query).query_type == query_type


@pytest.mark.parametrize("name", [*SETS, "final_queries"])
def test_nine_of_ten_queries_of_each_labelled_set_are_right(name):
    assert share_right(name, lambda text: classify_query(text).query_type) >= 0.9


def test_nine_of_ten_queries_are_right_that_training_has_not_seen():
    fresh = [row for name in SETS[1:] for row in load_labelled(LABELLED / f"{name}.jsonl")]
    weights = train_queries(query_examples(fresh))
    rows = query_examples(load_labelled(LABELLED / "queries.jsonl"))
    right = 0
    for features, label in rows:
        shares = probabilities(weights, features, QUERY_TYPES)
        right += max(shares, key=shares.__getitem__) == label
    assert right / len(rows) >= 0.9  # 020 SC-001


def test_needs_follow_from_the_type():
    assert classify_query("Where is the JWT check in auth/tokens.py?").needs_code
    assert classify_query("What did we decide about caching?").needs_vault
    assert classify_query("What's the weather in Paris?").needs_web
    thanks = classify_query("Thanks, that helps!")
    assert (thanks.needs_code, thanks.needs_vault, thanks.needs_web) == (False, False, False)
    write = classify_query("Create a note about today's meeting")
    assert (write.needs_code, write.needs_vault, write.needs_web) == (False, True, False)


def test_below_the_confidence_limit_the_second_type_is_needed_too():
    unsure = QueryClassification.of("code", confidence=0.59, second_type="research")
    assert (unsure.needs_code, unsure.needs_web) == (True, True)
    sure = QueryClassification.of("code", confidence=0.6, second_type="research")
    assert (sure.needs_code, sure.needs_web) == (True, False)


@pytest.mark.parametrize(
    "follow_up", ["and the other one?", "yes, please", "why?", "sounds good, go ahead", "continue"]
)
def test_a_bare_follow_up_inherits_the_type_before_it(follow_up):
    previous = classify_query("How does the auth middleware work?")
    inherited = classify_query(follow_up, previous=previous)
    assert inherited.query_type == "code"
    assert inherited.needs_code
    assert classify_query(follow_up).query_type == "conversational"


@pytest.mark.parametrize(
    "talk", ["Thanks, that helps!", "Good morning!", "shorter, please", "who are you?", "no thanks"]
)
def test_chat_that_is_not_a_follow_up_stays_conversational(talk):
    previous = classify_query("How does the auth middleware work?")
    assert classify_query(talk, previous=previous).query_type == "conversational"


def test_a_follow_up_that_names_its_subject_takes_the_subjects_type():
    previous = classify_query("What's the weather in Paris?")
    query = "And where is the scheduler's retry limit set in our code?"
    assert classify_query(query, previous=previous).query_type == "code"


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b\u200b", "...", "\x00\x01"])
def test_text_without_words_is_conversational(text):
    assert classify_query(text).query_type == "conversational"


@pytest.mark.parametrize(
    ("plain", "disguised"),
    [
        ("What did we decide about caching?", "WHAT DID WE DECIDE ABOUT CACHING"),
        ("What's the weather in Paris?", "whats the weather in paris"),
        ("What's the weather in Paris?", "What\u2019s the weath\u200ber in Paris \u2600\ufe0f?"),
        ("Create a note about the demo", "crete a note abuot the demo"),
        ("What did we decide about caching?", "\uff37hat did we decide about caching?"),
    ],
)
def test_case_spelling_and_invisible_characters_change_nothing(plain, disguised):
    assert classify_query(disguised).query_type == classify_query(plain).query_type


def test_a_request_around_pasted_code_is_recognized():
    code = "\n".join(f"    value_{number} = compute({number})" for number in range(900))
    assert classify_query(f"Why does this raise?\n```\n{code}\n```").query_type == "code"
    assert classify_query(f"Save this snippet as a note called Values:\n```\n{code}\n```").query_type == "action"


def test_matched_keywords_are_listed_strongest_first():
    assert "weather" in classify_query("What's the weather in Paris?").keywords_matched
    assert (
        len(classify_query(" ".join(["note page thread roadmap glossary adr runbook meeting"] * 9)).keywords_matched)
        <= 8
    )


HOSTILE = [
    "a" * 20_000,
    "a_" * 10_000,
    "aA" * 10_000,
    "a." * 10_000,
    "a/" * 10_000,
    "`" * 20_000,
    '"' * 20_000,
    "(" * 20_000,
    "-" * 20_000,
    "a, " * 6_000,
    "did we " * 3_000,
    "create a note and " * 1_200,
    "thanks for " * 2_000,
    "at x (y " * 2_500,
    "\n" * 20_000,
    "\ufdfa" * 20_000,
    "\U0001f600" * 10_000,
    "\ud800" * 100,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:8]))
def test_hostile_text_is_classified_in_bounded_time(text):
    classify_query("warm up")
    started = time.perf_counter()
    classification = classify_query(text)
    assert time.perf_counter() - started < 1.0  # milliseconds in fact; a backtracking pattern would take minutes
    assert classification.query_type in QUERY_TYPES


@settings(max_examples=settings().max_examples * 3 // 2)
@given(st.text(max_size=400))
def test_any_text_has_a_classification_with_a_confidence_between_zero_and_one(text):
    classification = classify_query(text)
    assert classification.query_type in QUERY_TYPES
    assert 0.0 <= classification.confidence <= 1.0
    assert classification == classify_query(text)


def test_the_labelled_sets_do_not_share_queries():
    texts = [
        json.loads(line)["query"] for name in SETS for line in (LABELLED / f"{name}.jsonl").read_text().splitlines()
    ]
    assert len(set(texts)) == len(texts)
