"""The tree of errors as its docstring draws it, and the answers that the service has for it."""

import importlib
import pkgutil
import re

import pytest

import oracle
from oracle.core import errors
from oracle.core.errors import InternalError, OracleError
from oracle.server.api.errors import REFUSALS

BRANCHES = [branch for branch in OracleError.__subclasses__() if branch.__module__ == "oracle.core.errors"]


@pytest.fixture(scope="module", autouse=True)
def _every_room_is_loaded():
    for module in pkgutil.walk_packages(oracle.__path__, "oracle."):
        if not re.search(r"__main__|\.migrations\.", module.name):
            importlib.import_module(module.name)


def drawn() -> dict[str, str]:
    """Each class of the drawing, and the class that it hangs on."""
    parents, path = {}, {}
    for line in re.search(r"```\n(.*?)```", errors.__doc__, re.DOTALL)[1].splitlines():
        name = re.search(r"\w+Error", line)[0]
        depth = line.index(name) // 4
        path[depth] = name
        parents[name] = path[depth - 1] if depth else ""
    return parents


def below(kind: type) -> set[type]:
    return {kind}.union(*map(below, kind.__subclasses__()))


def test_the_drawing_has_every_public_error_below_the_one_that_must_act():
    found = {}
    for branch in BRANCHES:
        for kind in below(branch):
            if kind.__module__.startswith("oracle.") and not kind.__name__.startswith("_"):
                parent = kind.__bases__[0] if issubclass(kind.__bases__[0], branch) else branch
                found[kind.__name__] = "OracleError" if kind is branch else parent.__name__
    assert {"OracleError": "", **found} == drawn()


def test_every_error_has_one_branch():
    rooms = {kind for kind in below(OracleError) if kind.__module__.startswith("oracle.")}
    shared = {OracleError, importlib.import_module("oracle.runs.storage.errors").StorageError}
    assert [kind for kind in rooms - shared if sum(issubclass(kind, branch) for branch in BRANCHES) != 1] == []


def test_every_public_error_of_a_room_is_in_the_tree():
    outside = {
        kind.__name__
        for kind in below(Exception) - below(OracleError)
        if re.match(r"oracle\.(?!cli|testing|signals|prompts)", kind.__module__) and not kind.__name__.startswith("_")
    }
    assert outside == set()


def test_an_internal_error_is_never_the_fault_of_the_client():
    assert {REFUSALS[kind].status for kind in below(InternalError) if kind in REFUSALS} == {503}
