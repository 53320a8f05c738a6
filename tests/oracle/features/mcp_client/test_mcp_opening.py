"""The tools of MCP servers in a service: the start waits for none, and what is missing is said."""

import json
import stat
import sys
from contextlib import nullcontext
from pathlib import Path

import httpx2
import pytest

from oracle.features.mcp_client.opening import mcp_tools
from oracle.features.mcp_client.servers import read_servers
from oracle.server.api.app import build_app
from oracle.server.settings.fields import Settings
from oracle.server.wiring.service import open_service
from oracle.tools import ToolSetupError
from tests.support.waiting import until

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("name", ["x-openwebui-user-jwt", "X-User-Token"])
def test_headers_that_have_a_token_for_the_service_are_handed_to_nobody(tmp_path: Path, name: str) -> None:
    file = tmp_path / "servers.yaml"
    for header, is_right in (("X-Tenant", True), (name, False)):
        file.write_text(json.dumps({"servers": {"a": {"url": "http://h/mcp", "pass_headers": [header]}}}))
        settings = Settings(data_dir=tmp_path, mcp_servers=file, user_token_header="X-User-Token")
        with nullcontext() if is_right else pytest.raises(ToolSetupError, match="cannot be one of 'pass_headers'"):
            assert mcp_tools(settings).pass_headers == {"x-tenant"}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            {"search": {"reads": "hostile"}},
            "'labels' of 'search': 'hostile' is no label of what a tool reads; one of: ",
        ),
        (
            {"s*": {"reads": "trusted"}, "search": {"reads": "untrusted"}},
            "'labels': 'search' and 's\\*' mean the same tool, and say 'untrusted' and 'trusted'; remove one",
        ),
    ],
)
def test_labels_that_contradict_each_other_are_refused(tmp_path: Path, labels: object, message: str) -> None:
    file = tmp_path / "servers.yaml"
    file.write_text(json.dumps({"servers": {"a": {"url": "http://h/mcp", "labels": labels}}}))
    with pytest.raises(ToolSetupError, match=message):
        mcp_tools(Settings(data_dir=tmp_path, mcp_servers=file))


def test_tools_of_a_server_have_the_labels_that_the_file_gives_them(tmp_path: Path) -> None:
    labels = {"*": {"reads": "untrusted"}, "send_*": {"writes": "outward"}}
    file = tmp_path / "servers.yaml"
    file.write_text(json.dumps({"servers": {"a": {"url": "http://h/mcp", "labels": labels}, "b": {"url": "http://i"}}}))
    servers = read_servers(file)
    assert servers["a"].labels_of("send_mail") == {"untrusted", "outward"}
    assert servers["b"].labels_of("send_mail") is None


@pytest.mark.long("starts a process")
async def test_tools_come_while_the_service_runs_and_what_is_missing_is_named(tmp_path: Path) -> None:
    server = {
        "command": sys.executable,
        "args": ["-m", "tests.support.mcp_server", "tickets"],
        "env": {"PYTHONPATH": str(ROOT)},
    }
    servers = {"tickets": server, "gone": {"url": "http://127.0.0.1:9/mcp"}}
    file, data = tmp_path / "servers.yaml", tmp_path / "data"
    file.write_text(json.dumps({"servers": servers}))
    settings = Settings(data_dir=data, project_dir=tmp_path, llm="offline", mcp_servers=file)
    async with open_service(settings) as parts:
        begun_with = parts.oracle.tools_for("local").names
        await until(
            lambda: "tickets.search" in parts.oracle.tools_for("local").names and parts.oracle.changing.missing() != []
        )
        transport = httpx2.ASGITransport(app=build_app(parts))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            ready = await client.get("/readyz")
        assert "tickets.search" in parts.trees.trees.library.registry.actions
        assert parts.oracle.may_write("tickets.search")
    assert "tickets.search" not in begun_with
    assert (ready.status_code, ready.json()["missing_tools"]) == (200, ["gone"])
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in data.glob("mcp-tools*"))
