"""MCP servers and their tools, over HTTP."""

from oracle.features.mcp_client.servers import ServerState
from tests.acceptance.scripts import made_tool, numbered
from tests.oracle.server.api.conftest import ALICE, OLGA, OPERATOR, TOKENS, FurtherTools


async def test_operators_see_what_is_offered_and_why_the_rest_is_not(start) -> None:
    tool = made_tool(numbered, "tickets.search")
    states = [
        ServerState("tickets", True, "", [tool], {f"t{n}": "it is named twice" for n in range(200)}),
        ServerState("files", False, "it gave no answer in time", [], {}),
    ]
    further = FurtherTools(states=states)
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",), changing=further)
    tickets, files = (await service.client.get("/api/tool-servers", headers=OLGA)).json()["servers"]
    assert tickets["is_connected"] is True
    assert tickets["tools"] == [
        {
            "name": "tickets.search",
            "description": "tickets.search does what the test says.",
            "writes": False,
            "needs_approval": False,
        }
    ]
    assert len(tickets["left_out"]) == 128
    assert tickets["left_out"][0] == {"name": "t0", "problem": "it is named twice"}
    assert files == {
        "name": "files",
        "is_connected": False,
        "problem": "it gave no answer in time",
        "tools": [],
        "left_out": [],
    }
    assert (await service.client.get("/api/tool-servers", headers=ALICE)).status_code == 403


async def test_a_service_without_servers_has_none(service) -> None:
    assert (await service.client.get("/api/tool-servers")).json() == {"servers": []}
