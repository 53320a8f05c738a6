import pytest

from bt_runtime.text import closest, did_you_mean, listing, near

KINDS = ("sequence", "selector", "has_tool_calls", "llm_turn", "set", "log", "loop")


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("sequense", "sequence"),
        ("Sequence", "sequence"),
        ("has-tool-calls", "has_tool_calls"),
        (" HAS TOOL CALLS", "has_tool_calls"),
        ("llm", "llm_turn"),
        ("log_level", "log"),
        ("l", None),
        ("xyzzy", None),
        ("", None),
        ("s" * 100_000, None),
        (3, None),
    ],
)
def test_the_nearest_name_is_suggested(name, match):
    assert closest(name, KINDS) == match
    assert did_you_mean(name, KINDS) == (match and f"did you mean {match!r}?")


@pytest.mark.parametrize("name", ["code", "coed", "cod", "ocde", "coda", "codes"])
def test_one_slip_in_a_name_of_four_letters_is_enough(name):
    assert closest(name, ["code"]) == "code"


@pytest.mark.parametrize(("name", "other"), [("home", "host"), ("path", "port"), ("conversation", "classification")])
def test_names_that_share_some_letters_are_not_near(name, other):
    assert closest(name, [other]) is None


def test_several_near_names_come_best_first():
    assert near("note", ["notes.md", "Note", "nota", "x"], most=2) == ("Note", "nota")


def test_the_known_name_keeps_its_spelling():
    assert closest("my-notes.MD", ["My_Notes.md"]) == "My_Notes.md"


def test_a_listing_is_cut():
    assert listing("cab") == "a, b, c"
    assert listing("abc", most=2) == "a, b, … (1 more)"
