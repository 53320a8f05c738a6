"""What a run began with, beside its question and its tree: the first event of its log.

With it, and with the outcomes in the log, a run can be repeated without its conversation, its tools and its model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oracle.agent.run import AgentRun
from oracle.classify import QueryClassification
from oracle.classify.types import QUERY_TYPES
from oracle.encoder import QueryShares
from oracle.encoding import from_json, to_json
from oracle.tools import Tool, placing_words


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool as the control of a run sees it.

    Args:
        name: as the model calls it.
        group: what it works on.
        writes: it changes data.
        query_types: the types of queries that it says it serves; `None`: it says nothing.
        words: those that place it; empty if its group does.
    """

    name: str
    group: str
    writes: bool
    query_types: tuple[str, ...] | None = None
    words: str = ""

    @classmethod
    def of(cls, tool: Tool) -> "KnownTool":
        """What the control sees of a tool."""
        return cls(tool.name, tool.group, tool.writes, tool.query_types, placing_words(tool))

    def to_list(self) -> list[Any]:
        """Its fields for JSON; the last two only where there is something in them."""
        fields: list[Any] = [self.name, self.group, self.writes]
        return [*fields, self.query_types, self.words] if self.words else fields

    @classmethod
    def from_list(cls, fields: Sequence[Any]) -> "KnownTool":
        """What `to_list` has made."""
        name, group, writes, *placing = fields
        if not placing:
            return cls(name, group, writes)
        query_types, words = placing
        return cls(name, group, writes, None if query_types is None else tuple(query_types), words)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a run began with.

    Args:
        start_s: the start of the query, by the run's clock, in seconds.
        previous: the classification of the query before in the conversation; `None` if there was none.
        previous_errors: a tool failed in the query before.
        tools: all tools of the user.
        has_requests: the request of each turn is in the log, which is not so in logs of earlier versions.
        encoded: how the encoder read the question; `None` if it did not answer, as in logs of earlier versions.
    """

    start_s: float
    previous: QueryClassification | None = None
    previous_errors: bool = False
    tools: tuple[KnownTool, ...] = ()
    has_requests: bool = False
    encoded: QueryShares | None = None

    @classmethod
    def of(cls, run: AgentRun) -> "Opened":
        """What this query begins with."""
        tools = tuple(map(KnownTool.of, run.equipment.tools.tools))
        query = run.query
        return cls(
            run.state.start_time, query.previous, query.previous_errors, tools, has_requests=True, encoded=query.encoded
        )

    def to_json(self) -> bytes:
        """The data of the event."""
        previous = self.previous
        return to_json(
            {
                "start_s": self.start_s,
                "previous": previous
                and [previous.query_type, previous.confidence, previous.second_type, previous.sources],
                "previous_errors": self.previous_errors,
                "tools": [tool.to_list() for tool in self.tools],
                "has_requests": self.has_requests,
                **({} if self.encoded is None else {"encoded": dict(self.encoded)}),
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
            tools = [KnownTool.from_list(each) for each in fields["tools"]]
            return cls(
                float(fields["start_s"]),
                _previous(fields["previous"]),
                fields["previous_errors"],
                tuple(tools),
                has_requests=bool(fields.get("has_requests", False)),
                encoded=_encoded(fields.get("encoded")),
            )
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"this is not the beginning of a run: {type(error).__name__}: {error}") from None


def _encoded(fields: Any) -> QueryShares | None:  # noqa: ANN401  JSON data
    return None if fields is None else {query_type: float(fields.get(query_type, 0.0)) for query_type in QUERY_TYPES}


def _previous(fields: Any) -> QueryClassification | None:  # noqa: ANN401  JSON data
    if fields is None:
        return None
    query_type, confidence, second_type, *sources = fields
    return QueryClassification.of(
        query_type, confidence=confidence, second_type=second_type, sources=sources[0] if sources else None
    )
