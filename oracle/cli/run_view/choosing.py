"""Which tick of a run is shown first, and which node decided a tick."""

from oracle.histories import History
from oracle.histories.model import TickFacts


def deciding_tick(history: History) -> int | None:
    """The position of the tick that decided the end, or of the last one with a decision; `None` without ticks."""
    ticks = history.ticks
    if not ticks:
        return None
    if history.end is not None and history.end.tick is not None:
        found = next((at for at, tick in enumerate(ticks) if tick.tick == history.end.tick), None)
        if found is not None:
            return found
    if history.run.status == "running":
        return len(ticks) - 1
    return next((at for at in range(len(ticks) - 1, -1, -1) if ticks[at].decision is not None), len(ticks) - 1)


def decision_of(history: History, tick: TickFacts) -> int | None:
    """The node that decided the tick; in the tick that decided the end, the one that did so."""
    end, tree = history.end, history.tree
    node = tick.decision
    if end is not None and end.tick == tick.tick and end.node is not None:
        node = end.node
    return node if tree is not None and node is not None and 0 <= node < len(tree.nodes) else None
