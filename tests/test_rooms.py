"""The rooms: a name is imported from the module that defines it, but for those that hosts import."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.weight import kernel_modules

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
    page = (ROOT / "docs" / "internals" / "design.md").read_text(encoding="utf-8")
    assert [door for door in sorted(DOORS) if f"`{door.replace('/', '.')}`" not in page] == []


@pytest.mark.long("reads each module of the kernel")
def test_the_kernel_imports_itself_alone():
    """`lint-imports` does not see which module a name comes from that one of these packages loads when it is used."""
    kernel = {_name(path): path for path in kernel_modules()}
    packages = {door.replace("/", ".") for door in DOORS} | {name.rpartition(".")[0] for name in kernel}
    assert len(kernel) > 100
    found = {(name, used) for name, path in kernel.items() for used in _used(path) if used.split(".")[0] in PACKAGES}
    assert sorted((name, used) for name, used in found if used not in kernel and used not in packages) == []


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _used(path: Path) -> Iterator[str]:
    """The modules that a module imports, those that only define what it names among them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES:
            yield node.module
            folder = ROOT / node.module.replace(".", "/")
            homes = getattr(import_module(node.module), "_HOMES", {}) if folder.is_dir() else {}
            home_of = {name: home for home, names in homes.items() for name in names.split()}
            for alias in node.names:
                if alias.name in home_of:
                    yield home_of[alias.name]
                elif (folder / f"{alias.name}.py").is_file() or (folder / alias.name).is_dir():
                    yield f"{node.module}.{alias.name}"


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
