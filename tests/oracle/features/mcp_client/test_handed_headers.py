"""Headers of users that a server may have: with the calls of their queries, and with nothing else."""

import asyncio

import pytest
from pydantic import ValidationError
from starlette.responses import Response

from oracle.features.mcp_client.servers import ServerSettings
from oracle.tools.keys import handing
from tests.oracle.features.mcp_client.conftest import call, listening
from tests.oracle.features.mcp_client.test_http import at, raw

FOUND = {"content": [{"type": "text", "text": "found"}]}


async def asking(hub, headers):
    with handing(headers):
        return await call(hub, "raw.search")


async def accepted(_message):
    return Response(status_code=202)


OLD = {
    "server_discover": None,
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "old", "version": "1"},
    },
    "notifications_initialized": accepted,
}


@pytest.mark.parametrize("version", [{}, OLD], ids=["2026-07-28", "2025-11-25"])
async def test_each_call_has_those_of_its_user_that_the_server_may_have(joined, version):
    app, sent = raw(tools_call=FOUND, **version)
    own = {"X-Key": "s3cret"}
    async with (
        listening(app) as url,
        joined(raw=at(url, headers=own, pass_headers=("X-Tenant", "x-lang"))) as hub,
    ):
        assert hub.pass_headers == {"x-tenant", "x-lang"}
        users = [{"x-tenant": f"t{n}", "x-other": "no", "x-key": "forged"} for n in range(5)]
        await asyncio.gather(*(asking(hub, headers) for headers in users))
        assert (await asking(hub, {})).text == "found"
    handed = [each for each in sent if "x-tenant" in each]
    assert sorted(each["x-tenant"] for each in handed) == ["t0", "t1", "t2", "t3", "t4"]
    assert {each.get("mcp-method") for each in handed} == ({None} if version else {"tools/call"})
    assert {each["mcp-protocol-version"] for each in handed} == {"2025-11-25" if version else "2026-07-28"}
    assert {each["x-key"] for each in sent} == {"s3cret"}
    assert not [each for each in sent if "x-other" in each]


async def test_a_call_whose_user_headers_are_not_known_is_not_made(joined):
    app, sent = raw(tools_call=FOUND)
    async with listening(app) as url, joined(raw=at(url, pass_headers=("X-Tenant",)), plain=at(url)) as hub:
        refused = await asking(hub, None)
        assert refused.is_error
        assert refused.text.startswith("raw.search was not called: it takes headers of the user's request")
        assert "tools/call" not in [each.get("mcp-method") for each in sent]
        assert (await call(hub, "plain.search")).text == "found"


@pytest.mark.parametrize(
    "name",
    ["Authorization", "Cookie", "Host", "Mcp-Method", "Content-Length", "X-Key", "X-", "X-a b", "X-a\r\nb", "x-" * 99],
)
def test_names_of_others_are_refused(name):
    with pytest.raises(ValidationError, match="is not passed on"):
        ServerSettings(url="http://h/mcp", headers={"x-key": "v"}, pass_headers=(name,))


def test_a_program_gets_no_headers():
    with pytest.raises(ValidationError, match="'headers' and 'pass_headers' are for a 'url'"):
        ServerSettings(command="npx", pass_headers=("X-Tenant",))
