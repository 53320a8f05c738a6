"""What can be read of a text whose syntax is wrong, and which of its mistakes are believed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_text
from bt_runtime.analysis.yaml_repair import MOST_CUTS, readable_part
from bt_runtime.text import Mistake, Place
from bt_runtime.text.yaml_reader import read_yaml
from oracle.agent.nodes import REGISTRY
from trees import FOLDER

TREES = sorted(FOLDER.glob("*.yaml"))
TWO_MISTAKES = """\
tree: mine
blackboard:
  nudges: { type: int, default: 0 }
root:
  sequence:
    - llm_turn: { timeout: 120 }
    - condition: "turn > 3
    - sequence:
        - set: { nudges: nudges + turns }
    - stop: done
"""


def checked(text: str, name: str = "mine") -> list[tuple[int, str]]:
    """Lines and codes of all mistakes of a text in the place of a shipped tree."""
    report = check_text(TreeLibrary([FOLDER], registry=REGISTRY), FOLDER / f"{name}.yaml", text)
    return [(each.place.line, each.code) for each in (*report.mistakes, *report.warnings)]


def test_the_mistakes_on_both_sides_of_a_broken_line_are_reported() -> None:
    assert checked(TWO_MISTAKES.replace('"turn > 3', "@turn > 3")) == [
        (6, "unknown-setting"),
        (7, "invalid"),
        (9, "wrong-expression"),
        (10, "wrong-value"),
    ]


def test_what_is_below_a_broken_line_is_not_judged() -> None:
    broken = TWO_MISTAKES.replace('"turn > 3', "turn > 3").replace("- sequence:\n", "- sequence: @\n")
    assert checked(broken) == [(6, "unknown-setting"), (8, "invalid"), (10, "wrong-value")]


def test_an_open_quote_hides_what_it_runs_over_and_nothing_else() -> None:
    assert checked(TWO_MISTAKES) == [
        (6, "unknown-setting"),
        (7, "invalid"),
        (9, "wrong-expression"),
        (10, "wrong-value"),
    ]


def test_a_key_whose_declaration_is_broken_is_not_called_unknown() -> None:
    text = TWO_MISTAKES.replace('"turn > 3', "nudges > turns").replace("default: 0 }", "default: @ }")
    assert checked(text) == [(3, "invalid"), (6, "unknown-setting"), (10, "wrong-value")]


def test_a_text_without_a_mistake_of_syntax_needs_no_repair() -> None:
    assert readable_part("a: [1]\nb: c\n") is None
    assert readable_part("") is None


def test_a_text_that_is_broken_everywhere_is_given_up() -> None:
    assert readable_part("\n".join(["- @"] * (MOST_CUTS + 1))) is None
    assert readable_part("\n".join(["- @"] * (MOST_CUTS - 1))) is not None


def test_lines_keep_their_numbers() -> None:
    part = readable_part("a:\n  b: @\n    c: d\n\n  e: f\ng: h\n")
    assert part is not None
    assert part.text == "a:\n\n\n\n  e: f\ng: h\n"
    near = {line for line in range(1, 7) if not part.bears_out(Mistake(Place("", line), "", code="unknown-kind"))}
    assert near == {1, 5}


def damaged(line: str) -> Iterator[str]:
    """The line with a slip that makes it wrong, each in another way."""
    yield f'{line} "'
    yield f"{line} ["
    yield f"{line}: : x"
    yield f"\t{line}"
    yield f" {line}"
    yield line.removeprefix(" ")
    yield line.replace(":", "", 1)
    yield line.replace(" }", "", 1)
    yield re.sub(r": (\S)", r': "\1', line, count=1)
    yield re.sub(r": (\S)", r": @\1", line, count=1)


@pytest.mark.parametrize("file", TREES, ids=lambda path: path.stem)
def test_one_slip_in_a_shipped_tree_is_one_mistake(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    read = broken = 0
    for number, line in enumerate(lines):
        slips = [each for each in damaged(line) if each != line] if line.strip() and line.strip()[0] != "#" else []
        slip = slips[number % len(slips)] if slips else line
        text = "\n".join([*lines[:number], slip, *lines[number + 1 :]])
        if slip != line and read_yaml(text, file="").root is None:
            assert [code for _, code in checked(text, file.stem)] == ["invalid"], slip
            read, broken = read + (readable_part(text) is not None), broken + 1
    assert read >= 0.8 * broken > 0
