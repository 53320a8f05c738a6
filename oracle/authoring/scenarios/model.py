"""A scenario as data: what the model, the tools and the outside do, and what must happen.

A scenario can be made in Python and written with `to_yaml`; `oracle.authoring.scenarios.reading` makes it from a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

from bt_runtime.text import Place
from oracle.classify import QueryType
from oracle.core.chunks import SourceType
from oracle.llm.protocol import ModelFault, Usage
from oracle.llm.script import ScriptedCall, ScriptedSearch, ScriptedTurn
from oracle.tools import ToolGroup
from signals import SignalType

Json: TypeAlias = Any
"""JSON data: as it stands in a file."""

DEFAULT_QUESTION: Final = "Where is the class RetryPolicy defined in the code?"
GROUPS: Final[tuple[ToolGroup, ...]] = ("code", "vault", "thread", "web")
"""The groups of the tools that ship."""
DEFAULT_USAGE: Final = Usage(input_tokens=40, output_tokens=10)
"""What a turn reports that states no tokens; so the size of the prompt decides nothing."""

DEFAULT_CONFIDENCE: Final = 0.9
"""Of a signal that states none."""
USAGE: Final[Mapping[str, str]] = {
    "input": "input_tokens",
    "cache_creation": "cache_creation_tokens",
    "cache_read": "cache_read_tokens",
    "output": "output_tokens",
}
"""The names of a turn's tokens in a file, and as fields of `Usage`."""

Action = Literal["cancel", "reader_leaves", "reader_returns", "service_stops", "deadline_passes", "delivery"]
PersonsDecision = Literal["approve", "refuse", "edit", "answer", "expire"]
_SAYS: Final[Mapping[str, str]] = {"refuse": "comment", "edit": "arguments", "answer": "answer", "approve": "for"}
"""What a decision has besides its kind."""
MomentKind = Literal["at_s", "request", "said", "call", "notice"]

SIGNAL_FIELDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "need_turn": {"reason": "there is more to read"},
    "context_sufficient": {"sources_found": 1},
    "stuck": {"attempted": ["search_code"], "blocker": "nothing was found"},
    "need_capability": {"capability": "a shell", "reason": "the tests must be run"},
    "partial_answer": {"missing": "the second half"},
    "delegation_recommended": {"reason": "this is a research project", "scope": "all papers of the last ten years"},
}
"""The required fields of each signal, where a scenario states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalLine:
    """A signal that the model writes at the end of its text.

    Args:
        type: the type of the signal, such as `need_turn`.
        fields: of its type; the required ones have defaults.
        confidence: `None` leaves it out.
    """

    type: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = DEFAULT_CONFIDENCE

    def xml(self) -> str:
        """The signal as the model writes it."""
        fields = {**SIGNAL_FIELDS.get(self.type, {}), **self.fields}
        inner = "".join(f"<{name}>{_as_text(value)}</{name}>" for name, value in fields.items())
        last = "" if self.confidence is None else f"<confidence>{self.confidence}</confidence>"
        return f'<signal type="{self.type}">{inner}{last}</signal>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One response of the model.

    Args:
        text: the response without its signal; a tuple is sent piece by piece.
        signal: written after the text.
        usage: the tokens that the provider reports; `None`: it reports none.
        times: how often the turn is played before the next one.
        encoded: how the encoder reads the response, a share for each signal; `None`: there is no encoder.
        stop_reason: `None` means `tool_use` if there are calls, else `end_turn`.
    """

    text: str | tuple[str, ...] = ""
    thinking: str = ""
    signal: SignalLine | None = None
    calls: tuple[ScriptedCall, ...] = ()
    searches: tuple[ScriptedSearch, ...] = ()
    stop_reason: str | None = None
    fault: ModelFault | None = None
    hang: bool = False
    delay_s: float = 0.0
    model: str = ""
    encoded: Mapping[SignalType, float] | None = None
    usage: Usage | None = DEFAULT_USAGE
    times: int = 1

    def scripted(self) -> ScriptedTurn:
        """The turn as the scripted model plays it."""
        pieces = (self.text,) if isinstance(self.text, str) else self.text
        if self.signal is not None:
            gap = "\n\n" if any(pieces) else ""
            pieces = (*pieces, gap + self.signal.xml())
        return ScriptedTurn(
            text=tuple(piece for piece in pieces if piece),
            thinking=self.thinking,
            tool_calls=self.calls,
            searches=self.searches,
            usage=self.usage,
            stop_reason=self.stop_reason,
            fault=self.fault,
            hang=self.hang,
            delay_s=self.delay_s,
            model=self.model,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answers.

    Args:
        result: the text; `None`: one that names the call, so that different calls have different results.
        error: why the call fails, in place of a result.
        empty: the call found nothing.
        sources: pairs of type and path of what the result rests on.
        delay_s: the time that the call takes.
        hang: the call never ends by itself.
        when: arguments that a call must have to get this answer; the others do not matter.
    """

    when: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None
    error: str | None = None
    empty: bool = False
    delay_s: float = 0.0
    hang: bool = False
    sources: tuple[tuple[SourceType, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScript:
    """The answers of one tool.

    Args:
        answers: one a call, in order; the last one repeats. Those with `when` are for such calls only.
        group: of a tool that is not shipped.
        writes: a tool that is not shipped changes data.
    """

    group: ToolGroup | None = None
    writes: bool = False
    answers: tuple[ToolAnswer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something happens from outside.

    Args:
        kind: `at_s`: seconds after the question; `request`: when the model gets its n-th request; `said`: when the user
            has read this; `call`: when this tool begins to run; `notice`: when a notification of this type is sent.
    """

    kind: MomentKind
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideEvent:
    """Something that neither the model nor a tool does.

    Args:
        key: the blackboard key that a delivery writes; empty for the others.
        value: the JSON data that it writes there.
    """

    action: Action
    moment: Moment
    key: str = ""
    value: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDecides:
    """What a person decides about what the run has asked.

    Args:
        decision: `approve`, `refuse`, `edit`, `answer`, or `expire`: nobody decides in time.
        value: the comment of a refusal, the arguments of an edit, the answer to a question, `conversation` for an
            approval that holds for the whole conversation; `None`: nothing of that.
        after_s: seconds from the question to the decision.
    """

    decision: PersonsDecision
    value: Json = None
    after_s: float = 0.0

    @classmethod
    def of(cls, delivered: Mapping[str, Json], *, after_s: float) -> "PersonDecides":
        """A decision as a run has got it; without one it is not decided in time."""
        decision: Any = delivered.get("decision")
        if decision not in get_args(PersonsDecision):
            return cls(decision="expire", after_s=after_s)
        return cls(decision=decision, value=delivered.get(_SAYS.get(decision, "")), after_s=after_s)

    def delivered(self) -> dict[str, Json]:
        """The decision as the run gets it."""
        said = _SAYS.get(self.decision)
        own = {} if said is None or self.value is None else {said: self.value}
        return {"decision": self.decision, "by": "person", **own}


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An earlier query of the conversation.

    Args:
        tool_errors: a tool failed in it.
        query_type: how it was classified; `None`: as its question is.
    """

    question: str
    answer: str
    tool_errors: bool = False
    query_type: QueryType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A query that is played, and what must happen.

    Args:
        name: a sentence.
        shows: the requirements that it shows, such as `012 FR-004.3`.
        tree: the tree's name.
        limits: `AgentConfig` fields.
        model: the model's responses, one a request.
        tools: by name; a tool that is not scripted answers with a text that names the call.
        available: the groups of tools that exist.
        people: what is decided about what the run asks people, in order; what has no decision there expires at once.
        encoded: how the encoder reads the question, a share for each type; `None`: there is no encoder.
        expect: what must happen, by the names of `oracle.authoring.scenarios.expectations`; JSON data.
        place: where it stands in its file.
        places: of the expectations and their parts, by path: `("notices", 0)`.
    """

    name: str
    shows: tuple[str, ...] = ()
    tree: str = "oracle"
    question: str = DEFAULT_QUESTION
    limits: Mapping[str, int] = field(default_factory=dict)
    available: tuple[ToolGroup, ...] = GROUPS
    history: tuple[Earlier, ...] = ()
    encoded: Mapping[QueryType, float] | None = None
    tools: Mapping[str, ToolScript] = field(default_factory=dict)
    model: tuple[Turn, ...] = ()
    events: tuple[OutsideEvent, ...] = ()
    people: tuple[PersonDecides, ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(default=Place("<scenario>"), compare=False)
    places: Mapping[tuple[str | int, ...], Place] = field(default_factory=dict, compare=False, repr=False)

    def place_of(self, path: tuple[str | int, ...]) -> Place:
        """Where a part of the expectations stands; the nearest part around it that has a place."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return self.place


def _as_text(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text.replace("&", "&amp;").replace("<", "&lt;")
