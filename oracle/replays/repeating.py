"""Repeats a recorded run on the tree that it ran: the same ticks, byte for byte."""

from bt_runtime import Registry, Replay, replay
from oracle.logs import quiet
from oracle.replays.rebuilding import rebuild
from oracle.replays.recorded import RecordedRun


def repeat(run: RecordedRun, *, registry: Registry) -> Replay:
    """Replay a run on its own version of the tree.

    Raises:
        UnreplayableError: that version cannot be read any more.
    """
    rebuilt = rebuild(run, run.tree(registry), registry=registry)
    with quiet():
        return replay(rebuilt.tree, run.ticks, before_tick=rebuilt.prepare, before_outcome=rebuilt.speak)
