"""The tokenizer: which words a text is indexed under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.core.search.query import IDENTIFIER, Term, fold, keys, split_identifier, stem, terms_of, tokens


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("mistakes", ("mistakes",)),
        ("Café", ("cafe",)),
        ("Größe", ("grosse",)),
        ("2025", ("2025",)),
        ("AuthMiddleware", ("auth", "middleware", "=authmiddleware")),
        ("parse_HTTPRequest2", ("parse", "http", "request", "=parse_httprequest2")),
        ("_private", ("private", "=_private")),
        ("缓存策略", ("缓存", "存策", "策略")),
        ("使用Redis", ("使用", "redis")),
        ("缓", ("缓",)),
        ("__", ()),
        ("f" * 65, ()),
    ],
)
def test_a_token_is_indexed_under_its_words(token: str, expected: tuple[str, ...]) -> None:
    assert keys(token) == expected


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("parseHTTPRequest", ["parse", "HTTP", "Request"]),
        ("XMLa", ["XM", "La"]),
        ("snake_case_2", ["snake", "case", "2"]),
        ("ÜberTrag", ["Über", "Trag"]),
    ],
)
def test_an_identifier_is_split_at_underscores_digits_and_capitals(name: str, parts: list[str]) -> None:
    assert split_identifier(name) == parts


@pytest.mark.parametrize(
    "forms",
    [
        ["mistake", "mistakes"],
        ["report", "reports", "reported", "reporting", "reporter"],
        ["cache", "caches", "caching", "cached"],
        ["query", "queries"],
        ["class", "classes"],
        ["classify", "classification"],
        ["run", "running"],
        ["process", "processes", "processing"],
        ["response", "responses"],
        ["match", "matches", "matching"],
    ],
    ids=lambda forms: forms[0],
)
def test_the_forms_of_a_word_share_a_stem_that_is_their_prefix(forms: list[str]) -> None:
    stems = {stem(form) for form in forms}
    assert len(stems) == 1
    assert all(form.startswith(stems.copy().pop()) for form in forms)


@given(st.text(max_size=30))
def test_a_stem_is_a_prefix_of_its_word(word: str) -> None:
    assert word.startswith(stem(word))


@given(st.text(max_size=80))
def test_any_text_has_tokens_whose_words_are_folded(text: str) -> None:
    for token in tokens(text):
        assert token in text
        for key in keys(token):
            word = key.removeprefix(IDENTIFIER)
            assert word == fold(word)


@pytest.mark.parametrize(
    ("term", "key", "fit"),
    [
        (Term("report", "report"), "report", 1.0),
        (Term("report", "report"), "reported", 0.8),
        (Term("auth", "auth"), "authentication", 0.4),
        (Term("id", "id"), "idea", 0.0),
        (Term("tree", "tre"), "street", 0.0),
        (Term("signalstream", "signalstream"), "=signalstream", 1.0),
        (Term("check_token", "check_token", is_identifier=True), "=check_token", 1.0),
        (Term("check_token", "check_token", is_identifier=True), "=test_check_token", 0.4),
        (Term("check_token", "check_token", is_identifier=True), "token", 0.0),
    ],
)
def test_a_term_matches_its_word_best_then_its_forms_then_longer_words(term: Term, key: str, fit: float) -> None:
    assert term.fit(key) == fit


def test_the_terms_of_a_question_leave_out_stop_words_unless_there_are_no_others() -> None:
    assert [term.word for term in terms_of("Where is the check_token function?")] == [
        "check_token",
        "function",
        "check",
        "token",
    ]
    assert [term.word for term in terms_of("what is it")] == ["what", "is", "it"]


@given(st.text(max_size=40))
def test_any_question_has_terms_that_match_themselves(text: str) -> None:
    for term in terms_of(text):
        assert term.word.startswith(term.stem)
        assert term.fit(term.word) == 1.0
