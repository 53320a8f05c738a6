"""Joins the tools of MCP servers; imported where a file of servers is set."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bt_runtime import HostAction
from oracle.server.api.backends import SIGNED
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import action_of
from oracle.tools import ToolSetupError
from oracle.tools.mcp.pins import Pins
from oracle.tools.mcp.servers import read_servers

if TYPE_CHECKING:
    from oracle.tools.mcp.hub import McpTools

_PINS = "mcp-tools.json"


def mcp_tools(settings: Settings, file: Path) -> "McpTools":
    """The tools of the servers that a file names.

    Raises:
        ToolSetupError: the file of servers, or that of approved tools, cannot be used, or the client is not installed.
    """
    servers = read_servers(file)
    try:
        from oracle.tools.mcp.hub import McpTools  # noqa: PLC0415  an extra, and slow to load
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

    def __init__(self, others: Mapping[str, HostAction], settings: Settings, file: Path) -> None:
        self._others = others
        self._servers = read_servers(file)
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
