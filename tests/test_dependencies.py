"""What is imported is declared; CI tries the oldest versions that are allowed; the lock is within the bounds."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEPENDENCIES = [
    Requirement(text)
    for texts in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in texts
    if not text.startswith(PROJECT["name"])  # the extra `all` names the others
]


def locked(path):
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([\w.-]+)==([^ ;]+)", line) for line in lines)
    return {canonicalize_name(match[1]): Version(match[2]) for match in found if match}


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda each: each.name)
def test_ci_tries_the_oldest_version_that_is_allowed(dependency):
    (bound,) = (Version(each.version) for each in dependency.specifier if each.operator == ">=")
    assert locked(".ci/lowest.lock")[canonicalize_name(dependency.name)] == bound, "run `make lock`"


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda each: each.name)
def test_the_locked_version_is_allowed(dependency):
    assert locked("requirements.lock")[canonicalize_name(dependency.name)] in dependency.specifier


def imported(path):
    """The top-level names that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.long("parses every module")
def test_all_that_the_product_imports_is_declared():
    rooms = ("bt_runtime", "oracle", "prompts", "signals", "trees")
    names = {name for room in rooms for path in (ROOT / room).rglob("*.py") for name in imported(path)}
    distributions = packages_distributions()
    foreign = {name: distributions.get(name, [name]) for name in names - {*rooms, *sys.stdlib_module_names}}
    declared = {canonicalize_name(each.name) for each in DEPENDENCIES}
    undeclared = {name for name, given in foreign.items() if declared.isdisjoint(map(canonicalize_name, given))}
    assert undeclared == set()


def test_the_extra_all_has_all_the_others():
    extras = {**PROJECT["optional-dependencies"]}
    (others,) = extras.pop("all")
    assert Requirement(others).extras == {*extras}


def test_a_posix_system_is_required_in_words_and_not_by_a_dependency_that_is_missing_elsewhere():
    assert "Operating System :: POSIX" in PROJECT["classifiers"]
    assert [str(each) for each in DEPENDENCIES if each.marker is not None] == []
