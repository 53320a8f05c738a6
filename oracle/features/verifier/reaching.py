"""Nodes that no explored run has reached: which no run at all can reach, and a search for runs that reach the others.

That no run reaches a node is known from the flow of control through the tree, never from the runs that were explored:
those are bounded. A file that is included serves several trees, so a node of it that this tree cannot reach is no
mistake of this tree.

A run that reaches a node proves that it can be reached, so the search need not be complete: it leaves out failures,
interruptions and levels of tokens, and first follows the states in which a key has the rarest value, the latest first.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from heapq import heappop, heappush
from pathlib import PurePath
from typing import Final, Self

from bt_runtime import NodeDefinition, Registry, TreeDefinition
from bt_runtime.analysis.codes import silences_in
from bt_runtime.analysis.flow import flow_of
from bt_runtime.text.data import dataclass
from oracle.features.verifier.events import Cancelled, Event, Replied, SaveEnded, TimePassed
from oracle.features.verifier.exploring import Exploration
from oracle.features.verifier.identity import Ahead
from oracle.features.verifier.options import Options
from oracle.features.verifier.stories import where
from oracle.features.verifier.world import Saved, World

SHARE: Final = 4
"""The exploration's bound of states, divided by the events that the search plays; it takes a few seconds by default."""


class PlainOptions(Options):
    """The events of a run in which nothing fails and nobody interferes; values from outside come all the same."""

    def of(self, world: World) -> Iterator[Event]:
        """What can happen now."""
        return filter(_is_plain, super().of(world))

    def variants(self, world: World, event: Event, ahead: Ahead | None) -> Iterator[Event]:
        """Further forms of an event that was just played."""
        return filter(_is_plain, super().variants(world, event, ahead))


def _is_plain(event: Event) -> bool:
    match event:
        case Replied(_, reply):
            is_whole = reply.stop_reason in (None, "max_tokens") and not (reply.is_fault or reply.crashes)
            return is_whole and reply.tokens == "low"
        case Cancelled() | SaveEnded(fails=True):
            return False
        case TimePassed(part):
            return part == "nothing"
    return True


class Reaching:
    """One search.

    Args:
        exploration: of the tree, with `PlainOptions`; it is used up.
        keys: the blackboard keys that the tree reads.
    """

    def __init__(self, exploration: Exploration, keys: frozenset[str]) -> None:
        self._exploration = exploration
        self._keys = sorted(keys - {"turn", "tokens_used"})
        self._known, self._seen = set[Hashable](), Counter[tuple[str, str]]()
        self._waiting: list[tuple[int, int, Saved]] = []
        self.transitions = 0

    def reached(self, wanted: frozenset[int], *, most: int) -> frozenset[int]:
        """Those of the nodes, by index, that a run was found to reach.

        Args:
            wanted: the nodes that are looked for.
            most: how many events are played, more or less.
        """
        exploration, world = self._exploration, self._exploration.world
        first = world.save()
        for event in exploration.begins:
            world.restore(first)
            world.play(event)
            self._arrive(exploration.identity.of(exploration.extra()))
        while self._waiting and self.transitions < most and not wanted <= world.visited:
            if not exploration.goes_on():
                break
            *_, saved = heappop(self._waiting)
            for _, identity in exploration.following(saved):
                self.transitions += 1
                self._arrive(identity)
        return wanted & world.visited

    def _arrive(self, identity: Hashable) -> None:
        """Keep a new state, by how often the rarest of its values has been so far."""
        world = self._exploration.world
        if world.progress.is_over or identity in self._known:
            return
        self._known.add(identity)
        board = world.tree.blackboard
        values = {(key, repr(board[key])) for key in self._keys if key in board}
        self._seen.update(values)
        rarest = min((self._seen[value] for value in values), default=0)
        heappush(self._waiting, (rarest, -len(self._known), world.save()))


UNREACHABLE: Final = "unreachable"
"""The code of the silence that marks a node that no run is meant to reach."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """The topmost nodes that were not reached, by index; without those that are marked.

    Args:
        definition: the tree.
        possible: a run may reach them, as far as is known.
        impossible: no run can, and they stand in the tree's own file.
    """

    definition: TreeDefinition
    possible: frozenset[int]
    impossible: frozenset[int]

    @classmethod
    def of(cls, definition: TreeDefinition, visited: frozenset[int], *, registry: Registry) -> Self:
        """Those of a tree.

        Args:
            definition: the tree.
            visited: the nodes that were reached, by index.
            registry: its kinds.
        """
        nodes = definition.nodes()
        left = [at for at in _topmost(nodes, visited) if not _is_marked(nodes[at], definition)]
        flow = flow_of(definition, registry=registry) if left else None
        ruled_out = frozenset(at for at in left if flow is not None and not flow.is_reached(nodes[at]))
        own = frozenset(at for at in ruled_out if nodes[at].place.file == definition.file)
        return cls(definition, frozenset(left) - ruled_out, own)

    @property
    def refutation(self) -> str:
        """What is wrong, a line for each node that no run can reach."""
        return "\n".join(f"no run can reach it: {self._named(at)}" for at in sorted(self.impossible))

    def lines(self, indices: Iterable[int]) -> list[str]:
        """A line for each of these nodes."""
        return [f"not reached: {self._named(at)}" for at in sorted(indices)]

    def _named(self, index: int) -> str:
        node = self.definition.nodes()[index]
        return f"{node.path} ({where(node)})"


def _topmost(nodes: Iterable[NodeDefinition], visited: frozenset[int]) -> list[int]:
    """The nodes that were not visited, without those below another one of them."""
    found: dict[str, int] = {}
    for index, node in enumerate(nodes):
        if index not in visited and not any(node.path.startswith(f"{above}/") for above in found):
            found[node.path] = index
    return list(found.values())


def _is_marked(node: NodeDefinition, definition: TreeDefinition) -> bool:
    """Whether the author has written that no run is meant to reach the node."""
    name = PurePath(node.place.file).stem
    text = definition.source if name == PurePath(definition.file).stem else definition.sources.get(name, "")
    silences = silences_in(text, file=node.place.file, known=[UNREACHABLE])
    return any(silence.code == UNREACHABLE and silence.line == node.place.line for silence in silences)
