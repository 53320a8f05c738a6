"""The rooms: a name is imported from the module that defines it, but for those that hosts import."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("bt_runtime", "oracle", "prompts", "signals", "trees")
DOORS = {
    "bt_runtime",
    "bt_runtime/text",
    "oracle",
    "oracle/agent/nodes",
    "oracle/classify",
    "oracle/cli",
    "oracle/decision",
    "oracle/server/plugins",
    "oracle/testing",
    "oracle/tools",
    "prompts",
    "signals",
    "trees",
}
"""What hosts and plugins import from; `cli` is the entry of the command, `text` the leaf of all rooms."""


def test_only_the_packages_that_hosts_import_pass_names_on():
    rooms = [path for package in PACKAGES for path in (ROOT / package).rglob("__init__.py")]
    assert len(rooms) > 30
    found = {str(room.parent.relative_to(ROOT)) for room in rooms if _passes_names_on(room)}
    assert found - DOORS == set()


def test_the_documentation_names_every_such_package():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    assert [door for door in sorted(DOORS) if f"`{door.replace('/', '.')}`" not in page] == []


def _passes_names_on(path: Path) -> bool:
    """Whether a package's `__init__` has an `__all__` of names that it has imported."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    lists = [
        node.value
        for node in module.body
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets)
    ]
    imported = {
        alias.asname or alias.name for node in module.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return any(
        isinstance(each, ast.List) and {ast.literal_eval(name) for name in each.elts} & imported for each in lists
    )
