"""Finds the breakpoint that a tick hits.

- `node`: the node began in this tick. One that goes on is not hit again, one that begins anew is.
- `condition`: the expression is true after the tick, and was not after the tick before. One that cannot be evaluated
  with the present values is not true.
- `error`: a node raised.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import structlog

from bt_runtime import ExpressionError, Request, Status, TickRecord, TreeDefinition
from bt_runtime.language.expressions.compiler import Expression
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

    def becomes_true(self, board: Mapping[str, object]) -> bool:
        was_true, self.was_true = self.was_true, False
        with suppress(ExpressionError):
            self.was_true = bool(self.expression.evaluate(board))
        return self.was_true and not was_true


class BreakpointWatch:
    """The breakpoints of one run.

    Args:
        definition: the tree that runs.
    """

    def __init__(self, definition: TreeDefinition) -> None:
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

    def go_on(self, running: Iterable[int]) -> None:
        """The run has begun in another process; these nodes run already."""
        self._running = set(running)

    def before_first_tick(self) -> BreakpointHit | None:
        """The breakpoint on the beginning of a run, if there is one."""
        return next((BreakpointHit.of(each) for each in self._breakpoints if each.kind == "start"), None)

    def after_tick(
        self, record: TickRecord, *, posted: Sequence[Request], board: Mapping[str, object]
    ) -> BreakpointHit | None:
        """The first breakpoint that a tick has hit; each tick must be given.

        Args:
            record: the tick as it was recorded.
            posted: requests that have not been started.
            board: the values after the tick.
        """
        hits = [hit for each in self._breakpoints if (hit := self._hit(each, record, posted, board)) is not None]
        for index, status in record.changes:
            (self._running.add if status is Status.RUNNING else self._running.discard)(index)
        return hits[0] if hits else None

    def _hit(
        self, each: Breakpoint, record: TickRecord, posted: Sequence[Request], board: Mapping[str, object]
    ) -> BreakpointHit | None:
        match each.kind:
            case "node" if each.path is not None and self._began(each.path, record, posted):
                return BreakpointHit.of(each, path=each.path)
            case "condition" if self._conditions[each.id].becomes_true(board):
                return BreakpointHit.of(each)
            case "error":
                errors = [error for error in record.errors if each.path in (None, error.path)]
                return BreakpointHit.of(each, path=errors[0].path, error=errors[0].error) if errors else None
        return None

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
