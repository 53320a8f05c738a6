"""The tools of a service by name; all tool calls go through `ToolRegistry.call`.

Every call returns a `ToolResult`: an unknown tool, wrong arguments, an exception, a timeout or too much output give an
error (or truncated) result with a text that the model can act on. Only `CancelledError` propagates.
"""

import asyncio
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from bt_runtime.text import near
from oracle.core.chunks import Source, SourceType
from oracle.core.errors import ToolDefinitionError
from oracle.core.sources import QueryTypes, shipped_types
from oracle.llm.protocol import ToolDefinition
from oracle.tools.errors import ToolError
from oracle.tools.protocol import READS, WRITES, Around, Excerpt, Tool, ToolResult
from oracle.tools.suggest import did_you_mean
from oracle.tools.text import OUTPUT_CHARS, bounded, clean, shorten

_CANCEL_GRACE_S = 0.05
"""Time for a cancelled tool to clean up; a limit must take effect within 100 ms."""
_MAX_SOURCES = 100
_ERROR_CHARS = 1_000
_PLACES = 8

log = structlog.get_logger(__name__)


class ToolRegistry:
    """The tools by name, in the order given.

    Args:
        tools: all tools; names are unique.
        types: those of the domain's queries, by which tools are offered; `None`: the shipped ones.

    Raises:
        ToolDefinitionError: two tools have the same name.
    """

    def __init__(self, tools: Iterable[Tool], types: QueryTypes | None = None) -> None:
        self.types = types or shipped_types()
        self._tools: dict[str, Tool] = {}
        self._made_of: ToolRegistry | None = None
        self._stragglers: set[asyncio.Task[ToolResult]] = set()
        for tool in tools:
            if tool.name in self._tools:
                raise ToolDefinitionError(f"two tools are named {tool.name!r}; names must be unique")
            self._tools[tool.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order given."""
        return tuple(self._tools)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools, in the order given."""
        return tuple(self._tools.values())

    def extended(self, tools: Iterable[Tool]) -> "ToolRegistry":
        """These tools, and behind them further ones whose names are free."""
        return self.remade([*self.tools, *(tool for tool in tools if tool.name not in self._tools)])

    def remade(self, tools: Iterable[Tool]) -> "ToolRegistry":
        """A registry of other tools, made of these for a query.

        It keeps this one in memory: a user's tools are found again as long as a query has them, as there must not be
        two indexes of one vault.

        Raises:
            ToolDefinitionError: two tools have the same name.
        """
        made = ToolRegistry(tools, self.types)
        made._made_of = self
        return made

    def labelled(self, given: Sequence[tuple[str, frozenset[str]]]) -> "ToolRegistry":
        """A registry of these tools with the labels of a tree; this one, if that changes nothing."""
        changed = {tool.name: words for tool in self.tools if (words := tool.labels_with(given)) != tool.labels}
        if not changed:
            return self
        return self.remade(replace(tool, labels=changed.get(tool.name, tool.labels)) for tool in self.tools)

    def flows(self, name: str) -> tuple[str, ...]:
        """What the tool of that name reads and where it writes; of one that is not here, anything may be."""
        tool = self._tools.get(name)
        return (*READS, *WRITES) if tool is None else tool.flows

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or `None`."""
        return self._tools.get(name)

    def definitions(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """The definitions of these tools for the model, in the order given, server-side tools included.

        Raises:
            KeyError: there is no tool of that name.
        """
        return tuple([self._tools[name].definition for name in names])

    async def excerpt(self, source_type: SourceType, path: str, around: Around) -> Excerpt:
        """Lines of what a source names, by the rules of the tool that reads it.

        Raises:
            ToolError: nothing reads such sources, or this one is not there, is not shown, or took too long.
        """
        reading = (tool for tool in self._tools.values() if tool.group == source_type and tool.excerpt is not None)
        found = next(reading, None)
        if found is None or found.excerpt is None:
            raise ToolError(f"there is no tool that reads sources of the type {source_type!r}.")
        try:
            async with asyncio.timeout(found.timeout_s):
                read = await found.excerpt(path, around)
        except TimeoutError:
            raise ToolError(f"{shorten(path)!r} could not be read within {found.timeout_s:g} s.") from None
        except OSError as error:
            raise ToolError(f"{shorten(path)!r} cannot be read: {error.strerror or type(error).__name__}.") from None
        return replace(read, lines=tuple(map(clean, read.lines)))

    async def call(
        self,
        name: str,
        arguments: Any,  # noqa: ANN401 - a model may write anything
        *,
        grace_s: Callable[[], float] = lambda: _CANCEL_GRACE_S,
        most_chars: int = OUTPUT_CHARS,
    ) -> ToolResult:
        """Run a tool; raises nothing but `CancelledError`.

        Args:
            name: the tool that the model asked for; it may not exist.
            arguments: as written by the model, not validated; a mapping if they follow the schema.
            grace_s: how long the tool may take to clean up when this is cancelled, asked then.
            most_chars: the limit of the result's text.
        """
        tool = self._tools.get(name)
        if tool is None:
            shown = shorten(clean(name), limit=80)
            known = f"There are: {', '.join(self._tools)}." if self._tools else "There are no tools."
            return _error(f"There is no tool {shown!r}.{did_you_mean(near(name, self._tools))} {known}")
        if tool.is_server_side:
            return _error(f"{name} is run by the model's provider and cannot be called here.")
        if not isinstance(arguments, Mapping):
            return _error(f"{name}: the arguments must be a JSON object, given {type(arguments).__name__}.")
        result = await self._run(tool, arguments, grace_s)
        sources = tuple(map(_clean_source, result.sources[:_MAX_SOURCES]))
        return ToolResult(bounded(result.text, most=most_chars), result.is_error, sources, result.is_empty)

    async def _run(self, tool: Tool, arguments: Mapping[str, Any], grace_s: Callable[[], float]) -> ToolResult:
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        task = loop.create_task(_guarded(tool, arguments, ended), name=f"tool:{tool.name}")
        timer = loop.call_later(tool.timeout_s, _set, ended)
        try:
            await ended
        except asyncio.CancelledError:
            await self._stop(task, tool, grace_s=grace_s())
            raise
        finally:
            timer.cancel()
        if task.done():
            return task.result()
        await self._stop(task, tool, grace_s=_CANCEL_GRACE_S)
        log.warning("tool.timed_out", tool=tool.name, timeout_s=tool.timeout_s)
        advice = "It may have taken effect all the same; check that first." if tool.writes else "Ask for less."
        return _error(f"{tool.name} gave no answer within {tool.timeout_s:g} s and was stopped. {advice}")

    async def _stop(self, task: "asyncio.Task[ToolResult]", tool: Tool, *, grace_s: float) -> None:
        """Cancel a call and wait shortly for its clean-up; one that does not end is abandoned."""
        task.cancel()
        self._stragglers.add(task)
        task.add_done_callback(self._stragglers.discard)
        await asyncio.wait({task}, timeout=grace_s)
        if not task.done():
            log.warning("tool.ignored_cancellation", tool=tool.name, grace_s=round(grace_s, 3))


def _set(ended: "asyncio.Future[None]") -> None:
    if not ended.done():
        ended.set_result(None)


async def _guarded(tool: Tool, arguments: Mapping[str, Any], ended: "asyncio.Future[None]") -> ToolResult:
    """Call a tool and turn any exception into a result.

    A `CancelledError` without a request to cancel this task is a failure of the tool and is not propagated. `ended` is
    set within the task: what waits for the task itself goes on one iteration of the event loop later.
    """
    try:
        result: object = await tool.call(arguments)
    except ToolError as error:
        return _error(str(error))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        log.warning("tool.failed", tool=tool.name, error="CancelledError")
        return _error(f"{tool.name} failed: it was cancelled from within.")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a failing tool must not end the query
        # The place but not the message, which may quote arguments or data; the run has it in the call's result.
        log.warning("tool.failed", tool=tool.name, error=type(error).__name__, at=_places(error))
        return _error(f"{tool.name} failed: {_reason(error)}")
    finally:
        _set(ended)
    if not isinstance(result, ToolResult):
        log.warning("tool.failed", tool=tool.name, error=f"returned {type(result).__name__}")
        return _error(f"{tool.name} failed: it returned {type(result).__name__} instead of a result.")
    return result


def _places(error: BaseException) -> list[str]:
    """The traceback of an error as `file:line function`, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _reason(error: BaseException) -> str:
    """The type and message of an error, without the absolute path of an `OSError`."""
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - `__str__` may raise as well
        text = ""
    return f"{type(error).__name__}: {text[:_ERROR_CHARS]}" if text else type(error).__name__


def _error(text: str) -> ToolResult:
    return ToolResult(text, is_error=True)


def _clean_source(source: Source) -> Source:
    snippet = None if source.snippet is None else clean(source.snippet[:_ERROR_CHARS])
    return replace(source, path=clean(source.path), snippet=snippet)
