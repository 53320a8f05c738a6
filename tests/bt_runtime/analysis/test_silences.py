"""Comments that take back warnings."""

from pathlib import Path

import pytest

from bt_runtime.analysis.codes import Code, Judged, by_name, silenced, silences_in
from bt_runtime.analysis.files import CheckedFile, CheckReport, check_files
from bt_runtime.library.named import TreeLibrary
from bt_runtime.text import Mistake, Place
from oracle.agent.nodes import REGISTRY

KNOWN = by_name((Code("dull", "Dull.", ""), Code("loud-tick", "Loud.", ""), Code("broken", "Broken.", "", "error")))


def judge(text: str, *warned: tuple[int, str], own_file: str = "f.yaml") -> Judged:
    """The text with warnings of these codes on these lines."""
    warnings = [
        Mistake(Place("f.yaml", line, 3), f"{code} here", code=code, severity="warning") for line, code in warned
    ]
    return silenced(warnings, silences_in(text, file="f.yaml", known=KNOWN), known=KNOWN, own_file=own_file)


def codes(judged: Judged) -> list[tuple[int, str]]:
    return [(warning.place.line, warning.code) for warning in judged.warnings]


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  - b # silence dull: it must be",
        "a:\n  - b   #silence dull : it must be",
        "a:\n  - 'b' # silence loud-tick, dull: it must be",
        "a:\n  # silence dull: it must be\n  - b",
        "a:\n  # silence dull: it must be\n  # another remark\n  - b",
        'a:\n  - "x # y" # silence dull: it must be',
        "a:\n  - >- # silence dull: it must be\n    folded",
        "a:\r\n  - b # silence dull: it must be\r\n",
    ],
    ids=["behind", "tight", "several", "above", "above, with a remark", "behind a quoted scalar", "block head", "CRLF"],
)
def test_a_silence_takes_back_the_warning_of_its_line(text: str) -> None:
    line = next(n for n, written in enumerate(text.splitlines(), 1) if written.lstrip().startswith("-"))
    assert (line, "dull") not in codes(judge(text, (line, "dull")))


@pytest.mark.parametrize(
    "text",
    [
        "a:\n  - 'b # silence dull: it must be'",
        'a:\n  - "b\n    # silence dull: x"',
        "a:\n  - |\n    # silence dull: it must be\n    text",
        "a:\n  - b# silence dull: it must be",
        "a:\n  - b # keep silence dull: x",
        "a:\n  - b # silence is golden",
        "a:\n  # silence dull: it must be\n\n  - b",
        "a: # silence dull: x\n  - b",
    ],
    ids=["single", "double", "block", "no comment", "inside", "prose", "blank line between", "another line"],
)
def test_text_and_other_comments_are_no_silence(text: str) -> None:
    judged = judge(text, (2, "dull"), (4, "dull"), own_file="other.yaml")
    assert codes(judged) == [(2, "dull"), (4, "dull")]


def test_another_code_on_the_line_stays() -> None:
    assert codes(judge("a: 1 # silence dull: yes", (1, "dull"), (1, "loud-tick"))) == [(1, "loud-tick")]


def test_a_silence_without_a_reason_has_no_effect() -> None:
    for text in ("a: 1 # silence dull", "a: 1 # silence dull:", "a: 1 # silence dull because it must be"):
        assert codes(judge(text, (1, "dull"))) == [(1, "dull"), (1, "silence-without-reason")]


def test_an_unknown_code_gets_a_suggestion_that_can_be_applied() -> None:
    (warning,) = judge("a: 1 # silence loud-tik: yes").warnings
    assert (warning.code, warning.hint) == ("unknown-code", "did you mean 'loud-tick'?")
    assert (warning.place.column, warning.end) == (16, Place("f.yaml", 1, 24))
    assert [fix.title for fix in warning.fixes] == ["Replace 'loud-tik' by 'loud-tick'", "Remove the silence"]
    assert warning.fixes[0].edits[0].text == "loud-tick"


def test_an_unused_silence_is_a_warning_in_the_file_itself_alone() -> None:
    text = "a: 1\n# silence dull: yes\nb: 2"
    (warning,) = judge(text).warnings
    assert (warning.code, warning.message) == ("unused-silence", "there is no warning 'dull' on line 3")
    (edit,) = warning.fixes[0].edits
    assert (edit.start, edit.end, edit.text) == (Place("f.yaml", 2), Place("f.yaml", 3), "")
    assert not judge(text, own_file="other.yaml").warnings


def test_of_several_codes_the_unused_one_is_reported() -> None:
    judged = judge("a: 1 # silence dull, loud-tick: yes", (1, "dull"))
    assert [(warning.code, warning.place.column) for warning in judged.warnings] == [("unused-silence", 22)]
    assert judged.used == {Place("f.yaml", 1, 16)}


def test_an_error_cannot_be_silenced() -> None:
    (warning,) = judge("a: 1 # silence broken: yes").warnings
    assert warning.message == "'broken' is an error, and only warnings can be silenced"


def test_a_silence_that_another_file_of_the_check_uses_is_not_unused() -> None:
    place = Place("part.yaml", 3, 5)
    unused = Mistake(place, "there is no warning", code="unused-silence", severity="warning")
    alone = CheckedFile("part.yaml", None, (), (unused,))
    whole = CheckedFile("whole.yaml", None, (), (), frozenset({place}))
    assert CheckReport((alone,), {}).warnings == (unused,)
    assert not CheckReport((alone, whole), {}).warnings


def test_the_check_of_a_file_reads_its_silences(tmp_path: Path) -> None:
    path = tmp_path / "quiet.yaml"
    path.write_text("tree: quiet\nroot:\n  - compose_prompt\n".replace("  - ", "  # silence no-such-code: x\n  "))
    report = check_files(TreeLibrary((), registry=REGISTRY), [path])
    assert ("unknown-code", 3) in [(warning.code, warning.place.line) for warning in report.warnings]
    assert "quiet.yaml:3:13: warning unknown-code: there is no warning 'no-such-code'" in str(report)


@pytest.mark.parametrize("text", ["a: [1, 2 # silence dull: x\n]", "- {a: b, # silence dull: x\n   c: d}"])
def test_comments_inside_of_flow_collections_are_read(text: str) -> None:
    assert [silence.line for silence in silences_in(text, file="f.yaml", known=KNOWN)] == [1]
