"""The results of a query's asynchronous steps: plain data, kept in the tick records."""

from collections.abc import Mapping
from typing import Any, Literal

from oracle.classify.protocol import Classifier
from oracle.classify.types import IntentShares
from oracle.core.chunks import TokenUsage
from oracle.core.encoding import held_frozen
from oracle.decision import ToolAction
from oracle.llm.protocol import CacheMiss, ModelFault, StopReason, ToolUse
from signals import NeedTurn, ParsedResponse, Signal

_NEEDS_NO_TEXT = frozenset({"need_turn", "stuck", "need_capability"})
"""Signals that need no text: another turn, or the control, writes it."""
DOUBTED_BELOW = 0.3
"""For a signal of less confidence, the fallback is consulted to confirm it."""
_DOUBTED = frozenset({"need_turn", "stuck"})
"""Signals whose response the fallback may read as well: repeated ones, and those that give up."""


WRITE_UNKNOWN = (
    "Interrupted: the service stopped before this call had ended. It is not known whether it was carried out; "
    "check that before it is repeated."
)
"""The result of a writing call whose process died."""

ASKED_CLIENT = "Asked of the client, which runs this tool."
"""The provisional result of a call that the client runs."""


@held_frozen
class TurnOutcome:
    """How an LLM turn ended.

    Args:
        parsed: the response as the signal reader saw it; `None` if nothing came.
        content: the model's blocks as they go back to the provider.
        calls: tool calls, in the model's order; none of a turn that was interrupted or failed.
        server_tools: names of the tools that the provider has run itself.
        stop_reason: as the provider reports it; `None` if the turn was interrupted or failed.
        tokens: input and output that count against the budget; cached input does not.
        input_tokens: the whole input, cached or not; an estimate if the provider reported none.
        output_tokens: thinking included; an estimate if the provider reported none.
        caches: the provider has put the request into its cache, or read it from there.
        estimated: the provider reported no usage, or not all of it.
        model: the model that answered; empty if unknown.
        cut_off: the response ends before its end: by its bound on tokens, or by the token budget.
        budget_cut: it was the budget that cut it off.
        is_last_paid: the token budget does not pay for a turn after this one.
        interrupted: the turn was cancelled while it streamed.
        duration_ms: from the request to the end.
        first_text_ms: from the request to the first visible text; `None` if there was none.
        notes: what the control told the model in this turn's request.
        without_tools: the model could not call tools in this turn.
        request_ids: the provider's names for the turn's requests, for its support.
        is_side: the turn is not part of the answer.
        encoded: how the encoder reads the state of the work in the response; `None` if it was not asked, or did not
            answer.
        is_lost: the process that read the response died before its end: what the user has seen of it is all that is
            left. It is not a finished turn: the node that asked for it asks for the rest, and both count as one.
        goes_on_from: the text of the lost turns that this one continues; together they are one response.
        cache_creation_tokens: the input that the provider has put into its cache.
        cache_read_tokens: the input that it has read from its cache.
        repeats: the text repeats the answer so far, or itself.
        cache_miss: why the provider's cache did not have the whole previous request, where it says so; else empty.
        message_id: the provider's id of the response, with which it compares the next request; empty if it has none.
    """

    parsed: ParsedResponse | None = None
    content: tuple[Mapping[str, Any], ...] = ()
    calls: tuple[ToolUse, ...] = ()
    server_tools: tuple[str, ...] = ()
    stop_reason: StopReason | None = None
    tokens: int = 0
    input_tokens: int = 0
    caches: bool = False
    estimated: bool = False
    model: str = ""
    cut_off: bool = False
    budget_cut: bool = False
    is_last_paid: bool = False
    interrupted: bool = False
    fault: ModelFault | None = None
    duration_ms: int = 0
    notes: tuple[str, ...] = ()
    without_tools: bool = False
    request_ids: tuple[str, ...] = ()
    is_side: bool = False
    output_tokens: int = 0
    first_text_ms: int | None = None
    encoded: IntentShares | None = None
    is_lost: bool = False
    goes_on_from: str = ""
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    repeats: bool = False
    cache_miss: CacheMiss | Literal[""] = ""
    message_id: str = ""

    @property
    def usage(self) -> TokenUsage:
        """The tokens by kind, as the budget counts them; an estimate where `estimated`."""
        created, read = self.cache_creation_tokens, self.cache_read_tokens
        return TokenUsage(self.tokens - self.output_tokens - created, created, read, self.output_tokens)

    @property
    def text(self) -> str:
        """The visible text."""
        return self.parsed.text if self.parsed else ""

    @property
    def whole_text(self) -> str:
        """The visible text of the response, including the text of lost turns."""
        return self.goes_on_from + self.text if self.goes_on_from else self.text

    @property
    def has_text(self) -> bool:
        """Whether there is visible text other than white space."""
        text = self.whole_text
        return bool(text) and not text.isspace()

    @property
    def is_broken(self) -> bool:
        """Whether the turn failed or was interrupted."""
        return self.interrupted or self.fault is not None

    @property
    def is_finished(self) -> bool:
        """Whether it counts as a turn."""
        return not (self.is_broken or self.is_lost)

    @property
    def is_whole(self) -> bool:
        """Whether the response is complete, so that its signal counts."""
        return not (self.cut_off or self.is_broken or self.is_lost)

    @property
    def signal(self) -> Signal | None:
        """The first well-formed signal of a whole response."""
        return self.parsed.signal if self.parsed and self.is_whole else None

    @property
    def is_unclear(self) -> bool:
        """Whether the fallback may have to read the response, because it has nothing that the control can act on."""
        if self.calls or not (self.is_whole and self.has_text):
            return False
        signal = self.signal
        return signal is None or signal.confidence < DOUBTED_BELOW or signal.type in _DOUBTED

    @property
    def malformed_signal(self) -> bool:
        """A whole response had a signal that could not be read, and none that could."""
        return bool(self.parsed and self.parsed.malformed and self.is_whole and self.parsed.signal is None)

    @property
    def is_answer(self) -> bool:
        """Whether the response is complete and has text and no tool calls."""
        return self.is_whole and not self.calls and self.has_text

    def asks_user(self, classifier: Classifier) -> bool:
        """The response ends with a question to the user, who must reply."""
        return self.is_answer and classifier.asks_user(self.whole_text)

    def announces(self, classifier: Classifier) -> bool:
        """The response ends by announcing what the model will do, but calls no tool and has no signal.

        A call written as text does not count as a call, whatever the signal.
        """
        if not self.is_answer:
            return False
        return self.wrote_calls or (self.signal is None and classifier.announces(self.whole_text))

    @property
    def wrote_calls(self) -> bool:
        """Whether the whole response has calls that are written as text, and no others."""
        return bool(self.parsed and self.parsed.written_calls) and self.is_whole and not self.calls

    def answers(self, classifier: Classifier) -> bool:
        """It is an answer that does not ask for another turn, so the query has completed."""
        if not self.is_answer or self.wrote_calls:
            return False
        return not isinstance(self.signal, NeedTurn) or self.asks_user(classifier)

    @property
    def is_empty(self) -> bool:
        """Whether the response is complete and has nothing: no text, no tool calls, no signal to act on."""
        if not self.is_whole or self.calls or self.has_text:
            return False
        return self.signal is None or self.signal.type not in _NEEDS_NO_TEXT


@held_frozen
class CallResult:
    """How one tool call ended.

    Args:
        is_error: it failed, was refused, or was cancelled.
        counts: it was run to its end, so it is an action, and an error if it failed. A call that shares the result of
            an identical call of its turn does not count: the model saw nothing in between.
        is_empty: the call succeeded, but its result has no content.
        group: the tool's group; `None` if there is no such tool.
        began: the tool was started, also if the call was cancelled then.
        started_s: when the tool was started, in seconds of the run's clock; `None` if it was not.
        duration_ms: of the call; 0 if it was not run.
        sources: the paths of the result's sources.
        offers: names of the tools that the text mentions; they are offered from now on.
    """

    call: ToolUse
    text: str
    is_error: bool
    counts: bool
    is_empty: bool
    group: str | None
    action: ToolAction
    began: bool
    started_s: float | None = None
    duration_ms: int = 0
    sources: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether it is unknown if the call, which writes, was carried out."""
        return not self.counts and self.text == WRITE_UNKNOWN

    @property
    def is_asked(self) -> bool:
        """Whether the client runs the call and has not answered yet; its result follows."""
        return not self.counts and self.began and self.text == ASKED_CLIENT


@held_frozen
class ToolsOutcome:
    """How the tool calls of a turn ended, in the model's order."""

    results: tuple[CallResult, ...] = ()

    @property
    def found_nothing(self) -> bool:
        """Whether at least one call was run, and none of them found anything."""
        ran = [result for result in self.results if result.counts]
        return bool(ran) and all(result.is_empty or result.is_error for result in ran)
