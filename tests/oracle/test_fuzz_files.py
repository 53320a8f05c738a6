"""Any file gives trees, scenarios, or mistakes with places in it: no crash, no hang, no more memory than allowed."""

import json
import random
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bt_runtime import TreeLibrary, render
from bt_runtime.analysis.files import CheckReport, check_text
from bt_runtime.text import Mistake, Place
from oracle.agent.nodes import REGISTRY
from oracle.features.editing.completion import complete
from oracle.features.editing.describing import hover
from oracle.features.editing.desk import Desk
from oracle.features.editing.diagnosing import diagnose, fixes_for
from oracle.features.editing.lines import Lines
from oracle.features.editing.symbols import RenameError, definition, references, rename
from oracle.features.scenarios.files import ScenarioFileError, from_yaml
from tests.oracle.damage import damaged, scenarios, trees, words
from trees import FOLDER

LIMIT_S = 1.0
MACHINE = 3
"""How much slower than a developer's machine one may be that runs the tests."""
MOST_BYTES = 200_000_000
Result = TypeVar("Result")
FILE = FOLDER / "oracle.yaml"
LIBRARY = TreeLibrary([FOLDER], registry=REGISTRY)
DESK = Desk(LIBRARY)


def is_inside(place: Place, lines: Lines) -> bool:
    """Whether a place is one of the text, or right behind a line of it."""
    return 1 <= place.line <= len(lines) and 1 <= place.column <= len(lines[place.line]) + 1


def check_places(mistake: Mistake, lines: Lines) -> None:
    """A mistake, its end and its fixes are in the file."""
    assert is_inside(mistake.place, lines), mistake
    if mistake.end is not None:
        assert lines.index(mistake.place) <= lines.index(mistake.end), mistake
    for fix in mistake.fixes:
        for edit in fix.edits:
            assert is_inside(edit.start, lines), mistake
            assert lines.index(edit.start) <= lines.index(edit.end), mistake
        json.dumps(fix.to_json())


def quickly(function: Callable[..., Result], *args: object, **settings: object) -> Result:
    """The result of a call that takes no more processor time than a file may."""
    began_s = time.process_time()
    result = function(*args, **settings)
    assert time.process_time() - began_s < LIMIT_S * MACHINE, f"{function.__name__} is slow"
    return result


def check_tree_file(data: bytes, *, number: int = 0) -> CheckReport:
    """Read, judge, format and draw the file; edit it at random places."""
    report = quickly(check_text, LIBRARY, FILE, data)
    (checked,) = report.files
    assert checked.tree is not None or checked.mistakes
    lines = {name: Lines(text, file=name) for name, text in report.sources.items()}
    for mistake in (*report.mistakes, *report.warnings):
        check_places(mistake, lines.get(mistake.place.file) or Lines("", file=mistake.place.file))
    assert quickly(str, report)
    if checked.tree is not None:
        assert quickly(render, checked.tree, "text")
    check_editing(data.decode(errors="replace").removeprefix("\ufeff"), number=number)
    return report


def check_editing(text: str, *, number: int) -> None:
    """The functions behind an editor, at random places of a text."""
    rng = random.Random(number)
    lines = Lines(text, file=str(FILE))
    found = quickly(diagnose, DESK, text, FILE)
    for finding in found.findings:
        check_places(finding.mistake, lines)
    quickly(fixes_for, [each.mistake for each in found.findings], text, REGISTRY)
    for _ in range(3):
        place = lines.place_at(rng.randint(0, len(text)))
        at = {"line": place.line, "column": place.column + rng.choice([0, 0, 0, 1, 500])}
        for offered in quickly(complete, DESK, text, FILE, **at):
            assert lines.index(offered.start) <= lines.index(offered.end)
        for answer in (hover, definition, references):
            quickly(answer, DESK, text, FILE, **at)
        with suppress(RenameError):
            quickly(rename, DESK, text, FILE, name="other", **at)


def check_scenario_file(data: bytes) -> None:
    """Read the file as scenarios."""
    try:
        quickly(from_yaml, data, file="f")
    except ScenarioFileError as error:
        found = error
    else:
        return
    lines = Lines(data.decode(errors="replace").removeprefix("\ufeff"), file="f")
    assert str(found)
    for mistake in found.mistakes:
        check_places(mistake, lines)


def check_numbered(number: int) -> None:
    """The damaged file of this number; every fourth one has scenarios."""
    if number % 4:
        check_tree_file(damaged(number, trees()), number=number)
    else:
        check_scenario_file(damaged(number, scenarios()))


# --- damaged files


@pytest.mark.long("reads many damaged files")
def test_a_hundred_damaged_files_give_trees_or_mistakes() -> None:
    for number in (*range(100), 653, 1939):
        check_numbered(number)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 100_000, 1_000))
def test_a_hundred_thousand_damaged_files_give_trees_or_mistakes(first: int) -> None:
    for number in range(first, first + 1_000):
        check_numbered(number)


@given(st.text() | st.binary())
@example("\x1f\x0b")
@example("\x85\x85- \u2028: a # silence stop-ignored: b\r\n")
def test_any_text_gives_a_tree_or_mistakes(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode(errors="replace")
    check_tree_file(data)
    check_scenario_file(data)


# --- nodes of every kind, with any settings

SCALARS = st.sampled_from([*words(), "1", "-1", "2.5", "null", "true", "''", "${x}", "turn < 3", "x.y[0]", "\u4e00"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(SCALARS, inner), max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        )
    ),
    max_leaves=10,
)


@given(VALUES, VALUES, VALUES, VALUES)
def test_any_fields_give_a_tree_or_mistakes(root: str, rule: str, key: str, parameter: str) -> None:
    text = f"tree: oracle\nroot: {root}\nrules: [{rule}]\nblackboard: {{a: {key}}}\nparameters: {{b: {parameter}}}\n"
    check_tree_file(text.encode())


@pytest.mark.long("many values for each of the kinds")
@pytest.mark.parametrize("kind", REGISTRY.kinds)
@settings(max_examples={"check": 5}.get(settings.get_current_profile_name(), 50))
@given(value=VALUES)
def test_any_settings_of_a_kind_give_a_tree_or_mistakes(kind: str, value: str) -> None:
    check_tree_file(f"tree: oracle\nroot: {{sequence: [{kind}: {value}, llm_turn]}}\n".encode())


# --- the worst files


LARGE = {
    "text": b"x" * 999_000,
    "open brackets": b"tree: oracle\nroot: " + b"[" * 900_000,
    "dashes": b"- " * 490_000,
    "short lines": b"- x\n" * 240_000,
    "short keys": b"a: 1\n" * 190_000,
    "quotes": b"root: '" + b"''" * 490_000,
    "words in brackets": b"root: {set: " + b"turn + " * 140_000,
    "silences": b"tree: oracle\n" + b"# silence a: b\n" * 60_000 + b"root: llm_turn\n",
    "aliases": b"a: &a [x, x, x, x, x, x, x, x, x, x]\n" + b"b: &b [*a, *a, *a, *a, *a, *a]\n" * 20_000,
    "a long expression": b"tree: oracle\nroot: {condition: '" + b"turn and " * 90_000 + b"turn'}\n",
    "nots": b"tree: oracle\nroot: {condition: '" + b"not " * 200_000 + b"turn'}\n",
    "placeholders": b"tree: oracle\nroot: {say: '" + b"{turn} " * 100_000 + b"'}\n",
    "digits": b"tree: oracle\nroot: {wait: " + b"9" * 900_000 + b"}\n",
    "control characters": b"\x01" * 900_000,
    "wrong bytes": b"\xff" * 900_000,
    "odd breaks": "\x85\u2028\r".encode() * 150_000,
    "rules": b"tree: oracle\nroot: llm_turn\nrules:\n"
    + b"".join(
        f"- {{name: r{n}, text: t, exactly: {{turn: any, times: 100000}}, enforce: stop}}\n".encode()
        for n in range(2_000)
    ),
    "keys": b"tree: oracle\nroot: llm_turn\nblackboard:\n"
    + b"".join(f"  k{n}: {{type: int, default: 0, private: true}}\n".encode() for n in range(2_500)),
}


@pytest.mark.long("reads files of the greatest size")
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_large_file_takes_little_time(text: bytes) -> None:
    report = check_tree_file(text)
    assert report.mistakes or report.warnings
    check_scenario_file(text)


@pytest.mark.long("reads files of the greatest size, traced")
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_large_file_takes_little_memory(text: bytes) -> None:
    tracemalloc.start()
    try:
        diagnose(DESK, text.decode(errors="replace"), FILE)
        complete(DESK, text.decode(errors="replace"), FILE, line=10, column=5)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
