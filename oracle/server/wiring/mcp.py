"""Joins the tools of MCP servers; their client is imported where a file of servers is set."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bt_runtime import HostAction
from oracle.server.api.backends import SIGNED
from oracle.server.settings.fields import Settings
from oracle.tools import ToolSetupError
from oracle.tools.mcp.pins import Pins
from oracle.tools.mcp.servers import read_servers

if TYPE_CHECKING:
    from oracle.tools.mcp.hub import McpTools

_PINS = "mcp-tools.json"


def mcp_tools(settings: Settings) -> "McpTools | None":
    """The tools of the servers that the settings name; `None`: they name none.

    Raises:
        ToolSetupError: the file of servers, or that of approved tools, cannot be used, or the client is not installed.
    """
    if settings.mcp_servers is None:
        return None
    servers = read_servers(settings.mcp_servers)
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

    def __init__(self, others: Mapping[str, HostAction], settings: Settings) -> None:
        self._others = others
        self._servers = read_servers(settings.mcp_servers) if settings.mcp_servers is not None else {}
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


def action_of(schema: Mapping[str, Any], *, is_callable: bool = True) -> HostAction:
    """What a tree may call, by the schema of the tool's arguments."""
    takes_any = schema.get("additionalProperties", True) is not False
    names = None if takes_any else tuple(schema.get("properties", ()))
    return HostAction(names, frozenset(schema.get("required", ())), result="str", is_callable=is_callable)
