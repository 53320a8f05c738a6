"""Connections to real servers: programs of this repository, and HTTP within the process."""

import asyncio
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import uvicorn

from oracle.features.mcp_client.hub import McpTools
from oracle.features.mcp_client.opening import Pins
from oracle.features.mcp_client.servers import ServerSettings
from oracle.tools import ToolRegistry

ROOT = Path(__file__).parents[4]


def program(kind, *more, **settings):
    args = ("-m", "tests.support.mcp_server", kind, *map(str, more))
    return ServerSettings(
        **{"command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}, "timeout_s": 20.0} | settings
    )


@pytest.fixture(autouse=True)
def quiet_logs():
    """Instead of the fixture of this name for all features: tests of servers read the log."""


@pytest.fixture
def pins(tmp_path):
    return Pins(tmp_path / "data" / "mcp-tools.json")


@pytest.fixture
def joined(pins):
    """The tools of servers by name, once each has been tried; `call` goes the way of every call."""

    @asynccontextmanager
    async def join(environ=None, *, clock=None, **servers):
        hub = McpTools(servers, pins=pins, environ={} if environ is None else environ, clock=clock)
        async with hub:
            async with asyncio.timeout(30):
                await asyncio.gather(*(each.settled.wait() for each in hub.connections))
            yield hub

    return join


async def call(hub, name, **arguments):
    async with asyncio.timeout(30):
        return await ToolRegistry(hub.tools()).call(name, arguments)


class _Server(uvicorn.Server):
    def __init__(self, config):
        super().__init__(config)
        self.is_listening = asyncio.Event()

    @contextmanager
    def capture_signals(self):
        yield

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.is_listening.set()


@asynccontextmanager
async def listening(app, *, port=0):
    """An application of ASGI on loopback; gives its address."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=1
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve())
    try:
        await server.is_listening.wait()
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        await asyncio.wait({task})
