"""A scenario as data: what the model, the tools and the outside do, and what must happen.

A scenario can be made in Python and written with `to_yaml`; `oracle.features.scenarios.files` makes it from a file.

A part has often a short form beside its long one: `need_turn` for `need_turn: {reason: …}`, a text for a turn that says
it. `read_as` gives a field such forms, and `one_of` is a mapping with one entry, whose key says what its value is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    TypeAdapter,
    create_model,
)

from bt_runtime.text import Place
from bt_runtime.text.data import dataclass
from oracle.classify.types import QueryType
from oracle.core.chunks import ErrorType, SourceType, Topic
from oracle.decision import AgentConfig
from oracle.llm.protocol import ModelFault, OneOfSeveral, StopReason, Usage
from oracle.llm.scripted import ScriptedCall, ScriptedSearch, ScriptedTurn
from oracle.tools import ToolGroup
from signals import SIGNAL_MODELS, SignalType

CLOSED = ConfigDict(extra="forbid")


class Record(BaseModel):
    """A mapping whose fields are known."""

    model_config = CLOSED

    @property
    def given(self) -> dict[str, Any]:
        """The fields that are written."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}


Flag = Annotated[bool, Strict()]
Label = Literal["private", "public", "untrusted", "trusted", "outward", "inward"]
Seconds = Annotated[float, Strict(), Field(ge=0)]
Count = Annotated[int, Strict(), Field(ge=0)]
Number = Annotated[int, Strict(), Field(ge=1)]
Share = Annotated[float, Strict(), Field(ge=0, le=1)]


ONE = Field(min_length=1, max_length=1)
"""Of a mapping with one entry, under any key."""


class _TextParts(Record):
    contains: str | tuple[str, ...] = ""
    lacks: str | tuple[str, ...] = ""
    starts: str = ""
    ends: str = ""


Text = str | _TextParts
"""A stated text: the whole of it, or parts of it."""


def word_of(words: Iterable[str]) -> Any:  # noqa: ANN401  a type
    """One of these words."""
    return Literal[*words]


def many(item: Any) -> Any:  # noqa: ANN401  types
    """A list of such items."""
    return tuple[item, ...]


def one_of(forms: Mapping[Any, Any], *, base: type[Record] = Record) -> Any:  # noqa: ANN401  a type
    """A mapping with one of these entries, besides the fields of `base`.

    Args:
        forms: the type of each entry's value, by its key.
        base: has the further fields.
    """
    fields: dict[str, Any] = {name: (form, None) for name, form in forms.items()}

    def check(record: Record) -> Record:
        if len(record.model_fields_set & forms.keys()) != 1:
            raise ValueError(f"it has one of {', '.join(forms)}")
        return record

    return Annotated[create_model("One", __base__=base, **fields), AfterValidator(check)]


def read_as(form: Any, make: Callable[[Any], Any]) -> PlainValidator:  # noqa: ANN401  a type
    """How a field is read that is written in another form.

    Args:
        form: the type of what is written.
        make: makes the value of the field from it.
    """
    read = TypeAdapter(form).validate_python
    return PlainValidator(lambda value: make(read(value)), json_schema_input_type=form)


def short_for(field: str) -> BeforeValidator:
    """How a record is read that may be written as a text, which stands for one of its fields."""
    return BeforeValidator(lambda value: {field: value} if isinstance(value, str) else value)


Json: TypeAlias = Any
"""JSON data: as it stands in a file."""

DEFAULT_QUESTION: Final = "Where is the class RetryPolicy defined in the code?"
GROUPS: Final[tuple[ToolGroup, ...]] = ("code", "vault", "thread", "web")
"""The groups of the tools that ship."""
DEFAULT_USAGE: Final = Usage(input_tokens=40, output_tokens=10)
"""What a turn reports that states no tokens; so the size of the prompt decides nothing."""

DEFAULT_CONFIDENCE: Final = 0.9
"""Of a signal that states none."""
MOST_TIMES: Final = 1_000
"""How often a turn may be played."""
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


class _Tokens(Record):
    input: Count = 0
    cache_creation: Count = 0
    cache_read: Count = 0
    output: Count = 0


class _Search(Record):
    query: str = ""
    results: tuple[Annotated[dict[str, str], ONE], ...] = ()
    error: str = ""


def _signal(written: str | Record) -> SignalLine:
    if isinstance(written, str):
        return SignalLine(type=written)
    ((kind, said),) = written.given.items()
    fields = said.given
    return SignalLine(type=kind, confidence=fields.pop("confidence", DEFAULT_CONFIDENCE), fields=fields)


def _fault(written: str | Record) -> ModelFault:
    given = {written: "The provider failed."} if isinstance(written, str) else written.given
    kind: Any
    ((kind, message),) = given.items()
    if kind in get_args(ErrorType):
        return ModelFault(kind, message)
    return ModelFault("provider_overloaded" if kind == "rate_limited" else "provider_failed", message, narrower=kind)


def _usage(written: str | int | _Tokens) -> Usage | None:
    if isinstance(written, str):
        return None
    if isinstance(written, int):
        return Usage(input_tokens=0, output_tokens=written)
    return Usage(**{USAGE[name]: count for name, count in written})


def _search(written: _Search) -> ScriptedSearch:
    results = tuple(pair for result in written.results for pair in result.items())
    return ScriptedSearch(written.query, results, written.error)


def _said_in(kind: str) -> Any:  # noqa: ANN401  a type
    """The fields of a signal of this type."""
    own = [name for name in SIGNAL_MODELS[kind].model_fields if name not in ("type", "raw_xml", "timestamp")]
    fields: dict[str, Any] = dict.fromkeys(own, (Any, None)) | {"confidence": (Annotated[float, Strict()] | None, None)}
    return create_model(kind, __base__=Record, **fields)


_SIGNALS: Final = read_as(
    word_of(SIGNAL_FIELDS) | one_of({kind: _said_in(kind) for kind in SIGNAL_FIELDS}),
    _signal,
)
_CALLS: Final = read_as(
    str | Annotated[dict[str, dict[str, Any] | str], ONE],  # text stands for arguments that are no JSON object
    lambda call: ScriptedCall(call) if isinstance(call, str) else ScriptedCall(*next(iter(call.items()))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One response of the model.

    Args:
        text: the response without its signal; a list is sent piece by piece.
        thinking: the model's thinking.
        signal: the type of the signal (`need_turn`), or `{need_turn: {reason: one more file, confidence: 0.2}}`. Other
            fields get valid values and a confidence of 0.9. Write a malformed signal into `text`.
        calls: tool calls: `search_code`, or `search_code: {query: auth}`. A text in place of the mapping stands for
            arguments that cannot be parsed.
        searches: the provider's web searches: `query`, `results` (`address: title`), `error`.
        stop_reason: such as `max_tokens` or `refusal`. The default is `tool_use` after calls, else `end_turn`.
        fault: how the provider fails after the text: `provider_overloaded`, `unreachable`, or with its message,
            `{provider_failed: It failed.}`.
        hang: `true` if the turn never ends.
        delay_s: seconds before the first word.
        model: the model that answers.
        encoded: how the encoder reads the response, as a share for each signal.
        usage: the reported tokens: of the output, or `{input: 40, output: 10}` (the default; also `cache_creation`,
            `cache_read`), or `unreported`.
        times: how often the turn is played before the next one.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    text: str | tuple[str, ...] = ""
    thinking: str = ""
    signal: Annotated[SignalLine | None, _SIGNALS] = None
    calls: tuple[Annotated[ScriptedCall, _CALLS], ...] = ()
    searches: tuple[Annotated[ScriptedSearch, read_as(_Search, _search)], ...] = ()
    stop_reason: StopReason | Literal["pause_turn"] | None = None
    fault: Annotated[
        ModelFault | None,
        read_as(
            ErrorType | OneOfSeveral | one_of(dict.fromkeys((*get_args(ErrorType), *get_args(OneOfSeveral)), str)),
            _fault,
        ),
    ] = None
    hang: Flag = False
    delay_s: Seconds = 0.0
    model: str = ""
    encoded: Mapping[SignalType, Share] | None = None
    usage: Annotated[Usage | None, Field(alias="tokens"), read_as(Literal["unreported"] | Count | _Tokens, _usage)] = (
        DEFAULT_USAGE
    )
    times: Annotated[int, Strict(), Field(ge=1, le=MOST_TIMES)] = 1

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


_SOURCES: Final = read_as(
    one_of(dict.fromkeys(get_args(SourceType), str)), lambda written: next(iter(written.given.items()))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answers.

    Args:
        when: arguments that a call must have to get this answer.
        result: the text. Without it, a text that names the call.
        error: the error of a call that fails.
        empty: `true` if the call finds nothing.
        delay_s: how long the call takes, in seconds.
        hang: `true` if the call never ends.
        sources: the sources of the result, each as `type: path`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    when: Mapping[str, Any] = field(default_factory=dict)
    result: str | None = None
    error: str | None = None
    empty: Flag = False
    delay_s: Seconds = 0.0
    hang: Flag = False
    sources: tuple[Annotated[tuple[SourceType, str], _SOURCES], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScript:
    """The answers of one tool.

    Args:
        group: the group of a tool that is not built in.
        writes: `true` if such a tool changes data.
        approve: `true` if a person must approve each call of such a tool.
        labels: what such a tool reads and where it writes: `[untrusted, outward]`; without, anything.
        answers: one per call, in order. The last one repeats. Those with `when` are for matching calls only.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    group: ToolGroup | None = None
    writes: Flag = False
    approve: Flag = False
    labels: tuple[Label, ...] | None = None
    answers: tuple[Annotated[ToolAnswer, short_for("result")], ...] = ()


def _tool(written: Json) -> Json:
    """A tool may be written as its answers, or as its only answer."""
    if isinstance(written, dict) and written.keys() & {"group", "writes", "approve", "labels", "answers"}:
        return written
    return {"answers": written if isinstance(written, list) else [written]}


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


_MOMENTS: Final[Mapping[MomentKind, Any]] = {
    "at_s": Seconds,
    "request": Number,
    "said": str,
    "call": str,
    "notice": Topic,
}


class _Delivered(Record):
    key: str
    value: Any


def _event(written: Record) -> OutsideEvent:
    ((action, when),) = written.given.items()
    fields = when.given
    key, value = fields.pop("key", ""), fields.pop("value", None)
    ((kind, at),) = fields.items()
    return OutsideEvent(action=action, moment=Moment(kind=kind, value=at), key=key, value=value)  # type: ignore[arg-type]


_EVENTS: Final = read_as(
    one_of(
        dict.fromkeys(get_args(Action), one_of(_MOMENTS)) | {"delivery": one_of(_MOMENTS, base=_Delivered)},
    ),
    _event,
)


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


class _After(Record):
    after_s: Seconds = 0.0


def _decides(written: PersonsDecision | _After) -> PersonDecides:
    if isinstance(written, str):
        return PersonDecides(decision=written)
    fields = written.given
    after_s = fields.pop("after_s", 0.0)
    ((decision, value),) = fields.items()
    return PersonDecides(decision=decision, value=value, after_s=after_s)  # type: ignore[arg-type]


_PEOPLE: Final = read_as(PersonsDecision | one_of(dict.fromkeys(get_args(PersonsDecision), Any), base=_After), _decides)


def _limits(config: AgentConfig) -> Mapping[str, int]:
    return config.model_dump(exclude_unset=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """An earlier query of the conversation.

    Args:
        question: what the user asked.
        answer: what the user read.
        tool_errors: `true` if a tool failed.
        query_type: how the question was classified, if not as its text is.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    question: str
    answer: str
    tool_errors: Flag = False
    query_type: QueryType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A query that is played, and what must happen.

    Args:
        name: a sentence, unique in the file.
        shows: ids of requirements.
        tree: its name; `oracle` by default.
        question: what the user asks; by default a question about code.
        limits: the limits of the run, such as `{max_iterations: 3}`.
        available: the groups of tools that exist. The default is `code`, `vault`, `thread` and `web`.
        history: earlier questions, each with `question` and `answer`, and optionally `tool_errors: true`, `query_type`.
        encoded: how the encoder reads the question: `{code: 0.9, research: 0.1}`. Without it there is no encoder.
        tools: the answers of tools, by name.
        model: the responses of the model, one per request.
        events: what happens from outside.
        people: the decisions of people, in the order in which the run asks. A request without one expires at once.
        expect: what must happen.
        place: where it stands in its file.
        places: of the expectations and their parts, by path: `("notices", 0)`.
    """

    name: str
    shows: tuple[str, ...] = ()
    tree: str = "oracle"
    question: str = DEFAULT_QUESTION
    limits: Annotated[Mapping[str, int], read_as(AgentConfig, _limits)] = field(default_factory=dict)
    available: tuple[Annotated[ToolGroup, read_as(word_of(GROUPS), str)], ...] = GROUPS
    history: tuple[Earlier, ...] = ()
    encoded: Mapping[QueryType, Share] | None = None
    tools: Mapping[str, Annotated[ToolScript, BeforeValidator(_tool)]] = field(default_factory=dict)
    model: tuple[Annotated[Turn, short_for("text")], ...] = ()
    events: tuple[Annotated[OutsideEvent, _EVENTS], ...] = ()
    people: tuple[Annotated[PersonDecides, _PEOPLE], ...] = ()
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
