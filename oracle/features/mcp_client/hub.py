"""All MCP servers of a process."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, Self

import structlog

from bt_runtime import Clock, SystemClock
from oracle.features.mcp_client.connection import Connection
from oracle.features.mcp_client.opening import Pins
from oracle.features.mcp_client.servers import ServerSettings, ServerState
from oracle.tools.errors import ToolSetupError
from oracle.tools.protocol import Tool

_END_S: Final = 8.0

log = structlog.get_logger(__name__)


class McpTools:
    """The tools of all servers; enter it to connect to them.

    Args:
        servers: the settings of each server, by its name.
        pins: what was approved of their tools.
        environ: the values of `${VARIABLES}`.
        clock: times the waits between attempts.
    """

    def __init__(
        self,
        servers: Mapping[str, ServerSettings],
        *,
        pins: Pins,
        environ: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
    ) -> None:
        clock = clock or SystemClock()
        self._pins = pins
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = [
            Connection(name, settings, pins=pins, environ=environ, clock=clock) for name, settings in servers.items()
        ]

        self.pass_headers = frozenset(name.lower() for each in servers.values() for name in each.pass_headers)
        """The names of all headers of users that servers get, in lower case."""

    async def __aenter__(self) -> Self:
        self._tasks = {asyncio.create_task(each.run(), name=f"mcp:{each.name}") for each in self.connections}
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_END_S)

    async def settle(self, *, within_s: float) -> None:
        """Wait until every server without known tools has been tried, or the time is over."""
        new = [each.settled.wait() for each in self.connections if not each.tools()]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*new), within_s)

    def tools(self) -> list[Tool]:
        """The tools that a query may begin with now."""
        try:
            self._pins.refresh()  # an operator may have approved some
        except ToolSetupError as error:
            log.error("mcp_pins.unreadable", problem=str(error))  # noqa: TRY400  what was read last holds
        return [tool for each in self.connections for tool in each.tools()]

    def known(self) -> list[Tool]:
        """All tools that were ever approved, also those that cannot be called now."""
        return [tool for each in self.connections for tool in each.tools(also_missing=True)]

    def states(self) -> list[ServerState]:
        """How the servers stand."""
        return [each.state for each in self.connections]

    def missing(self) -> list[str]:
        """The servers that cannot be reached, and the tools that are other than approved."""
        return [
            name
            for each in self.connections
            for name in ([each.name] if each.problem else [f"{each.name}.{tool}" for tool in each.changed])
        ]
