"""Which text repeats what was said (decision 11)."""

import random
from pathlib import Path

import pytest

from oracle.decision.repeated_text import LOOP_CHARS, SaidText, goes_round

PROSE = (
    "The client sends a request and waits for the answer. If the connection breaks, it tries again after one second, "
    "then after two, and so on up to thirty. What the server has done already is known by the key of the request. "
)
PAGES = sorted((Path(__file__).parents[3] / "docs").glob("*.md"))
SOURCES = sorted((Path(__file__).parents[3] / "oracle" / "decision").glob("*.py"))


@pytest.mark.parametrize(
    "again",
    [
        PROSE,
        PROSE.upper(),
        PROSE.replace("thirty", "sixty"),
        f"So: {PROSE}",
        PROSE[: len(PROSE) // 2],
    ],
    ids=["the same", "capitals", "one word", "another beginning", "a part"],
)
def test_the_same_text_or_nearly_the_same_repeats(again: str) -> None:
    assert SaidText(PROSE).is_repeated_by(again)


@pytest.mark.parametrize(
    "other",
    [
        "",
        "Yes.",
        "It waits.",
        "## Retries\n\nThe server keeps keys for a day, in the table of runs, and forgets them at night.",
        PROSE + "Beyond that the operator sets a bound in the settings, which holds for every client of the service; "
        "a client that has reached it gets an error with the time at which it may come again, and shows it.",
        "| field | kind |\n| --- | --- |\n| a | number |\n| b | number |\n| c | number |\n| d | number |",
    ],
    ids=["nothing", "a word", "a short sentence", "a heading", "a quotation that goes on", "a table"],
)
def test_new_text_does_not_repeat(other: str) -> None:
    assert not SaidText("## Retries\n\n" + PROSE).is_repeated_by(other)


def test_a_short_text_repeats_only_word_by_word() -> None:
    said = "I cannot find the settings of this project."
    assert SaidText(f"Well. {said}").is_repeated_by(said)
    assert not SaidText(said).is_repeated_by("I cannot find the options of this project.")


def test_a_text_stands_there_if_not_one_sign_is_new() -> None:
    assert SaidText(PROSE).has(PROSE.replace(" ", "\n"))
    assert not SaidText(f"{PROSE} It is 5.").has(f"{PROSE} It is 6.")


@pytest.mark.parametrize("path", [*PAGES, *SOURCES], ids=lambda path: path.name)
def test_real_pages_and_code_that_go_on_do_not_repeat_their_beginning(path: Path) -> None:
    text, chance = path.read_text(), random.Random(7)
    places = [chance.randrange(200, len(text)) for _ in range(20)] if len(text) > 400 else []
    for at in places:
        assert not SaidText(text[:at]).is_repeated_by(text[at : at + 3000]) or len(text) - at < 200


@pytest.mark.parametrize("passage", ["I am not sure about that. ", PROSE, "a b c\n"], ids=["line", "prose", "words"])
def test_a_passage_over_and_over_goes_round(passage: str) -> None:
    assert goes_round("First this. " + passage * (LOOP_CHARS // len(passage) + 2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am not sure about that. " * 20,
        "-" * 10_000,
        "0, " * 4_000,
        "| - | - |\n" * 1_000,
        "".join(f"{n}. The same again and again.\n" for n in range(500)),
        "x" * LOOP_CHARS,
    ],
    ids=["nothing", "too short", "a rule", "zeros", "an empty table", "a numbered list", "one letter"],
)
def test_lists_and_data_do_not_go_round(text: str) -> None:
    assert not goes_round(text)
