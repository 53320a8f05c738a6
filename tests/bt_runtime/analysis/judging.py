"""Checks a tree that a test writes, with the kinds and keys of the agent."""

import tempfile
import textwrap
from pathlib import Path

import trees
from bt_runtime import HostAction, TreeLibrary
from bt_runtime.analysis import keys, values, writes
from bt_runtime.analysis.files import check_files
from bt_runtime.text import Mistake
from oracle.agent.nodes import REGISTRY

BOARD_CODES = frozenset(code.name for code in (*keys.CODES, *values.CODES, *writes.CODES))
ACTIONS = {
    "search_code": HostAction(("query", "limit"), frozenset({"query"}), result="str"),
    "list_files": HostAction(("path",), result="str"),
}


def of_steps(steps: str, head: str = "") -> str:
    """A tree with these nodes behind the usual first two."""
    body = textwrap.indent(textwrap.dedent(steps).strip("\n"), "    ")
    start = "root:\n  sequence:\n    - classify_query\n    - compose_prompt\n"
    return f"tree: sample\n{textwrap.dedent(head).strip()}\n{start}{body}\n"


def warnings_of(text: str, *others: str) -> list[Mistake]:
    """The warnings about the blackboard in a tree, beside which the others stand."""
    with tempfile.TemporaryDirectory() as folder:
        for each in (text, *others):
            name = each.partition("tree: ")[2].partition("\n")[0]
            (Path(folder) / f"{name}.yaml").write_text(each, encoding="utf-8")
        name = text.partition("tree: ")[2].partition("\n")[0]
        library = TreeLibrary([trees.FOLDER], registry=REGISTRY.with_actions(ACTIONS))
        report = check_files(library, [Path(folder) / f"{name}.yaml"])
    assert report.ok, str(report)
    own = str(Path(folder) / f"{name}.yaml")
    return [warning for warning in report.warnings if warning.code in BOARD_CODES and warning.place.file == own]


def found(text: str, *others: str) -> list[tuple[str, str]]:
    """The code of each warning, and the text of the file from its place to its end."""
    lines = text.splitlines()
    return [
        (each.code, lines[each.place.line - 1][each.place.column - 1 : each.end.column - 1 if each.end else None])
        for each in warnings_of(text, *others)
    ]
