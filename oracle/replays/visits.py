"""What the nodes of a tree say when they play a recorded event: what they saw, and what came of it."""

from collections.abc import Mapping

from bt_runtime import Registry, Trace, TreeDefinition, Visit
from oracle.replays.playing import Playing
from oracle.replays.recorded import RecordedRun


def visits_at(run: RecordedRun, definition: TreeDefinition, *, tick: int, registry: Registry) -> Mapping[str, Visit]:
    """The last visit of each node when the tree is given the event of a recorded tick, by the node's path.

    Args:
        run: what was recorded.
        definition: the tree that it ran, or another one.
        tick: the number of the recorded tick that the event caused.
        registry: the kinds that the tree was read with.

    Returns:
        Empty if the tree has ended before.
    """
    trace = Trace()
    playing = Playing(run, definition, registry=registry, trace=trace)
    for event in playing.events:
        if not playing.is_running:
            break
        trace.is_on = event.tick == tick
        playing.step(event)
        if event.tick == tick:
            paths = definition.paths
            return {paths[visit.index]: visit for visit in trace.take()}
    return {}
