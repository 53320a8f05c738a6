"""What can happen to a run while it waits: a request ends, the user cancels, or the time is over.

The ends of turns and calls are the outcomes that a tree can distinguish, each once. A reply is a scripted turn. It is
played through the product's own reader of responses, so that its outcome is a real one. What no expression, guard or
rule of the tree can distinguish is represented by one reply.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Literal, get_args

from bt_runtime.text.data import dataclass
from oracle.agent.nodes.roles import JUDGES_CONTEXT, SEES_REPETITION
from oracle.features.verifier.parts import MODEL
from oracle.features.verifier.reads import SIGNAL_KEYS, Reads
from oracle.llm.blocks import without_loose_end
from oracle.llm.message_events import MessageReader
from oracle.llm.protocol import FaultKind, ModelEvent, ModelFault, StopReason, TurnEnded, Usage
from oracle.llm.scripted import ScriptedTurn, content_events
from signals import SignalType

Call = str
"""`read`, `write` or `unknown`; `read_fresh`, whose arguments are never repeated; or the name of a tool."""

Tokens = Literal["low", "half", "high", "full"]

SHARES: Final[dict[Tokens, float]] = {"low": 0.0, "half": 0.55, "high": 0.97, "full": 1.0}
"""Shares of the token budget that are used after a turn. `high` is past the warnings and pays for one more turn."""

SIGNAL_TYPES: Final[tuple[SignalType, ...]] = get_args(SignalType)
WORDS: Final[dict[str, tuple[str, str]]] = {
    "need_turn": ("reason", "signal_reason"),
    "stuck": ("blocker", "blocker"),
    "need_capability": ("capability", "capability"),
    "delegation_recommended": ("reason", "signal_reason"),
}
"""The field of each signal that a tree can read, and the key that has it."""
WITHHELD: Final = "web search"
"""What a model asks for that has it, but was not offered it."""
OTHER_REASONS: Final = ("there is more to read", "one file is left to check")

PLAIN: Final = "The login is in auth.py, line 12."
_PLAIN_INTENT: Final = "context_sufficient"
ANNOUNCEMENT: Final = "Let me read the next file."
CLAIMS_NOTHING: Final = "It is as you say."
"""For trees that match claims with what was read, which has nothing of `PLAIN`."""
QUESTION: Final = "Which of the two files do you mean?"
INTENTS: Final[dict[str, str]] = {
    "context_sufficient": PLAIN,
    "need_turn": "I will read the next file now.",
    "stuck": "I am stuck: I cannot get any further.",
    "need_capability": "I do not have access to the production database.",
    "partial_answer": "This covers only a part: the second half is missing.",
    "delegation_recommended": "A lawyer should look at this; please ask a specialist.",
}
"""A text for each way in which `classify_response` can read one."""

_OVERLOADED = ModelFault("provider_overloaded", "The language model is overloaded. Please try again.")
_CONFIDENT: Final = 0.9
_ABOUT_CALLS: Final = frozenset({"tools_tried", "pending_calls", "pending_writes", "refused_by_people"})
"""Keys by which a tree tells calls of different tools apart."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One abstract response of the model.

    Args:
        text: without its signal.
        signal: its type; `malformed` for one that cannot be read; empty for none.
        same_reason: a `need_turn` gives the reason of the turn before; else another one.
        tokens: how much of the budget is used afterwards, if it is not more already.
        stop_reason: `None`: as responses end by themselves.
        is_fault: the provider fails after the text.
        fault_kind: how.
        crashes: the service's own code raises.
        words: what the signal says, in place of the usual; its reason, capability or blocker.
        arguments: of the calls, in place of the usual ones.
    """

    text: str = ""
    signal: str = ""
    confidence: float = _CONFIDENT
    same_reason: bool = False
    calls: tuple[Call, ...] = ()
    tokens: Tokens = "low"
    stop_reason: StopReason | None = None
    is_fault: bool = False
    fault_kind: FaultKind = "overloaded"
    crashes: bool = False
    words: str = ""
    arguments: tuple[tuple[str, Any], ...] = ()

    @property
    def fault(self) -> ModelFault | None:
        """What goes wrong at the provider."""
        return replace(_OVERLOADED, narrower=self.fault_kind) if self.is_fault else None


@lru_cache(maxsize=8192)
def events_of(turn: ScriptedTurn, *, ends: bool) -> tuple[ModelEvent, ...]:
    """The events of a scripted turn, made by the reader of the provider's stream.

    Args:
        turn: without a fault, which has no events.
        ends: the response comes to its end.
    """
    reader = MessageReader(model=MODEL)
    events = [event for wire in content_events(turn, number=1, sign=lambda _: "-") for event in reader.feed(wire)]
    if ends:
        content = without_loose_end(reader.content)
        events.append(TurnEnded(turn.ends_as, turn.usage or Usage(), content, MODEL))  # type: ignore[arg-type]
    return tuple(events)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the consequences of an event depend on.

    Args:
        keys: the blackboard keys that nodes have read since, or can read later.
        reads_intent: the response was classified.
    """

    keys: frozenset[str]
    reads_intent: bool

    def depends_on(self, keys: Iterable[str]) -> bool:
        """Whether one of the keys matters."""
        return not self.keys.isdisjoint(keys)


class Vocabulary:
    """The replies that one tree can distinguish.

    Args:
        tools: the tools that rules name.
        signals: the types of signals that rules name.
        arguments: of tool calls, as rules distinguish them, each with the names of the tools (none: any).
    """

    def __init__(
        self,
        reads: Reads,
        *,
        tools: Sequence[str] = (),
        signals: Sequence[str] = (),
        arguments: Sequence[tuple[Sequence[str], tuple[tuple[str, Any], ...]]] = (),
    ) -> None:
        self.arguments = arguments
        self._reads = reads
        self.knows_repetition = SEES_REPETITION in reads.roles
        self._tells_calls_apart = bool(tools) or not _ABOUT_CALLS.isdisjoint(reads.keys)
        self._tools = (*tools, *(text for text in reads.texts_of("tools_tried") if text not in tools))
        self._named_signals = signals
        self.confidences = _between(reads.numbers_of("confidence")) if "confidence" in reads.keys else (_CONFIDENT,)

    @property
    def token_levels(self) -> tuple[Tokens, ...]:
        """What the tree can distinguish of the token budget."""
        return ("low", "half", "high", "full") if "tokens_used" in self._reads.keys else ("low", "high", "full")

    def turns(self, *, can_write: bool) -> tuple[Reply, ...]:
        """The replies of a turn of the answer to begin with; `refined` leads to the others."""
        return tuple(dict.fromkeys(self._turns(can_write=can_write)))

    def refined(self, reply: Reply, seen: "Seen") -> Iterator[Reply]:
        """Replies that differ from this one in one point, if that point has made a difference."""
        if reply.is_fault or reply.crashes or reply.stop_reason is not None:
            return
        if reply.signal:
            yield from self._other_signals(reply, seen)
        elif self._has_signals(reply, seen):
            yield from (replace(reply, signal=kind) for kind in self._types())
            if seen.depends_on({"malformed_signal"}):
                yield replace(reply, signal="malformed")
        elif reply.text == PLAIN and not reply.calls:
            yield replace(reply, signal="need_turn")
        if reply.text == PLAIN and reply.calls == ("read",) and not reply.signal:
            yield replace(reply, text="")
        if reply.text == PLAIN and seen.reads_intent and reply.signal in INTENTS:
            yield replace(reply, text=INTENTS[reply.signal])

    def read_otherwise(self, reply: Reply) -> Iterator[Reply]:
        """The same reply with texts that are classified in other ways."""
        if reply.text == PLAIN:
            yield from (replace(reply, text=INTENTS[kind]) for kind in self._intents(reply.signal))

    def _intents(self, signal: str) -> tuple[str, ...]:
        """The ways to read a response that a tree distinguishes: those that it names, the signal's, and one more."""
        named = {*self._reads.texts_of("intent"), signal}
        other = next((kind for kind in SIGNAL_TYPES if kind not in {*named, _PLAIN_INTENT}), "")
        return tuple(kind for kind in SIGNAL_TYPES if kind in {*named, other} - {_PLAIN_INTENT})

    def _has_signals(self, reply: Reply, seen: "Seen") -> bool:
        """Whether the reply is varied by signals: without tools, and with the plainest call."""
        if not (self._named_signals or seen.depends_on(SIGNAL_KEYS)):
            return False
        if reply.text in (ANNOUNCEMENT, CLAIMS_NOTHING):  # with a signal it is as any other text
            return False
        return not reply.calls or (reply.calls == ("read",) and bool(reply.text))

    def on_other_levels(self, reply: Reply) -> Iterator[Reply]:
        """The same reply with more tokens used."""
        if reply.tokens == "low" and not (reply.is_fault or reply.crashes):
            yield from (replace(reply, tokens=level) for level in self.token_levels[1:])

    def _other_signals(self, reply: Reply, seen: "Seen") -> Iterator[Reply]:
        if reply.confidence == self.confidences[0] and seen.depends_on({"confidence"}):
            yield from (replace(reply, confidence=confidence) for confidence in self.confidences[1:])
        if reply.signal == "need_turn" and not reply.same_reason and seen.depends_on({"same_reason"}):
            yield replace(reply, same_reason=True)
        if reply.signal == "need_capability" and not reply.words and seen.depends_on({"may_be_supplied"}):
            yield replace(reply, words=WITHHELD)
        _, key = WORDS.get(reply.signal, ("", ""))
        if key and not reply.words and seen.depends_on({key}):
            yield from (replace(reply, words=text) for text in self._reads.texts_of(key) if text)

    def side_turns(self, into: str | None) -> tuple[Reply, ...]:
        """The replies of a turn that is not part of the answer.

        Args:
            into: the key that gets its text.
        """
        texts = ["Some words.", *(self._reads.texts_of(into) if into else ())]
        return tuple(dict.fromkeys([*map(Reply, texts), Reply(), *self._faults(), Reply(crashes=True)]))

    def _turns(self, *, can_write: bool) -> Iterator[Reply]:
        for text in (PLAIN, "", QUESTION):
            yield Reply(text, confidence=self.confidences[0])
        if "announcements" in self._reads.keys:
            yield Reply(ANNOUNCEMENT, confidence=self.confidences[0])
        if "unmatched_claims" in self._reads.keys:
            yield Reply(CLAIMS_NOTHING, confidence=self.confidences[0])
        for calls in self._calls(can_write=can_write):
            yield Reply(PLAIN, calls=calls, confidence=self.confidences[0])
        for names, arguments in self.arguments:
            for name in names or ("read", *(("write",) if can_write else ())):
                yield Reply(PLAIN, calls=(name,), confidence=self.confidences[0], arguments=arguments)
        yield Reply(PLAIN, stop_reason="max_tokens")
        yield Reply(stop_reason="max_tokens")
        yield Reply(PLAIN, calls=("read",), stop_reason="max_tokens")
        yield Reply(PLAIN, stop_reason="model_context_window_exceeded", tokens="full")
        yield from self._faults()
        yield from (replace(each, text=PLAIN) for each in self._faults())
        yield Reply(stop_reason="refusal")
        yield Reply(crashes=True)

    def _faults(self) -> tuple[Reply, ...]:
        """The ways in which the provider fails that the tree names, and one for all others."""
        named = {*self._reads.texts_of("model_fault")}
        kinds: tuple[FaultKind, ...] = get_args(FaultKind)
        other = next((kind for kind in kinds if kind not in named), None)
        return tuple(Reply(is_fault=True, fault_kind=kind) for kind in kinds if kind in named or kind == other)

    def _types(self) -> tuple[str, ...]:
        """The types with a meaning of their own, and one for all others."""
        named = {"need_turn", "stuck", "need_capability", *self._reads.texts_of("signal"), *self._named_signals}
        if JUDGES_CONTEXT in self._reads.roles:
            named.add("context_sufficient")
        others = [kind for kind in SIGNAL_TYPES if kind not in named]
        return tuple(kind for kind in SIGNAL_TYPES if kind in {*named, *others[:1]})

    def _calls(self, *, can_write: bool) -> Iterator[tuple[Call, ...]]:
        yield ("read",)
        yield ("read", "read_fresh")
        if self.knows_repetition:
            yield ("read_fresh",)
        if self._tells_calls_apart:
            yield ("unknown",)
            if can_write:
                yield ("write",)
            yield from ((tool,) for tool in self._tools)


Result = Literal["found", "found_again", "nothing", "error", "error_again"]
"""What a tool brings: something new, the same as before, nothing, an error of its own, or the same error as before."""


def results_for(calls: int, *, knows_repetition: bool) -> tuple[tuple[Result, ...], ...]:
    """What that many calls of a turn can bring together."""
    kinds: tuple[Result, ...] = (
        ("found", "found_again", "nothing", "error", "error_again")
        if knows_repetition
        else ("found", "nothing", "error")
    )
    alike = tuple((kind,) * calls for kind in kinds)
    if calls <= 1:
        return alike
    found: tuple[Result, ...] = ("found",)
    error: Result = "error"
    errors = (error,) * (calls - 1)
    return (*alike, found + errors, errors + found)


def _between(bounds: Sequence[float]) -> tuple[float, ...]:
    """A value below, between and above the bounds, and the bounds themselves, all from 0 to 1."""
    inside = sorted({bound for bound in bounds if 0 < bound < 1})
    edges = [0.0, *inside, 1.0]
    return tuple(sorted({*(round((low + high) / 2, 4) for low, high in pairwise(edges))}, reverse=True))


Part = Literal["nothing", "some", "whole"]
"""How much of the work under way was there when it was interrupted: `whole` ended at the same moment."""


@dataclass(frozen=True, slots=True)
class Start:
    """The question."""

    question: str


@dataclass(frozen=True, slots=True)
class Replied:
    """An LLM turn ends."""

    request: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolsEnded:
    """The tools of a turn end; `results` are those of the calls that are run, in order."""

    request: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class ActionEnded:
    """A tool that the tree calls itself ends; `text` replaces its result."""

    request: str
    result: Result
    text: str = ""


@dataclass(frozen=True, slots=True)
class SaveEnded:
    """The conversation is saved, or cannot be."""

    request: str
    fails: bool = False


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """Work of a kind that is not known here ends, without a value or with an exception."""

    request: str
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user cancels."""

    part: Part = "nothing"
    calls: bool = False


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time passes until the next deadline."""

    part: Part = "nothing"


@dataclass(frozen=True, slots=True)
class Delivered:
    """A key gets a value from outside; each does so once in a run at most."""

    key: str
    value: bool | str | float


@dataclass(frozen=True, slots=True)
class Decided:
    """A person decides about something that the run has asked, or nobody does in time (`expire`).

    Args:
        at: which of what is open, in the order in which it was asked.
        value: the answer to a question.
        arguments: those that the person puts in the place of the call's.
    """

    at: int
    decision: Literal["approve", "refuse", "edit", "answer", "expire"]
    value: Any = field(default=None, hash=False)  # a map or a list has no hash
    arguments: tuple[tuple[str, Any], ...] = ()

    @property
    def says(self) -> Any:  # noqa: ANN401  JSON data
        """What comes with the decision; `None`: nothing."""
        return dict(self.arguments) if self.decision == "edit" else self.value


Event = (
    Decided | Delivered | Start | Replied | ToolsEnded | ActionEnded | SaveEnded | WorkEnded | Cancelled | TimePassed
)
