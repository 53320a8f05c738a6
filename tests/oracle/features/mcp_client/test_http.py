"""Servers over HTTP: of both versions of the protocol, and such as no client library expects."""

import asyncio
import gzip
import json

import pytest
from mcp.server.mcpserver import Context, MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from structlog.testing import capture_logs

from bt_runtime.testing import FakeClock
from oracle.features.mcp_client.servers import ServerSettings
from tests.oracle.features.mcp_client.conftest import call, listening
from tests.support.waiting import until

DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "public",
}
TOOL = {"name": "search", "description": "Searches.", "inputSchema": {"type": "object"}}
PATTERNS = {"type": "object", "properties": {f"p{n}": {"pattern": ".{1,4000}"} for n in range(40)}}
ELSEWHERE = {"type": "object", "$ref": "http://192.0.2.1/schema"}
LINKS = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)} | {"d60": {}}
CHAIN = {"type": "object", "$defs": LINKS}


def at(url, **settings):
    return ServerSettings(**{"url": f"{url}/mcp", "timeout_s": 10.0} | settings)


def raw(**results):
    """A server by hand: what it answers to each method, and what headers it got."""
    headers: list[dict[str, str]] = []

    async def answer(request: Request) -> Response:
        headers.append(dict(request.headers))
        message = await request.json()
        method = message["method"].replace("/", "_")
        given = {"server_discover": DISCOVERED, "tools_list": {"tools": [TOOL], "ttlMs": 0, "cacheScope": "public"}}
        found = (given | results).get(method)
        if callable(found):
            return await found(message)
        if found is None:
            error = {"code": -32601, "message": "Method not found"}
            return JSONResponse({"jsonrpc": "2.0", "id": message.get("id"), "error": error}, 404)
        result = {"resultType": "complete"} | found
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app = Starlette(routes=[Route("/mcp", answer, methods=["POST", "GET", "DELETE"])])
    return app, headers


async def until_tried_again(connection, clock):
    """Wait until a connection has its tools; the time between two attempts passes on the held clock."""

    def tools():
        clock.advance(0.5)
        return connection.tools()

    await until(tools)


def growing():
    """A server that has another tool once `grow` was called."""
    server = MCPServer("growing")

    @server.tool()
    async def grow(ctx: Context) -> str:
        server.add_tool(lambda: "grown", name="grown", description="New.")
        await ctx.notify_tools_changed()
        return "there is another"

    return server


@pytest.mark.long("waits for a second between two lists")
@pytest.mark.parametrize("options", [{}, {"json_response": True}, {"stateless_http": True}], ids=str)
async def test_a_server_of_the_library_is_used_and_says_that_its_tools_have_changed(joined, options):
    async with listening(growing().streamable_http_app(**options)) as url, joined(growing=at(url)) as hub:
        (connection,) = hub.connections
        begun_with = hub.tools()
        assert (await call(hub, "growing.grow")).text == "there is another"
        await until(lambda: len(connection.tools()) == 2)
        assert (await call(hub, "growing.grown")).text == "grown"
        assert [tool.name for tool in begun_with] == ["growing.grow"]


async def test_headers_are_filled_and_sent_and_nothing_of_the_process(joined):
    app, headers = raw(tools_call={"content": [{"type": "text", "text": "found"}]})
    key = {"X-Key": "Bearer ${KEY}"}
    async with listening(app) as url, joined({"KEY": "s3cret"}, raw=at(url, headers=key)) as hub:
        assert (await call(hub, "raw.search")).text == "found"
    assert {each["x-key"] for each in headers} == {"Bearer s3cret"}
    assert {each["accept-encoding"] for each in headers} == {"identity"}
    assert headers[-1]["mcp-name"] == "search"


async def huge(message):
    text = "x" * 3_000_000
    body = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": text}]}}
    return JSONResponse(body)


async def endless(message):
    async def pieces():
        while True:
            yield b" " * 65_536
            await asyncio.sleep(0)

    return StreamingResponse(pieces(), media_type="application/json")


async def endless_event(message):
    async def pieces():
        yield b"data: "
        while True:
            yield b"x" * 65_536
            await asyncio.sleep(0)

    return StreamingResponse(pieces(), media_type="text/event-stream")


async def packed(message):
    return Response(
        gzip.compress(b"x" * 5_000_000), media_type="application/json", headers={"content-encoding": "gzip"}
    )


async def elsewhere(message):
    return Response(status_code=307, headers={"location": "http://192.0.2.1/mcp"})


async def broken(message):
    return Response(b"{]", media_type="application/json")


async def another(message):
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": {"content": 5}})


async def nothing(message):
    return Response(status_code=500)


@pytest.mark.parametrize("answer", [huge, endless, endless_event, packed, elsewhere, broken, another, nothing])
async def test_what_no_server_should_answer_is_an_error_of_the_call_and_the_next_one_is_right(joined, answer):
    answers = [answer]

    async def first_wrong(message):
        if answers:
            return await answers.pop()(message)
        result = {"resultType": "complete", "content": [{"type": "text", "text": "right"}]}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app, _ = raw(tools_call=first_wrong)
    clock = FakeClock(jump=False)
    async with listening(app) as url, joined(raw=at(url, largest_bytes=1_000_000), clock=clock) as hub:
        wrong = await call(hub, "raw.search")
        assert wrong.is_error
        assert len(wrong.text) < 500
        (connection,) = hub.connections
        await until_tried_again(connection, clock)
        assert (await call(hub, "raw.search")).text == "right"


@pytest.mark.parametrize(
    ("tools", "offered"),
    [
        pytest.param([TOOL, {**TOOL, "name": "bad", "inputSchema": {"type": "array"}}], [], id="no object"),
        pytest.param([TOOL, {**TOOL, "name": "a b"}], ["raw.search"], id="no name"),
        pytest.param([TOOL, TOOL], ["raw.search"], id="twice"),
        pytest.param(
            [TOOL, {**TOOL, "name": "far", "inputSchema": ELSEWHERE}],
            ["raw.search"],
            id="a schema elsewhere",
        ),
        pytest.param([{**TOOL, "name": f"t{n}"} for n in range(300)], [f"raw.t{n}" for n in range(128)], id="many"),
        pytest.param([{**TOOL, "description": "x" * 100_000}], ["raw.search"], id="a long description"),
        pytest.param("none", [], id="no list"),
        pytest.param([{"name": 5}], [], id="no tool"),
    ],
)
async def test_a_server_that_lies_about_its_tools_costs_its_own_alone(joined, tools, offered):
    app, _ = raw(tools_list={"tools": tools, "ttlMs": 0, "cacheScope": "public"})
    good, _ = raw()
    async with listening(app) as url, listening(good) as other, joined(raw=at(url), good=at(other)) as hub:
        assert [tool.name for tool in hub.tools()] == [*offered, "good.search"]
        assert all(len(tool.description) < 4_100 for tool in hub.tools())


@pytest.mark.parametrize(
    ("tools", "left_out"),
    [
        pytest.param(
            [{**TOOL, "name": f"t{n}", "inputSchema": ELSEWHERE} for n in range(20_000)], 128, id="20,000 wrong"
        ),
        pytest.param([{**TOOL, "name": f"t{n}", "inputSchema": PATTERNS} for n in range(127)], 0, id="large patterns"),
        pytest.param([{**TOOL, "name": "t", "inputSchema": {**CHAIN, "$ref": "#/$defs/d0"}}], 1, id="no end"),
    ],
)
async def test_whatever_a_server_lists_is_read_in_bounds_with_few_lines_in_the_log(joined, tools, left_out):
    app, _ = raw(tools_list={"tools": [TOOL, *tools], "ttlMs": 0, "cacheScope": "public"})
    with capture_logs() as logs:
        async with listening(app) as url, joined(raw=at(url)) as hub:
            (state,) = hub.states()
            assert "raw.search" in [tool.name for tool in hub.tools()], state
    assert len(state.left_out) == left_out
    lines = [each for each in logs if each["event"].startswith("mcp_tool.")]
    assert len(lines) == min(left_out, 11)
    assert left_out < 11 or (lines[-1]["event"], lines[-1]["tools"]) == ("mcp_tool.more_left_out", left_out - 10)


async def test_of_a_result_of_very_many_parts_the_first_are_read(joined):
    app, _ = raw(tools_call={"content": [{"type": "text", "text": str(n)} for n in range(100_000)]})
    async with listening(app) as url, joined(raw=at(url, largest_bytes=10_000_000)) as hub:
        result = await call(hub, "raw.search")
    assert result.text.split()[:1000] == [str(n) for n in range(1_000)]
    assert result.text.endswith("[Left out: 99,000 more parts.]")


async def test_pages_without_end_are_read_up_to_a_bound(joined):
    async def page(message):
        result = {"resultType": "complete", "tools": [], "nextCursor": "again", "ttlMs": 0, "cacheScope": "public"}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    app, _ = raw(tools_list=page)
    async with listening(app) as url, joined(raw=at(url)) as hub:
        assert hub.tools() == []
        assert hub.missing() == []


async def test_a_server_that_is_down_is_found_when_it_comes(joined):
    app, _ = raw(tools_call={"content": [{"type": "text", "text": "found"}]})
    async with listening(app) as url:
        port = int(url.rpartition(":")[2])
    clock = FakeClock(jump=False)
    async with joined(raw=at(url), clock=clock) as hub:
        (connection,) = hub.connections
        assert hub.missing() == ["raw"]
        assert hub.tools() == []
        async with listening(app, port=port):
            await until_tried_again(connection, clock)
            assert (await call(hub, "raw.search")).text == "found"


async def test_what_was_seen_before_is_offered_until_the_server_was_tried(joined, pins):
    app, _ = raw(tools_call={"content": [{"type": "text", "text": "found"}]})
    async with listening(app) as url:
        async with joined(raw=at(url)) as hub:
            assert json.loads(pins.file.read_bytes())["servers"].keys() == {"raw"}
        hub = type(hub)({"raw": at(url)}, pins=pins, environ={})
        async with hub:
            assert [tool.name for tool in hub.tools()] == ["raw.search"]
            assert (await call(hub, "raw.search")).text == "found"
