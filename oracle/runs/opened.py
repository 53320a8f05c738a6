"""What a run began with, beside its question and its tree: the first event of its log.

With it, and with the outcomes in the log, a run can be repeated without its conversation, its tools and its model.
"""

from dataclasses import dataclass
from typing import Any

from oracle.agent.run import AgentRun
from oracle.classify import QueryClassification
from oracle.encoding import from_json, to_json


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool as the control of a run sees it."""

    name: str
    group: str
    writes: bool


@dataclass(frozen=True, slots=True)
class Opened:
    """What a run began with.

    Args:
        start_s: the start of the query, by the run's clock, in seconds.
        previous: the classification of the query before in the conversation; `None` if there was none.
        previous_errors: a tool failed in the query before.
        tools: all tools of the user.
        has_requests: the request of each turn is in the log, which is not so in logs of earlier versions.
    """

    start_s: float
    previous: QueryClassification | None = None
    previous_errors: bool = False
    tools: tuple[KnownTool, ...] = ()
    has_requests: bool = False

    @classmethod
    def of(cls, run: AgentRun) -> "Opened":
        """What this query begins with."""
        tools = tuple(KnownTool(tool.name, tool.group, tool.writes) for tool in run.equipment.tools.tools)
        return cls(run.state.start_time, run.query.previous, run.query.previous_errors, tools, has_requests=True)

    def to_json(self) -> bytes:
        """The data of the event."""
        previous = self.previous
        return to_json(
            {
                "start_s": self.start_s,
                "previous": previous and [previous.query_type, previous.confidence, previous.second_type],
                "previous_errors": self.previous_errors,
                "tools": [[tool.name, tool.group, tool.writes] for tool in self.tools],
                "has_requests": self.has_requests,
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> "Opened":
        """What `to_json` has written.

        Raises:
            ValueError: it is something else.
        """
        fields = from_json(data)
        try:
            tools = [KnownTool(name, group, writes) for name, group, writes in fields["tools"]]
            return cls(
                float(fields["start_s"]),
                _previous(fields["previous"]),
                fields["previous_errors"],
                tuple(tools),
                has_requests=bool(fields.get("has_requests", False)),
            )
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"this is not the beginning of a run: {type(error).__name__}: {error}") from None


def _previous(fields: Any) -> QueryClassification | None:  # noqa: ANN401  JSON data
    if fields is None:
        return None
    query_type, confidence, second_type = fields
    return QueryClassification.of(query_type, confidence=confidence, second_type=second_type)
