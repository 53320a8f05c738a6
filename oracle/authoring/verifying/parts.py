"""The parts around a run that is explored: a clock that stands still, tools and a store whose results are chosen.

Everything that decides is the product's own; these take the place of what is slow or outside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from oracle.agent.conversations.protocol import Conversation, Exchange
from oracle.tools import Tool, ToolRegistry, ToolResult
from signals import ParsedResponse, SignalAudit, SignalRecord

MODEL: Final = "any-model"
TIMESTAMP: Final = "2026-01-01T00:00:00Z"


class NoAudit(SignalAudit):
    """Keeps no records: no control reads them, and they would grow with every path."""

    def append_response(self, parsed: ParsedResponse, **_: Any) -> tuple[SignalRecord, ...]:  # noqa: ANN401, ARG002
        """Forget it."""
        return ()


@dataclass(slots=True)
class ChosenStore:
    """Keeps the exchange of one query; saving fails if that was chosen."""

    saved: tuple[Exchange, ...] = ()
    attempts: int = 0
    fails: bool = False

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """Not used: the query has its conversation."""
        raise NotImplementedError

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """Not used."""
        raise NotImplementedError

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Keep the exchange.

        Raises:
            OSError: that was chosen.
        """
        del user_id, context_id
        self.attempts += 1
        if self.fails:
            raise OSError("the disk is full")
        self.saved += (exchange,)


class ChosenTools(ToolRegistry):
    """The tools of the service, with results that are chosen; none of them is run."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self.next: ToolResult | BaseException = ToolResult("")

    async def call(self, name: str, arguments: Any, **_: Any) -> ToolResult:  # noqa: ANN401, ARG002
        """The chosen result."""
        if isinstance(self.next, BaseException):
            raise self.next
        return self.next


async def _not_run(arguments: Mapping[str, Any]) -> ToolResult:
    raise NotImplementedError


def stand_in(name: str, *, group: Any = "code", writes: bool = False) -> Tool:  # noqa: ANN401
    """A tool by name, without any work behind it."""
    return Tool(name, name, name, {"type": "object"}, _not_run, group, writes)


STANDARD_TOOLS: Final[tuple[Tool, ...]] = (
    *(stand_in(name) for name in ("search_code", "read_file", "list_files")),
    *(stand_in(name, group="vault") for name in ("vault_search", "vault_read", "vault_list")),
    stand_in("vault_write", group="vault", writes=True),
    *(stand_in(name, group="thread") for name in ("thread_read", "thread_seek")),
    stand_in("thread_push", group="thread", writes=True),
    stand_in("web_search", group="web"),
)
"""The names and groups of the service's own tools."""


def disarmed(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The same tools, none of which can be run."""
    return tuple(replace(tool, call=_not_run) for tool in tools)
