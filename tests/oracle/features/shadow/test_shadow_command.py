"""Shadow runs on the command line: they replay like any run, and the report is the same from a service."""

import asyncio
import json
import re

import pytest

from oracle.runs.storage.store import open_store
from oracle.tools import ToolResult
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.features.shadow.conftest import shadowed
from tests.oracle.features.shadow.test_shadow_calls import OTHER, SAME, shadow_of
from tests.oracle.server.api.conftest import ALICE, OLGA, OPERATOR, TOKENS, start  # noqa: F401  a fixture
from tests.support.databases import on_both_databases

HANGS = says("Half of it", hang=True)


async def found_it(_arguments):
    """The result of a call."""
    return ToolResult("found it")


@pytest.fixture
def shadow(database, capfd):
    """Records a shadow under a control: its call is answered from its primary's; returns its id."""

    async def record(control) -> str:
        turns = [says("", calls("probe", at=1)), answers("It is here.")]
        async with (
            open_store(database.url, worker="w") as store,
            shadowed(store, turns, turns, control=control, tools=[made_tool(found_it)]) as it,
        ):
            await it.runs.ask()
            pair = await it.pair()
        assert (pair.state, pair.figures.answered, pair.figures.ran) == ("finished", 1, 0)
        return pair.shadow_id

    def recorded(control) -> str:
        run_id = asyncio.run(record(control))
        capfd.readouterr()
        return run_id

    return recorded


@on_both_databases
def test_a_shadow_replays_to_itself_and_to_the_tree_as_it_is_now(oracle, shadow):
    run_id = shadow("oracle")
    own = oracle("runs", "replay", run_id)
    assert (own.code, own.err) == (0, "")
    assert re.fullmatch(
        rf"{run_id[:8]}  on its own tree oracle@[0-9a-f]{{7}}: identical, \d+ ticks in [\d,]+ ms\n", own.out
    )
    other = oracle("runs", "replay", run_id[:12], "--tree", "oracle", "--json")
    assert (other.code, json.loads(other.out)["verdict"]) == (0, "same")
    assert oracle("runs", "show", run_id).code == 0


def test_a_shadow_that_no_tree_drove_says_that_it_cannot_be_replayed(oracle, shadow):
    ran = oracle("runs", "replay", shadow("loop"))
    assert (ran.code, ran.out) == (1, "")
    assert "no YAML tree drove it" in ran.err


@pytest.fixture
async def service(start):  # noqa: F811
    """A service with two pairs."""
    service = await start([answers("Hello.")], tokens=TOKENS | OPERATOR, operators=("olga",))
    for question, figures in (("Is it so?", SAME), ("Is it otherwise?", OTHER)):
        asked = await service.ask(question, headers=ALICE)
        await shadow_of(service, asked.run_id, figures)
    return service


def token_of(user) -> str:
    """The token in these headers."""
    return user["Authorization"].removeprefix("Bearer ")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--json",),
        ("--tree", "oracle"),
        ("--tree", "other", "--json"),
        ("--since", "2h"),
        ("--since", "2999-01-01"),
    ],
    ids=" ".join,
)
async def test_the_report_of_a_service_is_that_of_its_database(oracle, service, tmp_path, monkeypatch, options):
    monkeypatch.setenv("ORACLE_TOKEN", token_of(OLGA))
    url = f"http://127.0.0.1:{service.port}"
    served = await asyncio.to_thread(oracle, "shadow", "report", "--url", url, *options)
    read = await asyncio.to_thread(oracle, "shadow", "report", "--data-dir", tmp_path, *options)
    assert (served.code, served.err) == (0, "")
    assert served.out == read.out
    assert ("Is it otherwise?" in served.out) is ("other" not in options and "2999-01-01" not in options)


@pytest.mark.parametrize(
    ("token", "said"),
    [(token_of(ALICE), "operator"), ("nobodys-token-0123456789", "does not accept the token"), ("", "ORACLE_TOKEN")],
    ids=["a user's token", "no token of the service", "no token"],
)
async def test_who_may_not_read_the_report_is_told_why(oracle, service, monkeypatch, token, said):
    monkeypatch.setenv("ORACLE_TOKEN", token)
    ran = await asyncio.to_thread(oracle, "shadow", "report", "--url", f"http://127.0.0.1:{service.port}")
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


async def test_an_address_without_a_service_says_so(oracle, service, monkeypatch):
    monkeypatch.setenv("ORACLE_TOKEN", token_of(OLGA))
    for url, said in (
        ("http://127.0.0.1:9", "cannot be read"),
        (f"http://127.0.0.1:{service.port}/docs", "status 404"),
    ):
        ran = await asyncio.to_thread(oracle, "shadow", "report", "--url", url)
        assert (ran.code, ran.out) == (1, ""), url
        assert said in ran.err
        assert len(ran.err.splitlines()) == 1
    both = await asyncio.to_thread(oracle, "shadow", "report", "--url", "http://h", "--data-dir", ".")
    assert both.code == 2
