"""A naive reading of a recorded run: which node gave the reason for its end, and which decided each tick.

It knows what was ticked, the statuses and the blackboard's writes, and nothing of traces and words.
"""

from bt_runtime import Status, TickRecord
from bt_runtime.library.named import read_sources
from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.model import History
from tests.bt_runtime.naive import decided, statuses_of
from tests.oracle.replay.histories.logs import Log

_GUARDS = frozenset(kind.name for kind in REGISTRY.kinds.values() if kind.category == "guard")


def check(history: History, log: Log) -> None:
    """The history names the nodes that a naive reading finds."""
    assert log.version is not None
    definition = read_sources(log.version.source, name=log.version.name, registry=REGISTRY)
    nodes, records = definition.nodes(), [_record(history, at) for at in range(len(history.ticks))]
    for at, tick in enumerate(history.ticks):
        if tick.cause == "end":
            assert tick.decision is None
        else:
            statuses = statuses_of(definition, records[: at + 1])
            assert tick.decision is not None, tick
            assert definition.paths[tick.decision] == decided(definition, set(tick.visited), statuses)
    assert history.end is not None
    found = None
    for at, tick in enumerate(history.ticks):
        statuses = statuses_of(definition, records[: at + 1])
        if any(key == "termination_reason" and value for key, value in tick.writes):
            for index in tick.visited:
                kind, status = nodes[index].kind, statuses[index]
                if (kind in _GUARDS and status is Status.FAILURE) or (kind == "stop" and status is Status.SUCCESS):
                    found = (tick.tick, index)
                    break
            break
    if found is None:
        assert history.end.by not in ("guard", "stop"), history.end
    elif history.end.by not in ("rule", "service"):
        assert (history.end.tick, history.end.node) == found


def _record(history: History, at: int) -> TickRecord:
    tick = history.ticks[at]
    changes = tuple((index, Status[status]) for index, status in tick.changes)
    return TickRecord(tick.tick, tick.at_s, tick.cause, tick.causes, (), (), tick.visited, changes, tick.writes, ())
