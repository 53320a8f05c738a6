"""Shortens a result that is too large for the model, and keeps the whole text.

Rules:

- The id of a result is made from its text, so that a repeated call gives the same result.
- A result that cannot be kept is cut as it would be without this feature.
- Results of the tree's own calls are not shortened, because no model reads them.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import blake2b
from typing import Final, Protocol

import structlog

from bt_runtime.text.data import dataclass
from oracle.agent.tool_calls import OWN_CALL
from oracle.core.errors import OracleError
from oracle.features.large_results.reading import MOST_OF_RUN, NAME
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import Fittings
from oracle.tools import ToolResult
from oracle.tools.text import bounded

log = structlog.get_logger(__name__)

READ: Final = "read_result"
_HEAD: Final = 12_000
_TAIL: Final = 4_000


class Shelf(Protocol):
    """Keeps texts of runs."""

    async def keep(self, run_id: str, result_id: str, text: str) -> bool:
        """Keep a text; returns whether it is kept.

        Raises:
            OracleError: that is not possible at present.
        """
        ...

    async def find(self, run_id: str, result_id: str) -> str | None:
        """The text; `None`: the run has none of that id.

        Raises:
            OracleError: it cannot be read at present.
        """
        ...


class MemoryShelf:
    """Memory storage, for a command that asks one question."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], str] = {}

    async def keep(self, run_id: str, result_id: str, text: str) -> bool:
        """Keep it, if there is room."""
        if sum(map(len, self._kept.values())) + len(text) > MOST_OF_RUN:
            return False
        self._kept[run_id, result_id] = text
        return True

    async def find(self, run_id: str, result_id: str) -> str | None:
        """The text."""
        return self._kept.get((run_id, result_id))


@dataclass(slots=True)
class LargeResults:
    """Shortens results (`Hooks.keep_result`)."""

    shelf: Shelf

    async def __call__(self, run_id: str, call_id: str, result: ToolResult) -> ToolResult:
        """The result with its head and tail, and how the rest is read."""
        text = result.text
        result_id = blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
        if call_id.startswith(OWN_CALL) or not await self._is_kept(run_id, result_id, text):
            return replace(result, text=bounded(text))
        head = text[:_HEAD].rpartition("\n")[0] or text[:_HEAD]
        tail = text[-_TAIL:].partition("\n")[2] or text[-_TAIL:]
        left_out = len(text) - len(head) - len(tail)
        note = (
            f"[{left_out:,} of {len(text):,} characters are left out here. {READ} gives them: with id {result_id!r} "
            f"and start {len(head)} it reads on from here, with id and search it finds places.]"
        )
        return replace(result, text=f"{head}\n\n{note}\n\n{tail}", offers=(READ,))

    async def _is_kept(self, run_id: str, result_id: str, text: str) -> bool:
        try:
            return await self.shelf.keep(run_id, result_id, text)
        except OracleError as error:
            log.warning("result.not_kept", run_id=run_id, problem=str(error))
            return False


@asynccontextmanager
async def prepared(settings: Settings, fittings: Fittings) -> AsyncIterator[None]:  # noqa: ARG001  what features are called with
    """Keep results in memory, until there is a store."""
    fittings.hooks.keep_result = results = LargeResults(MemoryShelf())
    fittings.hooks.parts[NAME] = results
    yield
