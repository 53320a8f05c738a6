"""The tree of errors as its docstring draws it, and the answers that the service has for it."""

import importlib
import pkgutil
import re

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import oracle
from oracle.core import errors
from oracle.core.errors import InternalError, OperatorError, OracleError, UpstreamError, UserError
from oracle.server.api.errors import add_error_answers

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
    assert {kind.status for kind in below(InternalError)} == {None, 503}


def test_an_error_of_a_package_is_answered_as_it_says_itself():
    class QuotaError(UpstreamError):
        status = 429
        retry_after_s = 60

    class RegionError(UserError):
        loc = ("body", "region")

        def __init__(self, message: str, *, region: str) -> None:
            super().__init__(message)
            self.value = region

    class LedgerError(OperatorError):
        detail = "The ledger is closed."

    raised = {
        "quota": QuotaError("the quota is used up"),
        "region": RegionError("there is no such region", region="mars"),
        "ledger": LedgerError("connection refused by 10.0.0.1"),
        "defect": UpstreamError("no status"),
    }
    app = FastAPI()
    add_error_answers(app)

    @app.get("/{name}")
    async def fail(name: str) -> None:
        raise raised[name]

    client = TestClient(app, raise_server_exceptions=False)
    quota, region, ledger, defect = (client.get(f"/{name}") for name in raised)
    assert (quota.status_code, quota.headers["Retry-After"], quota.json()) == (
        429,
        "60",
        {"detail": "the quota is used up"},
    )
    assert (region.status_code, region.json()) == (
        422,
        {
            "detail": [
                {
                    "type": "value_error",
                    "loc": ["body", "region"],
                    "msg": "there is no such region",
                    "input": "mars",
                }
            ]
        },
    )
    assert (ledger.status_code, ledger.headers["Retry-After"]) == (503, "5")
    assert ledger.json() == {"detail": "The ledger is closed."}
    assert defect.status_code == 500
