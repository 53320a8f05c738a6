"""Compares what follows from states, with the reductions of the exploration and without them."""

import random
from collections.abc import Hashable
from dataclasses import dataclass

from bt_runtime import TreeDefinition
from oracle.core.chunks import Chunk, Closing, Done, Failed, SystemNotice
from oracle.features.verifier.events import Event
from oracle.features.verifier.exploring import Bounds, Exploration, Sample
from oracle.features.verifier.identity import Identity
from oracle.features.verifier.properties import BUILT_IN
from oracle.features.verifier.reads import reads_of
from oracle.features.verifier.verify import Scope, exploration_of
from oracle.features.verifier.world import Saved
from tests.oracle.features.verifier.exact import EveryForm, Exact

Way = tuple[Event, ...]
_CHECKS = tuple((each.name, each.check) for each in BUILT_IN if each.check is not None)


@dataclass
class Place:
    """A state, and the events that have led to it."""

    saved: Saved
    way: Way


class Comparison:
    """Explores a tree with the reductions, and keeps the states in which they have merged something.

    Args:
        definition: the tree.
        turns: the user's limit.
        states: how many merged states are looked at.
        identity: in place of the one that is used.
    """

    def __init__(
        self, definition: TreeDefinition, *, turns: int, states: int = 400, identity: type[Identity] | None = None
    ) -> None:
        scope = Scope(turns=turns, bounds=Bounds(states=states))
        self.reduced = exploration_of(definition, scope)
        if identity is not None:
            self.reduced.identity = identity(self.reduced.world, reads_of(definition))
        self._exact = Exact(self.reduced.world, reads_of(definition))
        every_form = exploration_of(definition, Scope(turns=turns), options=EveryForm).options
        self.full = Exploration(
            self.reduced.world,
            identity=self.reduced.identity,
            options=every_form,
            properties=(),
            begins=self.reduced.begins,
            bounds=scope.bounds,
            extra=self.reduced.extra,
        )
        self.states: list[Place] = []
        self.merged: list[tuple[Place, Place]] = []
        self._walk(states)

    def _walk(self, most: int) -> None:
        world, known, seen = self.reduced.world, dict[Hashable, tuple[Place, Hashable]](), set[Hashable]()

        def arrive(identity: Hashable, way: Way) -> None:
            if world.progress.is_over:
                return
            place, values = Place(world.save(), way), self._exact.of(self.reduced.extra())
            if identity not in known:
                known[identity] = place, values
                self.states.append(place)
            elif values != known[identity][1] and values not in seen:
                seen.add(values)
                self.merged.append((known[identity][0], place))

        first = world.save()
        for begin in self.reduced.begins:
            world.restore(first)
            world.play(begin)
            arrive(self.reduced.identity.of(self.reduced.extra()), (begin,))
        for place in self.states:  # it grows
            if len(self.states) >= most:
                return
            for event, identity in self.reduced.following(place.saved):
                arrive(identity, (*place.way, event))


def observed(exploration: Exploration, place: Place) -> dict[Hashable, Event]:
    """All that can be observed of one step from a state, and where it leads; each with an event that does it.

    Observed are the nodes that each tick visits, notifications, closing sentences, errors and the end with its reason,
    and the violated properties. Texts and the numbers that are only shown are not.
    """
    world, at = exploration.world, len(place.saved[1])
    found: dict[Hashable, Event] = {}
    for event, identity in exploration.following(place.saved):
        shown = tuple(each for chunk in world.chunks[at:] if (each := _shown(chunk)))
        problems = tuple(name for name, check in _CHECKS if check and check(world))
        follows = None if world.progress.is_over else identity
        found.setdefault((tuple(world.path), shown, problems, follows), event)
    return found


def _shown(chunk: Chunk) -> Hashable:
    match chunk:
        case SystemNotice(kind, _, severity):
            return "notification", kind, severity
        case Closing():
            return "closing", chunk.reason
        case Failed():
            return "failed", chunk.error_type
        case Done():
            return "done", chunk.termination_reason
    return None


def sample(items, count):
    """Some of the items, the same ones each time."""
    return random.Random(7).sample(items, min(count, len(items)))


def spared(compared: Comparison) -> list[tuple[Place, Place]]:
    """States that the exploration does not expand, each with the one that has shown what it does."""
    exploration, world, shown = compared.reduced, compared.reduced.world, Sample()
    pairs = []
    for at, place in enumerate(compared.states):
        world.restore(place.saved)
        identity = exploration.identity.of(exploration.extra())
        twin = shown.like(identity)
        if twin is not None:
            pairs.append((compared.states[twin], place))
            continue
        shown.begin(exploration.identity, identity)
        for _ in exploration.following(place.saved):
            shown.note(world, exploration.identity)
        shown.keys = exploration.sample.keys
        shown.keep(at)
    return pairs
