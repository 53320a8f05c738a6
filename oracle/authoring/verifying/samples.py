"""States that need not be expanded, because one that was has shown what they do.

Two states that differ only in how many tokens are used, and in values on the blackboard, do the same if none of the
events of the first has led to anything by those: no node has read them, and nothing that can still be ticked does. This
is found out while the first is expanded. It is mostly so before the last turn: nothing begins after it.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from oracle.authoring.verifying.identity import Identity
from oracle.authoring.verifying.world import World


@dataclass(slots=True)
class Sample:
    """The state that is expanded, and what those have shown that were.

    Args:
        keys: the keys ahead of the state, in the order of its values.
    """

    keys: tuple[str, ...] = ()
    _parts: tuple[Hashable, tuple[Hashable, ...]] | None = None
    _is_blind: bool = False
    _read: set[str] = field(default_factory=set)
    _known: dict[Hashable, list[tuple[dict[int, Hashable], int]]] = field(default_factory=dict)
    _split: Identity | None = None

    def begin(self, identity: Identity, state: Hashable) -> None:
        """A state is about to be expanded.

        Args:
            identity: splits identities.
            state: its identity.
        """
        self._split, self._parts = identity, identity.split(state)
        self._is_blind = self._parts is not None
        self._read.clear()

    def note(self, world: World, identity: Identity) -> None:
        """Note what the last event has led to: by which keys, and whether by tokens."""
        if not self._is_blind:
            return
        self._is_blind = is_blind(world, identity)
        self._read |= world.read | world.written
        if not world.progress.is_over:
            self._read.update(identity.ahead().keys)

    def keep(self, state: int) -> None:
        """The state is expanded."""
        if self._is_blind and self._parts is not None:
            rest, values = self._parts
            decisive = {at: values[at] for at, key in enumerate(self.keys) if key in self._read}
            self._known.setdefault(rest, []).append((decisive, state))

    def like(self, state: Hashable) -> int | None:
        """The expanded state that has shown what one of this identity does; `None` if there is none."""
        parts = self._split.split(state) if self._split is not None else None
        if parts is None:
            return None
        rest, values = parts
        return next(
            (
                state
                for decisive, state in self._known.get(rest, ())
                if all(values[at] == value for at, value in decisive.items())
            ),
            None,
        )


def is_blind(world: World, identity: Identity) -> bool:
    """Whether the last event has led to the same as with other tokens used, and nothing that they bound follows."""
    if world.tokens.has_read_figures or world.tokens.decide(world.agent.state, world.read):
        return False
    return world.progress.is_over or not identity.ahead().counts_tokens
