"""The word lists and the matcher: longest phrase first, misspellings, no cost for junk."""

import pytest

from oracle.domains.code.lexicon.lookup import Lexicon, load_courtesies, load_heads, load_lexicon


def tags(text):
    tokens = text.split()
    return {match.phrase: match.tags for match in load_lexicon().matches(tokens)}


def test_a_phrase_wins_over_its_words():
    assert "vault_noun" not in tags("thread pool")["thread pool"]
    assert "vault_noun" in tags("thread")["thread"]


def test_a_star_matches_any_ending():
    lexicon = Lexicon()
    lexicon.add("decid*", "decision")
    lexicon.close()
    assert [match.tags for match in lexicon.matches(["decidable"])] == [frozenset({"decision"})]
    assert lexicon.matches(["undecided"]) == []


@pytest.mark.parametrize(
    ("slip", "word"), [("runbok", "runbook"), ("roadmpa", "roadmap"), ("functiion", "function"), ("weahter", "weather")]
)
def test_one_typing_error_in_a_word_is_corrected(slip, word):
    assert load_lexicon().corrected(slip) == word


@pytest.mark.parametrize("word", ["zebra", "node", "xqzt", "a" * 5_000, "1234567"])
def test_other_words_are_not_corrected(word):
    assert load_lexicon().corrected(word) == word


@pytest.mark.parametrize("load", [load_lexicon, load_heads, load_courtesies])
def test_every_entry_can_be_found_by_its_own_text(load):
    lexicon = load()
    missed = [phrase for phrase in lexicon.phrases if lexicon.match_at(phrase.split(" "), 0) is None]
    assert missed == []
