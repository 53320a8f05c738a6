"""What docs/verifying.md says of its example is what the command says."""

import re
from pathlib import Path

from oracle.features.verifier.exploring import DEFAULT_MEGABYTES, DEFAULT_SECONDS, DEFAULT_STATES
from oracle.features.verifier.properties import BUILT_IN
from oracle.features.verifier.verify import DEFAULT_TURNS
from tests.oracle.features.verifier.verified import verified

PAGE = (Path(__file__).parents[4] / "docs" / "verifying.md").read_text()


def test_the_example_is_refuted_as_the_page_shows():
    [tree] = re.findall(r"```yaml\n(tree: hasty.*?)```", PAGE, re.DOTALL)
    [shown] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    lines = verified(tree).lines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  REFUTED      reason"))
    assert [line.split() for line in lines[at : at + 3]] == [line.split() for line in shown.splitlines()]


def test_the_page_lists_every_property_and_the_bounds():
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE.split("## What must hold")[1].split("## ")[0], re.MULTILINE) == [
        each.name for each in BUILT_IN
    ]
    assert f"`max_iterations` is {DEFAULT_TURNS} " in PAGE
    assert f"{DEFAULT_STATES:,} states" in PAGE
    assert f"{DEFAULT_SECONDS:g} seconds" in PAGE
    assert f"{DEFAULT_MEGABYTES:,} MB" in PAGE
