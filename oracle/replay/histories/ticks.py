"""The ticks of a run, as they were recorded, with their reasons where these are known; and what the user could read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeVar, cast, get_args

from bt_runtime import CauseKind, Status, TickRecord
from oracle.replay.histories.model import NodeFacts, StepFacts, TextFacts, TickFacts
from oracle.replay.histories.nodes import STATUS_NAMES
from oracle.replay.histories.repetition import Reasons
from oracle.replay.histories.view import Marks

_T = TypeVar("_T")

_MOST_SHARED: Final = 10_000
"""How many different parts of ticks are kept for sharing."""


class Ticks:
    """Collects the ticks; equal parts of them are kept once.

    Args:
        ticks: gets them.
        nodes: the nodes of the tree, each at its index.
        headline: words the headline of a tick.
        why: words the steps to the decision of a tick.

    Attributes:
        last: the number of the last tick; 0 before the first.
    """

    def __init__(
        self,
        ticks: list[TickFacts],
        nodes: Sequence[NodeFacts],
        *,
        headline: Callable[[TickFacts], str],
        why: Callable[[TickFacts], tuple[StepFacts, ...]],
    ) -> None:
        self._headline = headline
        self._why = why
        self._marks = Marks(nodes)
        self.last = 0
        self._ticks = ticks
        self._running: dict[int, int] = {}  # nodes that have begun to run, and in which tick
        self._shared: dict[Any, Any] = {}

    def check(self, recorded: TickRecord, nodes: int | None) -> None:
        """Check what a damaged log may have wrong.

        Raises:
            ValueError: the tick cannot be one of this run.
        """
        if not (type(recorded.tick) is int and recorded.tick > self.last and type(recorded.at_s) in (int, float)):
            raise ValueError(f"tick {recorded.tick!r} does not follow tick {self.last}")
        for index in chain(recorded.visited, (index for index, _ in recorded.changes)):
            if type(index) is not int or index < 0 or (nodes is not None and index >= nodes):
                raise ValueError(f"tick {recorded.tick} names a node that does not exist")
        names = (
            *recorded.causes,
            recorded.cause,
            *(part for each in recorded.errors for part in (each.path, each.error)),
        )
        if not all(isinstance(name, str) for name in names) or recorded.cause not in get_args(CauseKind):
            raise ValueError(f"tick {recorded.tick} has no readable cause")

    def add(self, recorded: TickRecord, *, at_s: float, turn: int, reasons: Reasons | None) -> TickFacts:
        """Add a tick that was checked."""
        for index, status in recorded.changes:
            if status is Status.RUNNING:
                self._running[index] = recorded.tick
        facts = TickFacts(
            tick=recorded.tick,
            at_s=at_s,
            took_ms=recorded.took_ms,
            turn=turn,
            cause=recorded.cause,
            causes=self._share(recorded.causes),
            deliveries=recorded.deliveries,
            visited=self._share(recorded.visited),
            changes=self._share(tuple([(index, STATUS_NAMES[status]) for index, status in recorded.changes])),
            writes=recorded.writes,
            errors=tuple((error.path, error.error) for error in recorded.errors),
            decision=reasons.decision if reasons else None,
            visits=reasons.visits if reasons else (),
            given_back=reasons.given_back if reasons else (),
        )
        marks = self._shared.setdefault(found := self._marks.take(facts), found)
        facts = replace(facts, headline=self._headline(facts), why=self._why(facts), marks=marks)
        self._ticks.append(facts)
        self.last = recorded.tick
        return facts

    def began(self, node: int | None) -> int:
        """The tick in which a node began to run last; the last tick, if that is not known."""
        return self.last if node is None else self._running.get(node, self.last)

    def _share(self, part: tuple[_T, ...]) -> tuple[_T, ...]:
        """An equal part of an earlier tick, so that a long run needs less memory."""
        if len(self._shared) >= _MOST_SHARED:
            self._shared.clear()
        return cast("tuple[_T, ...]", self._shared.setdefault(part, part))


class ReadTexts:
    """Collects what the user could read of a run, piece by piece; the pieces of a tick are joined.

    Args:
        texts: gets them; the last one is complete after `flush`.
    """

    def __init__(self, texts: list[TextFacts]) -> None:
        self._texts = texts
        self._pieces: list[str] = []  # of the last text; joined when they are asked for, not one by one

    def say(self, piece: TextFacts, *, is_whole: bool = False) -> None:
        """Add a piece; one that `is_whole` is not joined with the text before."""
        last = self._texts[-1] if self._texts else None
        is_same = last and (last.type, last.tick, last.turn) == (piece.type, piece.tick, piece.turn)
        if is_same and not is_whole:
            self._pieces.append(piece.text)
            return
        self.flush()
        self._texts.append(piece)

    def flush(self) -> None:
        """Complete the last text."""
        if self._pieces:
            last = self._texts[-1]
            self._texts[-1] = replace(last, text=last.text + "".join(self._pieces))
            self._pieces.clear()
