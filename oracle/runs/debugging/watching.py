"""Finds the breakpoint that a run hits.

- `node`: the node is about to begin, and the expression of the breakpoint, if it has one, is true. One that goes on is
  not hit again, one that begins anew is. What a tick will do is known by a `Foresight`; without one the node is hit
  after the tick in which it began.
- `condition`: the expression is true after the tick, and was not after the tick before. One that cannot be evaluated
  with the present values is not true.
- `error`: a node raised.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

import structlog

from bt_runtime import ExpressionError, Request, Status, TickRecord, TreeDefinition
from bt_runtime.language.expressions.compiler import Expression
from bt_runtime.record.recording import TickInput
from bt_runtime.text.data import dataclass
from oracle.runs.debugging.commands import WrongCommandError, compile_condition
from oracle.runs.record.debug import BreakpointHit
from oracle.runs.storage.breakpoints import Breakpoint

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Condition:
    """The expression of a breakpoint, and whether it was true after the last tick."""

    expression: Expression
    was_true: bool = False

    def is_true(self, board: Mapping[str, object]) -> bool:
        with suppress(ExpressionError):
            return bool(self.expression.evaluate(board))
        return False

    def becomes_true(self, board: Mapping[str, object]) -> bool:
        was_true, self.was_true = self.was_true, self.is_true(board)
        return self.was_true and not was_true


@dataclass(frozen=True, slots=True)
class Foreseen:
    """Which breakpoints on nodes a tick will hit.

    Args:
        ahead: the first whose node would begin and do something in the tick; `None`: the tick can be made.
        begun: those whose nodes begin in the tick and ask for work, which starts after it.
    """

    ahead: BreakpointHit | None = None
    begun: Sequence[BreakpointHit] = ()


class Foresight(Protocol):
    """Knows what the next tick of one run will do."""

    async def look(self, given: TickInput, watch: "BreakpointWatch", *, passed: Sequence[str]) -> Foreseen | None:
        """What it will hit; `None` if that is not known.

        Args:
            given: the inputs of the tick.
            watch: the breakpoints.
            passed: the paths of the nodes before which the run was held already in this tick, once for each time.
        """
        ...


class BreakpointWatch:
    """The breakpoints of one run.

    Args:
        definition: the tree that runs.

    Attributes:
        nodes: the paths of the nodes that have breakpoints of the kind `node`.
    """

    def __init__(self, definition: TreeDefinition) -> None:
        self.nodes: frozenset[str] = frozenset()
        self._definition = definition
        self._indices = {path: index for index, path in enumerate(definition.paths)}
        self._breakpoints: tuple[Breakpoint, ...] = ()
        self._conditions: dict[str, _Condition] = {}
        self._running: set[int] = set()

    def use(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Replace the breakpoints; those that mean nothing in this tree are left out."""
        self._breakpoints = tuple(each for each in breakpoints if self._is_meant(each))
        before = self._conditions
        self._conditions = {
            each.id: before.get(each.id) or _Condition(compile_condition(each.expression, self._definition.keys))
            for each in self._breakpoints
            if each.expression is not None
        }
        self.nodes = frozenset(each.path for each in self._breakpoints if each.kind == "node" and each.path)

    def go_on(self, running: Iterable[int]) -> None:
        """The run has begun in another process; these nodes run already."""
        self._running = set(running)

    def before_first_tick(self) -> BreakpointHit | None:
        """The breakpoint on the beginning of a run, if there is one."""
        return next((BreakpointHit.of(each) for each in self._breakpoints if each.kind == "start"), None)

    def at_node(self, path: str, board: Mapping[str, object], *, is_ahead: bool) -> BreakpointHit | None:
        """The breakpoint on a node that is about to begin, if there is one that holds with these values."""
        for each in self._breakpoints:
            if each.kind == "node" and each.path == path and self._holds(each, board):
                return BreakpointHit.of(each, path=path, is_ahead=is_ahead)
        return None

    def after_tick(
        self,
        record: TickRecord,
        *,
        posted: Sequence[Request],
        board: Mapping[str, object],
        foreseen: Foreseen | None = None,
    ) -> BreakpointHit | None:
        """The first breakpoint that a tick has hit; each tick must be given.

        Args:
            record: the tick as it was recorded.
            posted: requests that have not been started.
            board: the values after the tick.
            foreseen: what was known of breakpoints on nodes before the tick; `None`: nothing.
        """
        hits = [hit for each in self._breakpoints if (hit := self._hit(each, record, posted, board)) is not None]
        if foreseen is not None:
            hits = [*foreseen.begun, *(hit for hit in hits if hit.kind != "node")]
        for index, status in record.changes:
            (self._running.add if status is Status.RUNNING else self._running.discard)(index)
        return hits[0] if hits else None

    def _hit(
        self, each: Breakpoint, record: TickRecord, posted: Sequence[Request], board: Mapping[str, object]
    ) -> BreakpointHit | None:
        match each.kind:
            case "node" if each.path and self._began(each.path, record, posted) and self._holds(each, board):
                return BreakpointHit.of(each, path=each.path)
            case "condition" if self._conditions[each.id].becomes_true(board):
                return BreakpointHit.of(each)
            case "error":
                errors = [error for error in record.errors if each.path in (None, error.path)]
                return BreakpointHit.of(each, path=errors[0].path, error=errors[0].error) if errors else None
        return None

    def _holds(self, each: Breakpoint, board: Mapping[str, object]) -> bool:
        condition = self._conditions.get(each.id)
        return condition is None or condition.is_true(board)

    def _began(self, path: str, record: TickRecord, posted: Sequence[Request]) -> bool:
        index = self._indices[path]
        visits = record.visited.count(index)
        if visits == 0:
            return False
        has_asked = any(request.node.path == path and not request.is_held for request in posted)
        return index not in self._running or visits > 1 or has_asked

    def _is_meant(self, each: Breakpoint) -> bool:
        """Whether the tree has the node, and the keys of the expression; it may have been edited since."""
        if each.path is not None and each.path not in self._indices:
            return False
        try:
            return each.expression is None or bool(compile_condition(each.expression, self._definition.keys))
        except WrongCommandError as error:
            log.warning("breakpoint.not_used", breakpoint=each.id, tree=self._definition.name, problem=str(error))
            return False
