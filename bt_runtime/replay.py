"""Run a tree again from its records: nothing is started, every outcome comes from the recording.

A run is a function of the tree and of what it was told, so the same tree does the same; a tree that was edited shows where
it first does something else.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from py_trees.common import Status

from bt_runtime.builder import LiveTree
from bt_runtime.context import Request
from bt_runtime.recording import TickRecord
from bt_runtime.ticker import Ticker, TickInput


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay did.

    Args:
        records: the ticks of the replay.
        diverged_at: the first tick that differs from the recording; `None` if none does.
        missing: outcomes of the recording that the tree did not ask for, as request keys.
    """

    records: tuple[TickRecord, ...]
    diverged_at: int | None
    missing: tuple[str, ...]


def replay(tree: LiveTree, recording: Iterable[TickRecord]) -> Replay:
    """Tick a freshly built tree with the recorded inputs.

    Args:
        tree: built, not yet run; of the same file or an edited one.
        recording: all records of a run, from the first tick.
    """
    ticker = Ticker(tree)
    open_requests: dict[str, Request] = {}
    records: list[TickRecord] = []
    missing: list[str] = []
    diverged_at: int | None = None
    for recorded in recording:
        missing += _answer(recorded, open_requests)
        told = TickInput(recorded.cause, recorded.causes, recorded.at_s, recorded.outcomes, recorded.deliveries)
        record = ticker.tick(told)
        records.append(record)
        if diverged_at is None and _did(record) != _did(recorded):
            diverged_at = record.tick
        open_requests |= {request.key: request for request in tree.context.posted}
        tree.context.posted.clear()
        tree.context.halting.clear()
        if ticker.status is not Status.RUNNING:
            break
    return Replay(tuple(records), diverged_at, tuple(missing))


def _answer(recorded: TickRecord, open_requests: dict[str, Request]) -> list[str]:
    """Hand the recorded outcomes to the requests of the same keys; returns the keys that nobody asked for."""
    missing = []
    for outcome in recorded.outcomes:
        request = open_requests.pop(outcome.key, None)
        if request is None:
            missing.append(outcome.key)
        elif outcome.state == "cancelled":
            request.node.give_back(outcome.value)
        else:
            request.outcome = outcome
    return missing


def _did(record: TickRecord) -> tuple[object, ...]:
    return (record.visited, record.changes, record.writes, record.errors)
