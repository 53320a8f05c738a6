"""Adds the tools of MCP servers, and keeps their approvals; imported if a file of servers is set.

Approvals are in a file of the data folder, which all workers share. A tool is approved as it is first seen. If its
definition changes later, it is not offered until an operator approves the change.
"""

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict

from bt_runtime import HostAction
from oracle.core.encoding import to_json
from oracle.features.mcp_client.servers import read_servers
from oracle.server.api.named import SIGNED
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings, action_of
from oracle.server.wiring.domains import domain_of
from oracle.tools.errors import ToolSetupError

if TYPE_CHECKING:
    from oracle.features.mcp_client.hub import McpTools


_WAIT_S: Final = 10.0


class OfferedTool(BaseModel):
    """A server's definition of a tool, cleaned and bounded.

    Args:
        name: by which the server knows it.
        description: the text that the model reads.
        input_schema: JSON schema of its arguments.
        is_called_reading: the server says that it changes nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    input_schema: dict[str, Any]
    is_called_reading: bool = False

    @property
    def digest(self) -> str:
        """Identifies this version of the definition."""
        return sha256(to_json([self.description, self.input_schema, self.is_called_reading])).hexdigest()[:16]


class Pinned(BaseModel):
    """A tool in the file: as it was approved, and as its server offers it now if that is something else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    approved: OfferedTool
    changed: OfferedTool | None = None


class _File(BaseModel):
    servers: dict[str, dict[str, Pinned]]


class Pins:
    """The file.

    Raises:
        ToolSetupError: there is one that cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stamp: tuple[int, int] | None = None
        self._known: dict[str, dict[str, Pinned]] = {}
        self.refresh()

    def of(self, server: str) -> Mapping[str, Pinned]:
        """The tools of a server that have ever been seen."""
        return self._known.get(server, {})

    def refresh(self) -> bool:
        """Read the file if it is another one than before; returns whether it was."""
        try:
            found = self.file.stat()
            stamp = (found.st_mtime_ns, found.st_ino)
            if stamp == self._stamp:
                return False
            self._known = _File.model_validate_json(self.file.read_bytes()).servers
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ToolSetupError(f"{str(self.file)!r} cannot be read: {error.strerror}") from None
        except ValueError:
            raise ToolSetupError(
                f"{str(self.file)!r} is damaged: it says which tools of MCP servers were approved; delete it, and "
                "what they offer now counts as approved"
            ) from None
        self._stamp = stamp
        return True

    def see(self, server: str, offered: Iterable[OfferedTool]) -> None:
        """Note what a server offers now; a tool that was never seen is approved so.

        Raises:
            ToolSetupError: the file cannot be written.
        """
        self._change(server, {tool.name: tool for tool in offered}, approves=False)

    def approve(self, server: str, tool: str) -> bool:
        """Approve a tool as its server offers it now; returns whether that was something else.

        Raises:
            ToolSetupError: the file cannot be written.
        """
        self.refresh()
        pinned = self.of(server).get(tool)
        if pinned is None or pinned.changed is None:
            return False
        self._change(server, {tool: pinned.changed}, approves=True)
        return True

    def _change(self, server: str, offered: Mapping[str, OfferedTool], *, approves: bool) -> None:
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self.file.with_suffix(".lock"), timeout=_WAIT_S, mode=0o600):
                self.refresh()
                before = self.of(server)
                after = dict(before)
                for name, now in offered.items():
                    approved = now if approves or name not in before else before[name].approved
                    after[name] = Pinned(approved=approved, changed=None if now == approved else now)
                if after != before:
                    partial = self.file.with_suffix(".partial")
                    with open(partial, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                        file.write(to_json(_File(servers={**self._known, server: after}).model_dump()))
                    partial.replace(self.file)
                    self.refresh()
        except (OSError, Timeout) as error:
            raise ToolSetupError(f"{str(self.file)!r} cannot be written: {error}") from None


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
    servers = read_servers(settings["mcp_servers"], domain_of(settings).types)
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
    """The approved tools of MCP servers.

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
        self._servers = read_servers(settings["mcp_servers"], domain_of(settings).types)
        self._pins = mcp_pins(settings)
        self._actions: dict[str, HostAction] | None = None

    def _now(self) -> Mapping[str, HostAction]:
        if self._pins.refresh() or self._actions is None:
            self._actions = dict(self._others) | {
                f"{server}.{name}": action_of(pin.approved.input_schema, labels=settings.labels_of(name))
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
