"""A repetition is held back until something new is said."""

from hypothesis import given
from hypothesis import strategies as st

from oracle.decision.repeated_text import Echo

SAID = (
    "The client waits one second after the first failure, two after the next one, and so on until it is told to stop. "
    "What the server has done already is known by the key of the request, and a day later it is forgotten again. "
)
NEW = "The operator sets the bound, and each client obeys it; what is refused is tried again at night by hand. " * 2


def shown(said: str, text: str, cuts: list[int], *, is_whole: bool = False) -> tuple[bool, str]:
    echo, places = Echo(said), sorted(cut % (len(text) + 1) for cut in cuts)
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    early = "".join(echo.feed(piece) for piece in pieces)
    repeats, rest = echo.end(text, is_whole=is_whole)
    return repeats, early + rest


def test_the_first_response_is_shown_at_once() -> None:
    assert Echo("").feed("T") == "T"


def test_a_repetition_is_not_shown() -> None:
    assert shown(SAID, SAID, []) == (True, "")


def test_new_text_is_shown_as_soon_as_it_is_known_to_be_new() -> None:
    echo = Echo(SAID)
    assert echo.feed("The ") == ""
    assert echo.feed("operator") == "The operator"
    assert echo.feed("s") == "s"


def test_a_quotation_that_goes_on_is_shown_whole() -> None:
    assert shown(SAID, SAID + NEW, []) == (False, SAID + NEW)


def test_a_last_answer_that_corrects_a_word_is_shown() -> None:
    corrected = SAID.replace("a day", "a week")
    assert shown(SAID, corrected, [], is_whole=True) == (True, corrected)
    assert shown(SAID, corrected, []) == (True, "")
    assert shown(SAID, SAID, [], is_whole=True) == (True, "")


@given(
    parts=st.lists(st.sampled_from([SAID, SAID[:70], NEW, NEW[:50], "So. "]), max_size=5),
    cuts=st.lists(st.integers(0, 2_000), max_size=20),
    is_whole=st.booleans(),
)
def test_any_chunking_shows_the_same(parts: list[str], cuts: list[int], is_whole: bool) -> None:
    text = "".join(parts)
    assert shown(SAID, text, cuts, is_whole=is_whole) == shown(SAID, text, [], is_whole=is_whole)
