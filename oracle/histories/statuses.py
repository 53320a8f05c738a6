"""Where the nodes of a recorded run stood: the statuses that the changes of its ticks add up to."""

from collections.abc import Iterable

from oracle.histories.model import History, StatusName, TickFacts


def statuses_after(ticks: Iterable[TickFacts]) -> dict[int, StatusName]:
    """The status of each node that has one, by index, after these ticks."""
    statuses: dict[int, StatusName] = {}
    for tick in ticks:
        statuses.update(tick.changes)
    return statuses


def running_leaves(history: History) -> tuple[int, ...]:
    """The nodes that had work under way, or waited, when the last tick before the end was over."""
    if history.tree is None:
        return ()
    parents = {node.parent for node in history.tree.nodes}
    statuses = statuses_after(own_ticks(history))
    return tuple(index for index, status in sorted(statuses.items()) if status == "RUNNING" and index not in parents)


def own_ticks(history: History) -> tuple[TickFacts, ...]:
    """The ticks in which the root was asked: all but the record of the end."""
    return tuple(tick for tick in history.ticks if tick.cause != "end")
