"""Each warning about the blackboard is explained, and its examples are what they are said to be."""

import re
from pathlib import Path

import pytest

from tests.bt_runtime.checking.judging import BOARD_CODES, warnings_of

PAGE = (Path(__file__).parents[1] / "docs" / "checks_blackboard.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([a-z-]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("code", sorted(BOARD_CODES))
def test_a_bad_tree_has_the_warning_on_the_line_with_the_arrow_and_a_good_one_has_none(code: str) -> None:
    bad, good = re.findall(r"^```yaml\n(.*?)^```$", SECTIONS[code], re.DOTALL | re.MULTILINE)
    (line,) = (number for number, text in enumerate(bad.splitlines(), start=1) if text.endswith("# <--"))
    assert (line, code) in {(warning.place.line, warning.code) for warning in warnings_of(bad)}
    assert warnings_of(good) == []
