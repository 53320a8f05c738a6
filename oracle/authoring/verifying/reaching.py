"""Looks for runs that reach certain nodes, also in more turns than the exploration has.

A run that reaches a node proves that it can be reached, so the search need not be complete: it leaves out failures,
interruptions and levels of tokens, and first follows the states in which a key has the rarest value, the latest first.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from heapq import heappop, heappush
from typing import Final

from oracle.authoring.verifying.events import Cancelled, Event, Replied, SaveEnded, TimePassed
from oracle.authoring.verifying.exploring import Exploration
from oracle.authoring.verifying.identity import Ahead
from oracle.authoring.verifying.options import Options
from oracle.authoring.verifying.world import Saved, World

SHARE: Final = 4
"""The search plays one event for so many states that the exploration may have: by default it takes a few seconds."""


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
