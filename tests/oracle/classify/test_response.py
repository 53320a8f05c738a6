"""Classifying responses that have no signal."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.train_classifiers import load_labelled, response_examples, train_responses
from oracle.classify import HeuristicIntentClassifier, IntentClassifier, classify_response
from oracle.classify.types import SIGNALS
from oracle.classify.weights import probabilities

LABELLED = Path(__file__).parents[2] / "data" / "labelled"


@pytest.mark.parametrize(
    ("response", "signal"),
    [
        ("The retry limit is 3 and is set in worker/settings.py, line 12.", "context_sufficient"),
        ("I found the class. Next I'll read its tests to see how expiry is handled.", "need_turn"),
        ("I've tried five queries and every search came back empty. I don't know where else to look.", "stuck"),
        ("I would need access to the production logs, and I have no tool for that.", "need_capability"),
        ("The TTL is 60 seconds. Whether it applies to tenants too I could not determine.", "partial_answer"),
        (
            "This should be handed over to the security team, who can judge it better than I can.",
            "delegation_recommended",
        ),
    ],
)
def test_each_signal_is_recognized_in_its_plain_form(response, signal):
    assert classify_response(response).signal_type == signal


def test_the_given_responses_are_mostly_right_without_having_been_seen_in_training():
    names = ("agent_responses_fresh_dev", "agent_responses_fresh_heldout")
    weights = train_responses(
        response_examples([row for name in names for row in load_labelled(LABELLED / f"{name}.jsonl")])
    )
    rows = response_examples(load_labelled(LABELLED / "agent_responses.jsonl"))
    right = 0
    for features, label in rows:
        shares = probabilities(weights, features, SIGNALS)
        right += max(shares, key=shares.__getitem__) == label
    assert right / len(rows) >= 0.85


def test_a_closing_offer_does_not_ask_for_another_turn():
    answer = "The limit is 20 MB and stands in upload.toml. Let me know if you need more."
    assert classify_response(answer).signal_type == "context_sufficient"


@pytest.mark.parametrize("text", ["", "  \n", "...", "```\n```"])
def test_a_response_without_words_is_stuck_with_low_confidence(text):
    intent = classify_response(text)
    assert intent.signal_type == "stuck"
    assert intent.confidence < 0.5


def test_the_heuristic_implements_the_protocol():
    classifier: IntentClassifier = HeuristicIntentClassifier()
    assert classifier.name == "heuristic"
    assert classifier.classify("Done. The note was created.") == classify_response("Done. The note was created.")


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "I'll " * 9_000, "`" * 20_000, "no. " * 9_000], ids=["a", "will", "tick", "no"]
)
def test_long_responses_are_classified_in_bounded_time(text):
    classify_response("warm up")
    started = time.process_time()
    classify_response(text)
    assert time.process_time() - started < 1.0


@given(st.text(max_size=300))
def test_any_text_has_an_intent(text):
    intent = classify_response(text)
    assert intent.signal_type in SIGNALS
    assert 0.0 <= intent.confidence <= 1.0
