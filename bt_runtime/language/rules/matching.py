"""Whether an event is one that a rule is about."""

from collections.abc import Callable, Collection, Iterator

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.expressions.expression import Expression, compile_expression
from bt_runtime.language.rule import Event, EventPattern

Report = Callable[[EventPattern, ExpressionError], None]
"""Gets the pattern whose condition could not be evaluated, and why; the message has values of the event."""


class AnyName(Collection[str]):
    """All names: for conditions over fields that are not known in advance."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class EventMatcher:
    """Decides for one pattern.

    Args:
        report: gets the error of a condition that fails; such a condition counts as not fulfilled.

    Raises:
        ExpressionError: the condition is no expression.
    """

    __slots__ = ("_choices", "_ends", "_names", "_report", "_where", "pattern", "type")

    def __init__(self, pattern: EventPattern, report: Report) -> None:
        self.pattern = pattern
        self.type = pattern.type
        self._names = None if pattern.names is None else frozenset(pattern.names)
        self._ends = tuple(f"/{name}" for name in pattern.names or ()) if pattern.type == "node" else ()
        self._choices = pattern.choices
        self._where = condition_of(pattern) if pattern.where else None
        self._report = report

    def depends_on_fields(self, name: str) -> bool:
        """Whether the decision about events of this name depends on their fields."""
        return self.matches_name(name) and (bool(self._choices) or self._where is not None)

    def matches_name(self, name: str) -> bool:
        """Whether the pattern can be about an event of this name."""
        names = self._names
        return names is None or name in names or bool(self._ends and name.endswith(self._ends))

    def matches(self, event: Event) -> bool:
        """Whether the event, which is of the pattern's type, is one of these."""
        if not self.matches_name(event.name):
            return False
        for name, value in self._choices:
            if event.fields.get(name) != value:
                return False
        return self._where is None or self._holds(self._where, event)

    def _holds(self, where: Expression, event: Event) -> bool:
        try:
            return bool(where.evaluate(event.fields.get))
        except ExpressionError as error:
            self._report(self.pattern, error)
            return False


def condition_of(pattern: EventPattern) -> Expression:
    """The compiled condition of a pattern.

    Raises:
        ExpressionError: it is no expression, or uses a name that the events do not have.
    """
    return compile_expression(pattern.where, names=AnyName() if pattern.fields is None else pattern.fields)
