"""A folder with the product of the stand-in world, and the real tools over it; every call that runs is recorded."""

import re
import shutil
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.habits.world_code import CODE
from benchmarks.habits.world_notes import NOTES, PAGES
from oracle.core.chunks import Source
from oracle.tools import Tool, ToolRegistry, ToolResult, project_tools, vault_tools

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
_MOST_PAGES = 3

Call = Callable[[Mapping[str, Any]], Awaitable[ToolResult]]


@dataclass(frozen=True)
class Ran:
    """A tool call that was run.

    Args:
        turn: the number of the model's turn that made it, from 1.
        tool: its name.
        group: what the tool works on.
        arguments: as they were sent.
        text: the result.
        is_error: the call failed.
    """

    turn: int
    tool: str
    group: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool

    @property
    def is_search(self) -> bool:
        return self.tool in {"search_code", "vault_search", "thread_seek", "web_search"}


@dataclass
class World:
    """The product in a folder.

    Args:
        folder: an empty folder; `reset` restores what a conversation has changed.
        turn: gives the number of the turn under way.
    """

    folder: Path
    turn: Callable[[], int] = lambda: 0
    _ran: list[Ran | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        _write(self.folder / "project", CODE)
        _write(self.folder / "vault", NOTES)

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def ran(self) -> tuple[Ran, ...]:
        """The calls that were run since `reset` and have ended, in the order in which they began."""
        return tuple(call for call in self._ran if call is not None)

    def tools(self) -> ToolRegistry:
        """The tools over project and vault, and a search in the stand-in for the web."""
        own = (*project_tools(self.project), *vault_tools(self.folder / "vault", now=lambda: NOW), WEB_SEARCH)
        return ToolRegistry([replace(each, call=self._recorded(each)) for each in own])

    def reset(self) -> None:
        """Forget the calls, and remove what they have written."""
        written = any(call.tool in {"vault_write", "thread_push"} and not call.is_error for call in self.ran)
        self._ran.clear()
        if written:
            shutil.rmtree(self.folder / "vault")
            _write(self.folder / "vault", NOTES)

    def _recorded(self, tool: Tool) -> Call:
        async def call(arguments: Mapping[str, Any]) -> ToolResult:
            turn, number = self.turn(), len(self._ran)
            self._ran.append(None)
            try:
                result = await tool.call(arguments)
            except Exception as error:
                self._ran[number] = Ran(turn, tool.name, tool.group, dict(arguments), str(error), is_error=True)
                raise
            self._ran[number] = Ran(turn, tool.name, tool.group, dict(arguments), result.text, result.is_error)
            return result

        return call


async def _search_web(arguments: Mapping[str, Any]) -> ToolResult:
    """The pages with most of the query's words."""
    wanted = _words(str(arguments.get("query", "")))
    scored = sorted(
        ((len(wanted & _words(f"{title} {text}")), url) for url, (title, text) in PAGES.items()), reverse=True
    )
    found = [url for score, url in scored if score >= min(2, len(wanted))][:_MOST_PAGES]
    if not wanted or not found:
        return ToolResult("No page matches. Try other words.", is_empty=True)
    text = "\n\n".join(f"{url}\n{PAGES[url][0]}\n{PAGES[url][1]}" for url in found)
    return ToolResult(text, sources=tuple(Source(url, "web", None, PAGES[url][0], 1.0) for url in found))


WEB_SEARCH = Tool(
    name="web_search",
    description="Search the web. Returns extracts of current pages with their addresses.",
    when_to_use="For anything outside the project: news, versions, third-party libraries, general knowledge.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to search the web for."}},
        "required": ["query"],
        "additionalProperties": False,
    },
    call=_search_web,
    group="web",
)
"""Unlike the provider's own it is run here, so that its calls are counted and judged like any other."""


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w.]+", text.casefold()))


def _write(folder: Path, files: Mapping[str, str] | Iterable[tuple[str, str]]) -> None:
    for path, text in dict(files).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
