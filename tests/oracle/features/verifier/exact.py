"""An exploration without any reduction: to compare with the one that leaves out what cannot matter."""

from collections.abc import Hashable
from dataclasses import fields, is_dataclass, replace

from bt_runtime import Request
from bt_runtime.nodes.base import Node
from oracle.features.verifier.events import Replied, Seen
from oracle.features.verifier.identity import Identity
from oracle.features.verifier.options import Alike, Options
from oracle.features.verifier.reads import SIGNAL_KEYS


class EveryForm(Options):
    """Lists each form of each event, whether or not anything has depended on its form so far."""

    def alike(self, world):
        return Alike(frozenset(), has_reason=True)

    def variants(self, world, event, ahead):
        if not isinstance(event, Replied):
            return
        vocabulary, reply = self.vocabulary, event.reply
        keys = frozenset(world.read).union(ahead.keys if ahead else (), SIGNAL_KEYS)
        yield from (replace(event, reply=each) for each in vocabulary.refined(reply, Seen(keys, reads_intent=True)))
        yield from (replace(event, reply=each) for each in vocabulary.on_other_levels(reply))
        yield from (replace(event, reply=each) for each in vocabulary.read_otherwise(reply))


class Exact(Identity):
    """Two states are the same only if all their values are; what only records a run's past is not part of it."""

    def of(self, extra: Hashable = None) -> Hashable:
        """The identity of the state now."""
        world, agent = self._world, self._world.agent
        ending, cost, signals = agent.ending, agent.cost, agent.signals
        return (
            tuple(node.status for node in self._nodes),
            tuple(
                (name, frozen(value))
                for node in self._nodes
                for name, value in vars(node).items()
                if name != "feedback_message"
            ),
            (world.context.now_s, *world.context.awaited(), world.floor.is_late),
            tuple(self._pending()),
            frozen({name: world.tree.blackboard[name] for name in world.definition.keys}),
            frozen(agent.state),
            (agent.offered, agent.withheld, frozen(agent.note), frozen(agent.turn), frozen(cost)),
            (signals.turns_without, signals.same_reason, signals.last_reason, signals.malformed),
            (ending.is_explained, ending.blocker, tuple(ending.node_errors), frozen(ending.fault)),
            (agent.output.is_done, bool(agent.output.answer.strip())),
            world.progress.reason_at_cancel,
            world.progress.has_crashed,
            world.progress.delivered,
            extra,
        )

    def split(self, identity: Hashable) -> None:
        """Nothing is left out."""


def frozen(value: object) -> Hashable:
    """The value as one that can be hashed; parts of the run itself by their names."""
    if isinstance(value, Request):
        return value.key, value.started, value.halted
    if isinstance(value, Node):
        return value.path
    if isinstance(value, dict):
        return tuple((name, frozen(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(frozen, value))
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(frozen(getattr(value, each.name)) for each in fields(value))
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
