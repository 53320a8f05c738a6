"""What the steps of a query ask about the rules of its tree, and how a broken rule is recorded."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class RuleBreach:
    """A rule that was broken, or would have been.

    Args:
        rule: its name.
        text: its sentence.
        enforcement: what was done: `refuse`, `stop` or `notify`.
        event: what broke it; empty for the end of the query.
        turn: how many turns had been finished.
    """

    rule: str
    text: str
    enforcement: str
    event: str
    turn: int

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return asdict(self)


class RuleGate(Protocol):
    """Judges the steps of one query by the rules of its tree, at the moment at which they begin."""

    def turn(self, *, visible: bool) -> None:
        """A turn of the model begins."""
        ...

    def refusal(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """A tool is about to run: why it must not, or `None`; then it counts as begun."""
        ...
