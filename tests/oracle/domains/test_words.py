"""Questions of a domain, told apart by its words and examples."""

import pytest

from oracle.classify.types import QueryClassification
from oracle.core.sources import QueryTypes
from oracle.domains.words import WordClassifier

TYPES = QueryTypes({"order": ("orders",), "refund": ("orders", "write"), "product": ("products",), "chat": ()})
WORDS = {
    "order": {"parcel": 1.0, "where is": 1.0},
    "refund": {"refund": 2.0, "money back": 3.0},
    "product": {"stock": 1.0},
    "chat": {"hello": 2.0, "thanks": 2.0, "who are you": 2.0},
}
EXAMPLES = {
    "order": ["Where is my order 1042?", "When does my parcel arrive?", "Track order 7"],
    "refund": ["I want my money back for order 7", "Please refund order 1042"],
    "product": ["Do you have a desk lamp in stock?", "How much is the oak table?"],
    "chat": ["Thanks a lot, that helped"],
}


@pytest.fixture(scope="module")
def classifier():
    return WordClassifier(TYPES, WORDS, EXAMPLES)


@pytest.mark.parametrize(
    ("question", "query_type", "sources"),
    [
        ("Where's the parcel that I ordered?", "order", ("orders",)),
        ("I'd like a refund", "refund", ("orders", "write")),
        ("can I get my MONEY BACK", "refund", ("orders", "write")),
        ("Is the oak table in stock", "product", ("products",)),
        ("Who are you?", "chat", ()),
        ("Thanks!", "chat", ()),
    ],
)
def test_words_phrases_and_forms_of_words_tell_the_type_and_what_it_needs(classifier, question, query_type, sources):
    found = classifier.classify_query_with(question)
    assert (found.query_type, found.sources) == (query_type, sources)
    assert found.confidence >= 0.6
    assert found.keywords_matched


@pytest.mark.parametrize("question", ["What is the capital of France?", "", "?!", "1042", "\0\ud800", "x" * 50_000])
def test_without_a_known_word_nothing_is_sure_and_all_that_reads_is_offered(classifier, question):
    found = classifier.classify_query_with(question)
    assert (found.query_type, found.confidence, found.second_type) == ("order", 0.25, None)
    assert found.sources == ("orders", "products")
    assert classifier.sources_spoken_of(question) == frozenset()


def test_weak_evidence_offers_what_the_second_type_needs_too(classifier):
    found = classifier.classify_query_with("Is the lamp of my order in the warehouse?")
    assert {"orders", "products"} <= set(found.sources)
    assert found.second_type is not None


@pytest.mark.parametrize("question", ["and the other one?", "Yes, please", "what about it?"])
def test_a_follow_up_has_the_type_of_the_question_before_and_all_that_was_offered(classifier, question):
    before = classifier.classify_query_with("Please refund order 1042")
    found = classifier.classify_query_with(question, previous=before)
    assert found.query_type == "refund"
    assert found.confidence <= 0.7
    assert "write" in found.sources
    assert classifier.classify_query_with("no, stop", previous=before).query_type == "order"
    assert classifier.classify_query_with("Thanks!", previous=before).query_type == "chat"


def test_what_a_model_lacks_is_placed_by_the_same_words(classifier):
    assert classifier.sources_spoken_of("access to the orders of this customer, for a refund") == {"orders"}


def test_each_example_is_judged_by_the_others(classifier):
    judged = list(classifier.judged())
    assert [text for _, text, _ in judged] == [text for texts in EXAMPLES.values() for text in texts]
    lonely = next(shares for _, text, shares in judged if text == "How much is the oak table?")
    assert max(lonely.values()) < 0.6, "no other example has one of its words"


def test_the_same_words_have_the_same_classification_in_another_process_and_order(classifier):
    other = WordClassifier(TYPES, {name: dict(reversed(words.items())) for name, words in WORDS.items()}, EXAMPLES)
    text = "Where is the refund for the lamp of order 7, and is the table in stock?"
    assert other.classify_query_with(text) == classifier.classify_query_with(text)


def test_a_classification_of_another_domain_keeps_what_it_needs():
    found = QueryClassification.of("refund", confidence=1.0, types=TYPES, sources=["write", "letters"])
    assert found.sources == ("write", "letters")
    assert found.needs_write
    assert not found.needs_code
