"""The passes through runs that are being read, shared by their readers."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from bt_runtime import Registry
from oracle.core.errors import UserError
from oracle.replay.histories.passes import Pass
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.store import Store

MOST_PASSES = 16
IDLE_S = 30.0
KEPT_BYTES = 2_000_000


class TooManyPassesError(UserError):
    """As many runs are being explained as may be at a time."""

    status = 503
    detail = "Too many runs are being explained at once. Try again in a moment, or close other views."


class Passes:
    """The passes of this process.

    A pass without readers is kept for a short time, for the next page; the one that was left first is dropped first.

    Args:
        store: where the logs of runs are read.
        registry: the node kinds of today, when it is asked for.
        most: how many passes may be in use at a time.
        idle_s: how long one without readers is kept.
        kept_bytes: of explained ticks, in memory, of each.
    """

    def __init__(
        self,
        store: Store,
        *,
        registry: Callable[[], Registry],
        most: int = MOST_PASSES,
        idle_s: float = IDLE_S,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self._store = store
        self._registry = registry
        self._most = most
        self._idle_s = idle_s
        self._kept_bytes = kept_bytes
        self._passes: list[Pass] = []  # those that are idle in the order in which they were left
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="explain")

    @contextmanager
    def taken(self, record: RunRecord, *, after: int) -> Iterator[Pass]:
        """A pass through the run that has the tick after a number in memory or before it.

        Raises:
            TooManyPassesError: there is none, and as many others are in use as may be.
        """
        taken = self.take(record, after=after)
        try:
            yield taken
        finally:
            self.leave(taken)

    def take(self, record: RunRecord, *, after: int, has_reasons: bool = True) -> Pass:
        """The same, until `leave`; also one that does not explain.

        Raises:
            TooManyPassesError: there is none, and as many others are in use as may be.
        """
        found = self._find(record, after, has_reasons=has_reasons) or self._add(record, has_reasons=has_reasons)
        found.readers += 1
        return found

    def leave(self, taken: Pass) -> None:
        """End one use of a pass."""
        taken.readers -= 1
        if not taken.readers and taken in self._passes:
            self._passes.remove(taken)
            self._passes.append(taken)
            asyncio.get_running_loop().call_later(self._idle_s, self._drop, taken)

    def close(self) -> None:
        """End the thread, after what it does."""
        self._passes.clear()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _find(self, record: RunRecord, after: int, *, has_reasons: bool) -> Pass | None:
        """The one that has come furthest, of those that fit."""
        for each in [each for each in self._passes if each.record.id == record.id]:
            if (each.kept, each.record.feedback) != (record.kept, record.feedback):  # deleted, or rated, since
                self._passes.remove(each)
        fitting = [
            each
            for each in self._passes
            if each.record.id == record.id and each.has_reasons is has_reasons and each.reaches(after)
        ]
        return max(fitting, key=lambda each: each.last, default=None)

    def _add(self, record: RunRecord, *, has_reasons: bool) -> Pass:
        if len(self._passes) >= self._most:
            idle = next((each for each in self._passes if not each.readers), None)
            if idle is None:
                raise TooManyPassesError(
                    f"{self._most} runs are being explained, which is the most at a time; try again in a moment"
                )
            self._passes.remove(idle)
        added = Pass(
            record,
            store=self._store,
            registry=self._registry(),
            thread=self._thread,
            kept_bytes=self._kept_bytes,
            has_reasons=has_reasons,
        )
        self._passes.append(added)
        return added

    def _drop(self, left: Pass) -> None:
        """Drop a pass, unless it is being read again."""
        if not left.readers and left in self._passes:
            self._passes.remove(left)
