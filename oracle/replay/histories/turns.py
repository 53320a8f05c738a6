"""The turns of the model in a run: begun, answered, taken by the tick that got their outcome."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from bt_runtime.text.data import dataclass
from oracle.agent.journal import RequestRecord
from oracle.agent.outcomes import TurnOutcome
from oracle.replay.histories.model import RequestFacts, SignalFacts, TurnFacts
from signals import BlockReading

_OF_EVERY_SIGNAL = frozenset({"type", "confidence", "raw_xml", "timestamp"})


@dataclass(slots=True)
class _Open:
    """A turn whose outcome no tick has got yet.

    Args:
        position: the index of the turn in the list.
        began_at: seconds since the epoch; of a recorded event, so the same whenever the history is made.
        has_ended: its outcome is known.
        was_sent: its request is in the log; until then nothing is known besides that a node asked for it.
    """

    position: int
    began_at: float | None
    has_ended: bool = False
    was_sent: bool = False


class Turns:
    """Collects the turns.

    Args:
        turns: gets them, in the order in which they began.
        since_start: seconds from the start of the query, of a time by the run's clock.
        has_texts: the responses were not deleted.
    """

    def __init__(
        self, turns: list[TurnFacts], since_start: Callable[[float], float], *, has_texts: bool = True
    ) -> None:
        self._has_texts = has_texts
        self._turns = turns
        self._since_start = since_start
        self._open: dict[int | None, _Open] = {}
        self._latest: dict[str, list[int]] = {}  # signals whose action is not known: by their text, their turns

    @property
    def current(self) -> int:
        """The number of the visible turn that is under way, or of the last one that began; 0 before the first."""
        for open_turn in reversed(self._open.values()):
            if not open_turn.has_ended and self._turns[open_turn.position].visible:
                return open_turn.position + 1
        return len(self._turns)

    def is_open(self, node: int | None) -> bool:
        """Whether a turn of that node is under way."""
        return node in self._open

    def begin(
        self,
        node: int | None,
        *,
        tick: int,
        at_s: float,
        at: float | None = None,
        visible: bool = True,
        request: RequestFacts | None = None,
    ) -> None:
        """A node asks for a turn; an earlier request of it that came to nothing is forgotten."""
        before = self._open.pop(node, None)
        if before is not None and not (before.has_ended or before.was_sent):
            self._drop(before)
        facts = TurnFacts(len(self._turns) + 1, node, tick, None, at_s, None, visible=visible, request=request)
        self._open[node] = _Open(len(self._turns), at)
        self._turns.append(facts)

    def sent(self, node: int | None, record: RequestRecord) -> None:
        """The recorded request of a turn that is under way."""
        open_turn = self._open[node]
        known = self._turns[open_turn.position]
        request, began_s = recorded_request(record, known.request), self._since_start(record.at_s)
        open_turn.was_sent = True
        self._turns[open_turn.position] = replace(known, request=request, visible=not record.is_side, began_s=began_s)

    def showed_text(self, *, at: float) -> None:
        """Text of the visible turn under way was shown to the user."""
        for open_turn in self._open.values():
            facts = self._turns[open_turn.position]
            is_under_way = open_turn.was_sent and not open_turn.has_ended and facts.visible
            if is_under_way and facts.first_text_ms is None and open_turn.began_at is not None:
                first_ms = max(0, round((at - open_turn.began_at) * 1000))
                self._turns[open_turn.position] = replace(facts, first_text_ms=first_ms)

    def end(self, node: int | None, outcome: TurnOutcome, *, at_s: float, began_tick: int) -> None:
        """The outcome of a turn is known; `began_tick` if its beginning is not."""
        ended_s = self._since_start(at_s)
        began_s = round(ended_s - outcome.duration_ms / 1000, 6)
        if node not in self._open:
            self.begin(node, tick=began_tick, at_s=began_s)
        open_turn = self._open[node]
        open_turn.has_ended = True
        known = self._turns[open_turn.position]
        signal, *others = _signals(outcome)
        self._turns[open_turn.position] = replace(
            known,
            began_s=known.began_s if outcome.is_lost else began_s,
            ended_s=ended_s,
            first_text_ms=outcome.first_text_ms,
            input_tokens=outcome.input_tokens,
            output_tokens=outcome.output_tokens,
            tokens=outcome.tokens,
            estimated=outcome.estimated,
            model=outcome.model,
            visible=not outcome.is_side,
            cut_off=outcome.cut_off,
            interrupted=outcome.interrupted or outcome.is_lost,
            error=(outcome.fault.message or outcome.fault.error_type) if outcome.fault else "",
            calls=tuple(call.id for call in outcome.calls),
            signal=signal,
            other_signals=tuple(each for each in others if each is not None),
            request=None if known.request is None else replace(known.request, notes=outcome.notes),
            answer=raw_answer(outcome) if self._has_texts else None,
            stop_reason=outcome.stop_reason,
            server_tools=outcome.server_tools,
            cache_creation_tokens=outcome.cache_creation_tokens,
            cache_read_tokens=outcome.cache_read_tokens,
            cache_miss=outcome.cache_miss,
        )
        for each in (signal, *others):
            if each is not None and each.raw is not None:
                self._latest.setdefault(each.raw, []).append(open_turn.position)

    def taken(self, node: int | None, *, tick: int, at_s: float) -> int | None:
        """A tick got the outcome of a node's turn; returns its number, `None` if there is none."""
        open_turn = self._open.pop(node, None)
        if open_turn is None:
            return None
        known = self._turns[open_turn.position]
        ended_s = self._since_start(at_s) if known.ended_s is None else known.ended_s
        self._turns[open_turn.position] = replace(known, ended_tick=tick, ended_s=ended_s)
        return open_turn.position + 1

    def release(self, node: int | None) -> None:
        """No tick gets the outcome of a node's turn: no tree drives the run."""
        self._open.pop(node, None)

    def left(self, fields: Mapping[str, Any]) -> None:
        """What is left of a signal whose text was deleted: the data of its event."""
        position = fields["turn"] - 1
        if fields["outcome"] not in ("accepted", "malformed") or not 0 <= position < len(self._turns):
            return
        found = SignalFacts(
            fields["type"] or "",
            fields["confidence"],
            malformed=fields["outcome"] == "malformed",
            action=fields["action"],
        )
        if self._turns[position].signal is None:
            self._turns[position] = replace(self._turns[position], signal=found)

    def acted(self, raw: str, action: str) -> None:
        """What the control did about a signal."""
        positions = self._latest.get(raw)
        if not positions:
            return
        position = positions.pop(0)
        known = self._turns[position]
        done = [
            replace(each, action=action) if each is not None and each.raw == raw and not each.action else each
            for each in (known.signal, *known.other_signals)
        ]
        others = tuple(each for each in done[1:] if each is not None)
        self._turns[position] = replace(known, signal=done[0], other_signals=others)

    def close(self, *, all_began: bool) -> None:
        """The run has ended: turns without an outcome were interrupted, or never began.

        Args:
            all_began: the process ended before the run did, so that nothing says which of them began.
        """
        for open_turn in sorted(self._open.values(), key=lambda each: -each.position):
            if open_turn.has_ended:
                continue
            if all_began or open_turn.was_sent:
                self._turns[open_turn.position] = replace(self._turns[open_turn.position], interrupted=True)
            else:
                self._drop(open_turn)
        self._open.clear()

    def _drop(self, open_turn: _Open) -> None:
        if open_turn.position == len(self._turns) - 1:
            self._turns.pop()
        else:
            self._turns[open_turn.position] = replace(self._turns[open_turn.position], interrupted=True)


def raw_answer(outcome: TurnOutcome) -> str:
    """The text of a response with its signal blocks; without them, if only the visible text was recorded."""
    texts = [str(block.get("text", "")) for block in outcome.content if block.get("type") == "text"]
    return "".join(texts) or outcome.text


def signal_action(fields: Mapping[str, Any]) -> tuple[str, str] | None:
    """The text of a signal and what was done about it, of the data of a `signal` event; `None` if it has neither."""
    raw, action = fields.get("raw_xml"), fields.get("action")
    return (raw, action) if isinstance(raw, str) and isinstance(action, str) and action else None


def _signals(outcome: TurnOutcome) -> tuple[SignalFacts | None, ...]:
    """The signal of a response (the one that counts, else the first malformed one), then all others of it."""
    readings = list(outcome.parsed.readings) if outcome.parsed else []
    if not (readings and outcome.is_whole):
        return (None, *map(_signal, readings))
    first = next((each for each in readings if each.signal is not None), readings[0])
    return (_signal(first), *(_signal(each) for each in readings if each is not first))


def _signal(reading: BlockReading) -> SignalFacts:
    signal = reading.signal
    if signal is None:
        declared, problem = reading.declared_type or "", reading.problem or ""
        return SignalFacts(declared, malformed=True, raw=reading.raw_xml, problem=problem)
    fields = signal.model_dump(mode="json", exclude=set(_OF_EVERY_SIGNAL), exclude_none=True)
    return SignalFacts(signal.type, signal.confidence, fields, raw=reading.raw_xml)


def recorded_request(record: RequestRecord, known: RequestFacts | None) -> RequestFacts:
    """The request behind its record.

    Args:
        record: the request as it was recorded.
        known: what a repetition of the run knows: the messages and the notes, whose texts are not recorded twice.
    """
    known = known or RequestFacts()
    return RequestFacts(
        segments=record.segments,
        prompt_sha=record.prompt or None,
        tools=record.tools,
        tool_choice=record.tool_choice,
        notes=known.notes or ((record.hint,) if record.hint else ()),
        messages=known.messages,
        max_tokens=record.max_tokens,
        wrap_up=record.wrap_up,
        recorded=True,
        total_messages=record.messages,
        thinking_tokens=record.thinking_tokens,
    )
