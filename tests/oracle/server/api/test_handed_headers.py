"""Headers of a request that tools hand on: those that the operator names, of whichever protocol, and bounded."""

import pytest

from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import ToolResult
from oracle.tools.keys import user_headers
from tests.acceptance.harness import made_tool
from tests.oracle.server.api.conftest import FurtherTools

TURNS = [ScriptedTurn(tool_calls=(ScriptedCall("probe", {}),)), ScriptedTurn(text="Done.")]
QUESTION = "Where does the code log users in?"


@pytest.fixture
async def asked(start):
    """A service with a tool that notes what it may hand on; and what it has noted."""
    seen = []

    async def probe(_arguments):
        seen.append(user_headers())
        return ToolResult("found")

    further = FurtherTools(pass_headers=frozenset({"x-tenant", "x-lang"}))
    return await start(TURNS, tools=[made_tool(probe)], changing=further), seen


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/oracle", {"question": QUESTION}),
        ("/v1/chat/completions", {"model": "oracle", "messages": [{"role": "user", "content": QUESTION}]}),
    ],
)
async def test_a_query_has_those_of_its_request_that_are_named(asked, path, body):
    service, seen = asked
    sent = {"X-Tenant": "acme", "X-Other": "no", "Cookie": "a=b"}
    response = await service.client.post(path, json=body, headers=sent)
    assert response.status_code == 200, response.text
    assert seen == [{"x-tenant": "acme"}]
    run = (await service.client.get("/api/runs")).json()["runs"][0]["run_id"]
    for call in (f"/api/oracle/runs/{run}", f"/api/runs/{run}/export", f"/api/runs/{run}/ticks"):
        assert "acme" not in (await service.client.get(call)).text


@pytest.mark.parametrize(
    "values",
    [["x" * 1_001], ["a", "b"], ["caf\u00e9"], ["a\tb"]],
    ids=["too long", "twice", "not ASCII", "a control character"],
)
async def test_one_that_cannot_be_handed_on_is_refused(asked, values):
    service, seen = asked
    headers = [(b"X-Tenant", value.encode("latin-1")) for value in values]
    response = await service.client.post("/api/oracle", json={"question": QUESTION}, headers=headers)
    assert response.status_code == 422
    (problem,) = response.json()["detail"]
    assert problem["loc"] == ["header", "x-tenant"]
    assert "up to 1,000 plain characters" in problem["msg"]
    assert seen == []


async def test_the_longest_one_is_handed_on(asked):
    service, seen = asked
    await service.client.post("/api/oracle", json={"question": QUESTION}, headers={"X-Tenant": "x" * 1_000})
    assert seen == [{"x-tenant": "x" * 1_000}]
