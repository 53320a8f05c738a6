"""`docs/internals/requirements.md` tells the truth: every requirement has a row, every test named there exists."""

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "internals" / "requirements.md"


def numbered(prefix: str, last: int, *, digits: int = 1) -> list[str]:
    """`FR-001` … `FR-019`."""
    return [f"{prefix}-{number:0{digits}d}" for number in range(1, last + 1)]


def stories(*scenarios: int) -> list[str]:
    """`US1-1` … for so many scenarios of each user story."""
    return [f"US{story}-{number}" for story, last in enumerate(scenarios, 1) for number in range(1, last + 1)]


IDS = {
    "012": [
        *stories(3, 4, 3, 3, 3),
        *numbered("Edge", 6),
        *numbered("FR", 19, digits=3),
        *numbered("SC", 8, digits=3),
    ],
    "020": [
        *stories(4, 4, 4, 4, 4),
        *numbered("Edge", 5),
        *numbered("FR", 22, digits=3),
        *numbered("SC", 10, digits=3),
    ],
}
_ROW = re.compile(r"^\| ([A-Z][A-Za-z0-9]*-\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
_TEST = re.compile(r"^ *(?:async )?def (test_\w+)\(", re.MULTILINE)
_NAME = re.compile(r"`(test_[A-Za-z0-9_]+\*?)`")


def section(number: str) -> str:
    """The page from the heading of one specification to the next; empty if it has none."""
    found = re.search(rf"^## {number}\b.*?(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def rows(number: str) -> dict[str, tuple[str, str]]:
    """What each requirement asks for, and what shows it."""
    return {name: (asks, shown) for name, asks, shown in _ROW.findall(section(number))}


@cache
def known_tests() -> frozenset[str]:
    """The names of all tests, read, not run."""
    paths = (ROOT / "tests").rglob("test_*.py")
    return frozenset(name for path in paths for name in _TEST.findall(path.read_text(encoding="utf-8")))


WRITTEN = [number for number in IDS if section(number)]


def test_the_page_has_the_first_specification() -> None:
    assert "012" in WRITTEN


@pytest.mark.parametrize("number", WRITTEN)
def test_every_requirement_has_exactly_one_row(number: str) -> None:
    listed = [name for name, _, _ in _ROW.findall(section(number))]
    assert len(listed) == len(set(listed))
    assert set(IDS[number]) <= set(listed)
    assert all(name in IDS[number] or name.startswith("D-") for name in listed)


@pytest.mark.parametrize("number", WRITTEN)
def test_every_row_names_a_test_or_says_what_is_missing(number: str) -> None:
    for name, (asks, shown) in rows(number).items():
        assert asks.endswith("."), f"{name}: one sentence"
        assert _NAME.search(shown) or shown.startswith("Not yet: "), f"{name}: {shown!r}"


@pytest.mark.parametrize("number", WRITTEN)
def test_every_test_that_the_page_names_exists(number: str) -> None:
    named = _NAME.findall(section(number))
    missing = [name for name in named if not any(fnmatchcase(test, name) for test in known_tests())]
    assert not missing


@pytest.mark.parametrize("number", WRITTEN)
def test_every_test_of_a_specification_is_named_on_the_page(number: str) -> None:
    named = _NAME.findall(section(number))
    own = [test for test in known_tests() if test.startswith(f"test_{number}_")]
    assert own
    assert [test for test in own if not any(fnmatchcase(test, name) for name in named)] == []
