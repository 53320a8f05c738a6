"""Joins the tools of MCP servers; imported where a file of servers is set."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bt_runtime import HostAction
from oracle.features.mcp_client.pins import Pins
from oracle.features.mcp_client.servers import read_servers
from oracle.server.api.backends import SIGNED
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings, action_of
from oracle.tools import ToolSetupError

if TYPE_CHECKING:
    from oracle.features.mcp_client.hub import McpTools

_PINS = "mcp-tools.json"
_SETTLE_S = 10.0
"""How long the question of a command waits for servers of which no tool is known."""


@asynccontextmanager
async def open_servers(settings: Settings, fittings: Fittings) -> AsyncIterator[None]:
    """Connect to the servers; a service does not wait for them.

    Raises:
        ToolSetupError: see `mcp_tools`.
    """
    async with mcp_tools(settings) as fittings.changing:
        if fittings.metrics is None:
            await fittings.changing.settle(within_s=_SETTLE_S)
        else:
            fittings.metrics.count_any_tool()
        yield


def mcp_tools(settings: Settings) -> "McpTools":
    """The tools of the servers that the settings name.

    Raises:
        ToolSetupError: the file of servers, or that of approved tools, cannot be used, or the client is not installed.
    """
    servers = read_servers(settings.mcp_servers)
    try:
        from oracle.features.mcp_client.hub import McpTools  # noqa: PLC0415  an extra, and slow to load
    except ImportError as error:
        raise ToolSetupError(f"ORACLE_MCP_SERVERS needs the extra: pip install 'oracle-bt[mcp]' ({error})") from None
    tools = McpTools(servers, pins=mcp_pins(settings))
    wrong = tools.pass_headers & {SIGNED.lower(), (settings.user_token_header or SIGNED).lower()}
    if wrong:
        raise ToolSetupError(f"{min(wrong)!r} cannot be one of 'pass_headers': it has a token of the user for Oracle")
    return tools


def mcp_pins(settings: Settings) -> Pins:
    """What was approved of the tools of MCP servers.

    Raises:
        ToolSetupError: it cannot be read.
    """
    return Pins(settings.data_dir / _PINS)


class McpActions(Mapping[str, HostAction]):
    """The tools that trees may name, those of MCP servers with them that were ever approved, as they are at each look.

    Raises:
        ToolSetupError: the file of servers, or that of approved tools, cannot be used.
    """

    def __init__(self, others: Mapping[str, HostAction], settings: Settings) -> None:
        self._others = others
        self._servers = read_servers(settings.mcp_servers)
        self._pins = mcp_pins(settings)
        self._actions: dict[str, HostAction] | None = None

    def _now(self) -> Mapping[str, HostAction]:
        if self._pins.refresh() or self._actions is None:
            self._actions = dict(self._others) | {
                f"{server}.{name}": action_of(pin.approved.input_schema)
                for server, settings in self._servers.items()
                for name, pin in self._pins.of(server).items()
                if settings.has(name)
            }
        return self._actions

    def __getitem__(self, name: str) -> HostAction:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())
