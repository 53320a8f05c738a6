"""The record of a query in addition to its chunks and tick records: outcomes, signals, requests, broken rules."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, Protocol

import bt_runtime
from bt_runtime import Outcome, TickRecord
from bt_runtime.text.data import dataclass
from oracle.core.chunks import Chunk
from oracle.core.encoding import held_frozen
from signals import SignalRecord

Fact = Chunk | Outcome | TickRecord
"""The entries of a record."""


@held_frozen
class RequestRecord:
    """The request of one turn.

    Args:
        step: the key of the outcome that the turn will have.
        at_s: when it was sent, in seconds of the run's clock.
        model: the model that was asked for; `None`: the provider's default.
        prompt: the digest of the system prompt; empty if there was none.
        segments: the ids of the prompt's segments, in their order.
        tools: names of the tools that were offered.
        tool_choice: whether the model could call them.
        notes: how many notes of the control went with it; the outcome has their texts.
        note: what they say; empty if there were none.
        hint: the instruction for this turn, one of the notes; empty if there was none.
        messages: how many there were in the transcript, this request's own included.
        new_messages: how many of them no request of the query had before.
        max_tokens: the limit on the output.
        thinking_tokens: the part of it that could be thinking.
        wrap_up: the model was asked to finish.
        is_side: the turn is not part of the answer.
        digest: of the blocks of all messages, in order.
        blocks: the number of content blocks in all messages.
    """

    step: str
    at_s: float
    model: str | None
    prompt: str
    segments: tuple[str, ...]
    tools: tuple[str, ...]
    tool_choice: Literal["auto", "none"]
    notes: int
    hint: str
    messages: int
    new_messages: int
    max_tokens: int
    thinking_tokens: int
    wrap_up: bool
    is_side: bool
    digest: str
    blocks: int
    note: str


@lru_cache(maxsize=64)
def digest_of(prompt: str) -> str:
    """SHA-256 of a system prompt in hexadecimal; a query asks for the same one in each of its turns."""
    return sha256(prompt.encode(errors="replace")).hexdigest() if prompt else ""


@dataclass(frozen=True, slots=True)
class RuleBreach:
    """A rule that was broken, or would have been.

    Args:
        rule: its name.
        text: its sentence.
        enforcement: what was done: `refuse`, `stop` or `notify`.
        event: what broke it; empty for the end of the query.
        turn: how many turns had been finished.
        call_id: of the tool call that broke it; empty for other events.
        after: for a rule over labels, the tool whose result came before; else empty.
    """

    rule: str
    text: str
    enforcement: str
    event: str
    turn: int
    call_id: str = ""
    after: str = ""

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object; the last two only if they say something."""
        return {name: value for name, value in asdict(self).items() if value or name not in ("call_id", "after")}


class RuleGate(Protocol):
    """Checks the steps of one query against the rules of its tree, when they begin."""

    def turn(self, *, visible: bool) -> None:
        """A turn of the model begins."""
        ...

    def refusal(self, tool: str, arguments: Mapping[str, Any], *, call_id: str) -> str | None:
        """A tool is about to run: why it must not, or `None`; then it counts as begun."""
        ...


class QueryJournal(bt_runtime.Journal, Protocol):
    """Where a query's outcomes and signals are kept.

    The values of outcomes are `TurnOutcome`, `ToolsOutcome`, or JSON data of the tree's other nodes.
    """

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """A turn begins, with this system prompt; must not wait."""
        ...

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """A tool that writes is about to be called, for the first time at `at`; must not wait, but `flush` follows."""
        ...

    def with_end(self, work: Callable[[Any], object]) -> bool:
        """Offer to add the answer to its conversation (`KeptWithRuns`) with the run's end; whether that is done."""
        ...

    def signal(self, record: SignalRecord) -> None:
        """A signal of the model, and what the control did about it; must not wait."""
        ...

    def rule(self, breach: RuleBreach) -> None:
        """A rule of the tree was broken, and what was done about it; must not wait."""
        ...


class RuleWatch(RuleGate, QueryJournal, bt_runtime.Observer, Protocol):
    """The rules of a query's tree while it runs: its gate, its journal, and an observer of its ticks."""

    def restore(self, facts: Sequence[Fact], *, untaken: Collection[str]) -> None:
        """Go on after what was recorded of the query.

        Args:
            facts: what was recorded, in order.
            untaken: the keys of outcomes among them whose end is still to come to the query.
        """
        ...


class NoJournal:
    """Keeps nothing: for queries that live in memory only."""

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Do nothing."""

    def begin_tick(self) -> None:
        """Do nothing."""

    def end_tick(self) -> None:
        """Do nothing."""

    async def flush(self) -> None:
        """Do nothing."""

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """Do nothing."""

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """Do nothing."""

    def with_end(self, work: Callable[[Any], object]) -> bool:  # noqa: ARG002
        """Refuse: no end of a run is saved."""
        return False

    def signal(self, record: SignalRecord) -> None:
        """Do nothing."""

    def rule(self, breach: RuleBreach) -> None:
        """Do nothing."""
