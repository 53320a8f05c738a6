"""The example is the shipped tree with one more line, and the page shows that line."""

from pathlib import Path

import pytest

from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files
from oracle.agent.nodes import REGISTRY
from oracle.features.long_conversations.compacting import Compact
from trees import FOLDER

ROOT = Path(__file__).parents[4]
EXAMPLE = ROOT / "examples" / "long_conversations"
PAGE = (ROOT / "docs" / "control.md").read_text(encoding="utf-8")


def test_the_example_is_the_shipped_tree_with_one_line_more() -> None:
    own, shipped = ((folder / "oracle.yaml").read_text(encoding="utf-8") for folder in (EXAMPLE, FOLDER))
    (line,) = set(own.splitlines()) - set(shipped.splitlines())
    assert own.replace(f"{line}\n", "") == shipped
    assert line.partition(" #")[0].strip() in PAGE


@pytest.mark.long("checks the whole tree")
def test_the_example_has_neither_mistakes_nor_warnings() -> None:
    library = TreeLibrary([EXAMPLE, FOLDER], registry=REGISTRY.extended([Compact.kind]))
    report = check_files(library, [EXAMPLE])
    assert (report.ok, report.warnings) == (True, ()), str(report)
