"""Converts a server's tools and answers to our types: bounded data, with nothing that could act as an instruction."""

import asyncio
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final

import anyio
import structlog
from mcp import Client, MCPError, types
from pydantic import TypeAdapter

from bt_runtime import Clock
from bt_runtime.text.phrases import clipped, truncated
from oracle.core.control_notes import neutralised
from oracle.core.encoding import to_json
from oracle.core.errors import OracleError
from oracle.core.retry import Retry, pause
from oracle.features.mcp_client.opening import OfferedTool, Pins
from oracle.features.mcp_client.servers import ServerSettings, ServerState
from oracle.features.mcp_client.wire import client_of
from oracle.tools.errors import ToolError
from oracle.tools.foreign import LONGEST_DESCRIPTION, arguments_schema, plain_description
from oracle.tools.keys import user_headers
from oracle.tools.protocol import Tool, ToolResult
from oracle.tools.schema import served

log = structlog.get_logger(__name__)


_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,96}")
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def offered_tool(tool: types.Tool) -> OfferedTool:
    """A tool as its server describes it.

    Raises:
        ValueError: it cannot be offered.
    """
    if not _NAME.fullmatch(tool.name):
        raise ValueError("its name is not allowed: up to 96 letters, digits, '_', '-', '.' and '/'")
    said = _CONTROL.sub("", (tool.description or tool.title or "")[: 2 * LONGEST_DESCRIPTION])
    description = truncated(neutralised(plain_description(said)), LONGEST_DESCRIPTION)
    reads = tool.annotations is not None and tool.annotations.read_only_hint is True
    schema = dict(arguments_schema(tool.input_schema))
    return OfferedTool(name=tool.name, description=description, input_schema=schema, is_called_reading=reads)


def result_of(result: types.CallToolResult | types.InputRequiredResult | types.Result) -> ToolResult:
    """The result of a call: its texts, and in words what else it has."""
    if not isinstance(result, types.CallToolResult):
        return ToolResult("Not done: the server asks for something that only its own user could give.", is_error=True)
    parts = list(_parts(result.content))
    has_text = any(isinstance(each, types.TextContent) for each in result.content)
    if result.structured_content is not None and not has_text:
        parts.append(to_json(result.structured_content).decode())
    text = "\n".join(parts)
    if not text.strip() and result.is_error:
        text = "The server says that it failed, and not why."
    return ToolResult(text, is_error=bool(result.is_error), is_empty=not text.strip())


def _parts(content: Iterable[Any]) -> Iterator[str]:
    for each in content:
        if isinstance(each, types.TextContent):
            yield each.text
        elif isinstance(each, types.EmbeddedResource) and isinstance(each.resource, types.TextResourceContents):
            yield each.resource.text
        elif isinstance(each, types.ResourceLink):
            yield f"[A resource of the server, which is not read here: {clipped(str(each.uri), 300)}]"
        else:
            kind = getattr(each, "mime_type", None) or each.type
            yield f"[Left out: {clipped(str(kind), 80)}. Only text can be read here.]"


MOST_TOOLS: Final = 128
_MOST_PAGES: Final = 32
_MOST_LINES: Final = 10  # in the log, of one list
_LOOKED_AGAIN_S: Final = 60.0
"""How long a list of tools holds that the server does not call changed."""
_SHORTEST_S: Final = 1.0  # between two lists
_RETRY: Final = Retry(first_s=1.0, longest_s=120.0)
_RESULT: Final[TypeAdapter[Any]] = TypeAdapter(types.CallToolResult | types.InputRequiredResult)
_ANSWER: Final[TypeAdapter[Any]] = TypeAdapter(dict[str, Any])
_MOST_PARTS: Final = 1_000  # of a result
_LONGEST_PROBLEM: Final = 300
_REFUSED: Final = "mcp_tool.refused"
_CHANGED: Final = "it differs from what was approved"


class Connection:
    """One server.

    Args:
        name: the operator's name of it.
        settings: the server's entry in the file of servers.
        pins: what was approved of its tools.
        environ: the values of `${VARIABLES}`.
        clock: times the waits between attempts.
    """

    def __init__(
        self, name: str, settings: ServerSettings, *, pins: Pins, environ: Mapping[str, str], clock: Clock
    ) -> None:
        self.name = name
        self.problem = ""
        """Why it cannot be reached; empty if it can, or was not tried yet."""
        self.settled = asyncio.Event()
        """It has been tried."""
        self._settings = settings
        self._pins = pins
        self._clock = clock
        self._look = asyncio.Event()
        self._new_client = partial(client_of, settings, environ, on_change=self._look.set)
        self._client: Client | None = None
        self._listed: frozenset[str] | None = None
        self._told: set[tuple[str, str, str]] = set()

    async def run(self) -> None:
        """Keep it connected until this is cancelled."""
        failures = 0
        while True:
            began_s = self._clock.now()
            try:
                await self._connect()
            except Exception as error:  # noqa: BLE001  whatever a server does costs its own tools alone
                problem = _reason(error)
            failures = 1 if self._clock.now() - began_s > _RETRY.longest_s else failures + 1
            if problem != self.problem:
                log.warning("mcp_server.failed", server=self.name, problem=problem)
            self.problem = problem
            self.settled.set()
            await pause(_RETRY.wait_s(failures), clock=self._clock)

    async def _connect(self) -> None:
        """Connect, and stay until the connection is lost."""
        try:
            with anyio.fail_after(self._settings.timeout_s) as limit:
                async with self._new_client() as client, anyio.create_task_group() as tasks:
                    await self._list(client)
                    limit.deadline = math.inf
                    self._client, self.problem = client, ""
                    log.info("mcp_server.connected", server=self.name, tools=len(self._listed or ()))
                    self.settled.set()
                    tasks.start_soon(self._listen, client)
                    while True:
                        await self._clock.wait(self._look, until_s=self._clock.now() + _LOOKED_AGAIN_S)
                        await pause(_SHORTEST_S, clock=self._clock)
                        self._look.clear()
                        with anyio.fail_after(self._settings.timeout_s):
                            await self._list(client)
        finally:
            self._client = None

    async def _listen(self, client: Client) -> None:
        """Listen for changes of the tools, if the version of the protocol supports that."""
        while True:
            with suppress(Exception):  # the list is read again from time to time anyway
                async with client.listen(tools_list_changed=True) as events:
                    async for _ in events:
                        self._look.set()
            await pause(_LOOKED_AGAIN_S, clock=self._clock)

    async def _list(self, client: Client) -> None:
        found: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) > MOST_TOOLS:
                break
        offered, told = await asyncio.to_thread(self._read, [tool for tool in found if self._settings.has(tool.name)])
        await asyncio.to_thread(self._pins.see, self.name, offered.values())
        self._listed = frozenset(offered)
        told |= {("mcp_tool.changed", name, _CHANGED) for name in self.changed}
        new = sorted(told - self._told)
        for event, name, problem in new[:_MOST_LINES]:
            log.warning(event, server=self.name, tool=name, problem=problem)
        if len(new) > _MOST_LINES:
            log.warning("mcp_tool.more_left_out", server=self.name, tools=len(new) - _MOST_LINES)
        self._told = told

    @staticmethod
    def _read(found: Sequence[types.Tool]) -> tuple[dict[str, OfferedTool], set[tuple[str, str, str]]]:
        """The tools that can be offered, and why others cannot; of more than `MOST_TOOLS` the rest is only counted."""
        offered: dict[str, OfferedTool] = {}
        told: set[tuple[str, str, str]] = set()
        for tool in found[:MOST_TOOLS]:
            problem = "it is named twice" if tool.name in offered else ""
            try:
                offered.setdefault(tool.name, offered_tool(tool))
            except ValueError as error:
                problem = str(error)
            if problem:
                told.add((_REFUSED, clipped(tool.name, 100), problem))
        if len(found) > MOST_TOOLS:
            told.add((_REFUSED, "(the rest)", f"there are {len(found):,} tools; {MOST_TOOLS} of them are read"))
        return offered, told

    @property
    def changed(self) -> tuple[str, ...]:
        """The tools that differ from what was approved."""
        pins = self._pins.of(self.name)
        listed = pins if self._listed is None else self._listed
        return tuple(sorted(name for name, pin in pins.items() if pin.changed and name in listed))

    @property
    def state(self) -> ServerState:
        """How it stands now."""
        refused = {name: problem for event, name, problem in sorted(self._told) if event == _REFUSED}
        left_out = refused | dict.fromkeys(self.changed, _CHANGED)
        said = {f"{self.name}.{name}": pin.approved.description for name, pin in self._pins.of(self.name).items()}
        tools = [replace(tool, description=said[tool.name]) for tool in self.tools()]
        return ServerState(self.name, self._client is not None, self.problem, tools, left_out)

    def tools(self, *, also_missing: bool = False) -> list[Tool]:
        """The tools that can be offered now; until the server has been tried those that were approved before.

        Args:
            also_missing: all that were ever approved, although they cannot be called now.
        """
        pins = self._pins.of(self.name)
        if also_missing or not self.settled.is_set():
            return [self._tool(pin.approved) for name, pin in pins.items() if self._settings.has(name)]
        listed = self._listed if self._client is not None and self._listed else ()
        return [self._tool(pin.approved) for name, pin in pins.items() if name in listed and not pin.changed]

    def _tool(self, offered: OfferedTool) -> Tool:
        settings = self._settings
        return Tool(
            name=f"{self.name}.{offered.name}",
            description=f"(In the words of the MCP server {self.name!r}:) {offered.description}",
            when_to_use=f"A tool of the MCP server {self.name!r}; its description says what for.",
            input_schema=offered.input_schema,
            call=partial(self._call, offered.name),
            group=settings.group or self.name,
            writes=settings.changes(offered.name, is_called_reading=offered.is_called_reading),
            query_types=served(settings.query_types),
            timeout_s=settings.timeout_s,
            needs_approval=settings.is_approved_first(offered.name),
            labels=settings.labels_of(offered.name),
        )

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        await self.settled.wait()
        if self._client is None:
            raise ToolError(f"The MCP server {self.name!r} cannot be reached at present.")
        if self._settings.pass_headers and user_headers() is None:
            raise ToolError(
                f"{self.name}.{tool} was not called: it takes headers of the user's request, which are not known here: "
                "the run has waited, or continues in another process. The user has to ask again."
            )
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        try:
            # Not by `call_tool`, which checks results against patterns that the server may choose.
            answer = await self._client.session.send_request(
                types.CallToolRequest(params=params), _ANSWER, request_read_timeout_seconds=self._settings.timeout_s
            )
            parts = answer.get("content")
            if isinstance(parts, list) and len(parts) > _MOST_PARTS:
                rest = {"type": "text", "text": f"[Left out: {len(parts) - _MOST_PARTS:,} more parts.]"}
                answer["content"] = [*parts[:_MOST_PARTS], rest]
            result = _RESULT.validate_python(answer, by_name=False)
        except MCPError as error:
            if error.error.code == types.CONNECTION_CLOSED:
                self._look.set()
            raise ToolError(f"{self.name}.{tool} failed: {clipped(error.error.message, _LONGEST_PROBLEM)}") from None
        except Exception as error:  # noqa: BLE001  the connection may end at any moment, and a result may be anything
            self._look.set()
            what = "its result is none" if isinstance(error, ValueError) else "the connection was lost"
            raise ToolError(f"{self.name}.{tool} failed: {what}.") from None
        return result_of(result)


def _reason(error: BaseException) -> str:
    """The first error of a group, without what stands around it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it gave no answer in time"
    text = clipped(str(error), _LONGEST_PROBLEM)
    return text if text and isinstance(error, (OracleError, MCPError)) else f"{type(error).__name__}: {text}"
