"""Tick records, which observers get, and a recording of them in memory.

A record holds all inputs of a tick (outcomes, deliveries, the time) and all its effects (nodes visited, statuses,
writes, errors), so a run can be inspected and replayed from its records alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple, Protocol

from bt_runtime.record.status import FAILURE, INVALID, SUCCESS, Status
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated

CauseKind = Literal["start", "outcome", "deadline", "delivery", "again", "end"]
"""Why there was a tick. `end` is the last record of a run that had pending work when it ended: no node was ticked but
those of `on_halt`, and some were halted, and their requests returned partial results."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request of a node ended.

    Args:
        key: the request, `path@n` for the n-th of that node in this run.
        state: `done`, `failed` (the task raised), or `cancelled` (the node was halted; `value` is its partial result).
        error: the exception as `Type: message`, if it raised.
        at_s: when it ended, in seconds of the run's clock.
    """

    key: str
    state: Literal["done", "failed", "cancelled"]
    value: Any = None
    error: str | None = None
    at_s: float = 0.0


@dataclass(frozen=True, slots=True)
class NodeError:
    """An exception that a node raised; the tick continued, and the node returned FAILURE."""

    path: str
    error: str


@dataclass(frozen=True, slots=True)
class TickRecord:
    """One tick.

    Args:
        tick: 1, 2, 3, …
        at_s: the time of the tick, in seconds of the run's clock.
        causes: the requests, nodes or keys behind the cause.
        outcomes: results that arrived before this tick, in order; cancelled ones included.
        deliveries: values from outside, written at the start of this tick.
        visited: indices of the nodes that were ticked, in order of entry.
        changes: (index, status) of each node whose status differs from the end of the tick before.
        writes: (key, value) of each blackboard write, in order.
        took_ms: how long the tick took, in real milliseconds; 0 where it was not measured, as in a replay. Equal
            records may differ in it.
    """

    tick: int
    at_s: float
    cause: CauseKind
    causes: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    deliveries: tuple[tuple[str, Any], ...]
    visited: tuple[int, ...]
    changes: tuple[tuple[int, Status], ...]
    writes: tuple[tuple[str, Any], ...]
    errors: tuple[NodeError, ...]
    took_ms: float = field(default=0.0, compare=False)


class TickInput(NamedTuple):
    """All inputs of a tick; the fields are those of `TickRecord`."""

    cause: CauseKind
    causes: tuple[str, ...]
    at_s: float
    outcomes: tuple[Outcome, ...] = ()
    deliveries: tuple[tuple[str, Any], ...] = ()


class Observer(Protocol):
    """Watches a run. An observer that raises is dropped and logged; it cannot break the run."""

    def on_tick(self, record: TickRecord) -> None:
        """Called after each tick, before the requests that it posted are started."""
        ...


class Journal(Protocol):
    """Makes outcomes durable before anything starts that depends on them, so that no work is repeated after a crash."""

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Record the outcomes, before the tick that takes them; the tree gets them when this has returned.

        They need not be durable then: `flush` follows before anything starts. An exception ends the run.
        """
        ...

    def begin_tick(self) -> None:
        """A tick begins: what is recorded until `end_tick` becomes durable as a whole, or not at all.

        Also called where nodes are halted outside of a tick, or get the partial results of their work.
        """
        ...

    def end_tick(self) -> None:
        """It has ended; the observers have the record of a tick."""
        ...

    async def flush(self) -> None:
        """Make all outcomes and ticks so far durable.

        Awaited before anything starts that a tick asks for, if outcomes or deliveries came since the last time.
        An exception ends the run.
        """
        ...


ForcedResult = Literal["success", "failure"]
"""The result of a node that is set from outside. It is an input of its tick like a blackboard value, so a replay
repeats it, and is delivered under a name that no blackboard key has, because those have no colon."""

_FORCED = "force:"
_FORCED_STATUSES = {"success": SUCCESS, "failure": FAILURE}


def forced_key(path: str) -> str:
    """The name under which the forced result of a node is delivered."""
    return _FORCED + path


def forced_path(key: str) -> str | None:
    """The path of the node whose forced result has this name; `None` if it is the name of a blackboard key."""
    return key.removeprefix(_FORCED) if key.startswith(_FORCED) else None


def forced_status(result: object) -> Status | None:
    """The status behind a forced result; `None` if it is none."""
    return _FORCED_STATUSES.get(result) if isinstance(result, str) else None


_LONGEST_ERROR = 2_000


def describe(error: BaseException) -> str:
    """An exception as `Type: message`, of bounded length, even if its `__str__` raises."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001  whatever a foreign `__str__` does
        message = "(its message cannot be shown)"
    name = type(error).__name__
    return truncated(f"{name}: {message}" if message else name, _LONGEST_ERROR)


class Recording:
    """Keeps the tick records of one run in memory; `paths` are those of the nodes, by index."""

    def __init__(self, paths: tuple[str, ...] = ()) -> None:
        self.paths = paths
        self._records: list[TickRecord] = []

    def on_tick(self, record: TickRecord) -> None:
        """Append the record."""
        self._records.append(record)

    def __iter__(self) -> Iterator[TickRecord]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def statuses(self, tick: int | None = None) -> dict[str, Status]:
        """Status of every node at the end of a tick, by path; `None` means the last tick."""
        statuses = [INVALID] * len(self.paths)
        for record in self._records:
            if tick is not None and record.tick > tick:
                break
            for index, status in record.changes:
                statuses[index] = status
        return dict(zip(self.paths, statuses, strict=True))

    def visited(self) -> list[list[str]]:
        """Paths of the nodes that each tick visited, in order."""
        return [[self.paths[index] for index in record.visited] for record in self._records]
