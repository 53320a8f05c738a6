"""What differs between two runs, as data."""

from typing import Any, Literal

from bt_runtime import Change
from bt_runtime.text.data import dataclass
from oracle.replay.histories.model import StatusName

PartKind = Literal["beginning", "outcome", "way", "effect", "end"]
"""`beginning`: the question, the limits, or another value before the first tick. `outcome`: what the model, a tool, the
user or the clock brought. `way`: nodes that were visited, and what they returned. `effect`: the same nodes wrote,
asked for, or said something else. `end`: one run goes on."""


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A value that differs; `None` also where there is none."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class RunParting:
    """A point at which two runs differ.

    Args:
        kind: how they differ there, as `PartKind` says.
        tick: 0: before the first tick.
        path: of the first node that does something else; empty if no node does.
        old_node: its index in the first run; `None` if it is not there.
        new_node: its index in the second run; `None` if it is not there.
        old: what it did, or what came, in the first run; empty: nothing.
        new: what it did, or what came, in the second run; empty: nothing.
        values: the values that differ at this point.
    """

    kind: PartKind
    tick: int
    path: str = ""
    old_node: int | None = None
    new_node: int | None = None
    old: str = ""
    new: str = ""
    values: tuple[ValueDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeDifference:
    """What a node returned in a tick of each run; `None`: it was not visited."""

    path: str
    old: StatusName | None
    new: StatusName | None


@dataclass(frozen=True, slots=True)
class TickDifference:
    """The nodes whose results differ in a tick."""

    tick: int
    nodes: tuple[NodeDifference, ...]


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """The raw answers of a turn of both runs; `None`: there is none, or it was deleted."""

    turn: int
    old: str | None
    new: str | None

    @property
    def is_same(self) -> bool:
        """Whether the texts are the same."""
        return self.old == self.new


@dataclass(frozen=True, slots=True)
class HistoryDifference:
    """Two runs side by side.

    Args:
        input: the first point at which something else came from outside; `None`: nowhere before the control parts.
        way: the first point at which the control did something else; `None`: nowhere.
        ticks: those in which nodes returned something else, the first thousand.
        further_ticks: how many such ticks there are beyond those.
        answers: the raw answers of all turns, in order.
        old_end: why the first run ended; empty: it has not.
        new_end: why the second run ended; empty: it has not.
        tree: what differs between the versions of their trees; `None`: one of them cannot be read.
        has_texts: both runs are kept whole; else their causes, results and ends alone were compared.
    """

    input: RunParting | None
    way: RunParting | None
    ticks: tuple[TickDifference, ...]
    further_ticks: int
    answers: tuple[AnswerDifference, ...]
    old_end: str
    new_end: str
    tree: tuple[Change, ...] | None = None
    has_texts: bool = True

    @property
    def is_same(self) -> bool:
        """Whether the runs did the same for the same reasons."""
        return self.input is None and self.way is None and self.old_end == self.new_end
