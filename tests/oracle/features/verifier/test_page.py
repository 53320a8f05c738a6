"""What docs/testing.md says of its example is what the command says."""

import re
from pathlib import Path

from tests.oracle.features.verifier.verified import verified

PAGE = (Path(__file__).parents[4] / "docs" / "testing.md").read_text()


def test_the_example_is_refuted_as_the_page_shows():
    [tree] = re.findall(r"```yaml\n(tree: hasty.*?)```", PAGE, re.DOTALL)
    [shown] = re.findall(r"```text\n(  REFUTED.*?)```", PAGE, re.DOTALL)
    lines = verified(tree).lines()
    at = next(at for at, line in enumerate(lines) if line.startswith("  REFUTED      reason"))
    assert [line.split() for line in lines[at : at + 3]] == [line.split() for line in shown.splitlines()]
