"""Ticks of a history as JSON, each with what belongs to it: the same bytes go into every page and every stream.

A page has whole ticks. In a stream a tick has only those visits that differ from the last one of the same node in this
stream; `visited` of the tick names all nodes.

What belongs to a tick is what came into the history with it: the turns and the tool calls whose outcome it got, the
notifications and texts that were sent since the tick before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from bt_runtime.text.data import dataclass
from oracle.core.encoding import to_json
from oracle.replay.histories.codec import plain
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.model import PARTS, TickFacts, TurnFacts, VisitFacts

_NO_VISITS: Final = b'"visits":[],"given_back":[]}'
_POINTER: Final = 8

Parts = Mapping[str, Sequence[bytes]]
"""Items by the name of their list, each as JSON."""


@dataclass(frozen=True)
class ExplainedTick:
    """A tick with its reasons, as JSON.

    Args:
        n: its number.
        seq: of its event in the log.
        head: the fields of `TickFacts` before `visits`, and the brace before them.
        visits: of `TickFacts`, each as JSON; the same objects in all ticks in which a node did the same.
        seen: of each visit, the tick before this one in which the node was ticked last, if it did the same; else 0.
        given_back: the field of `TickFacts`, as JSON.
        parts: the turns, calls, notices and texts that came with the tick.
    """

    n: int
    seq: int
    head: bytes
    visits: Sequence[bytes]
    seen: Sequence[int]
    given_back: bytes
    parts: Parts

    @property
    def tick(self) -> bytes:
        """The whole `TickFacts`."""
        return self._tick(self.visits)

    @cached_property
    def size(self) -> int:
        """Bytes of all of it."""
        return self.held_size + sum(map(len, self.visits))

    @cached_property
    def held_size(self) -> int:
        """Bytes of memory, without the visits that it shares with ticks before it."""
        own = sum(len(visit) for visit, seen in zip(self.visits, self.seen, strict=True) if not seen)
        belonging = sum(len(item) for items in self.parts.values() for item in items)
        return len(self.head) + len(self.given_back) + belonging + own + _POINTER * len(self.visits)

    def event(self, first: int) -> bytes:
        """The JSON object that a stream of ticks sends: without the visits that it has sent before.

        Args:
            first: the first tick of this stream.
        """
        return self._usual_event if first <= self._oldest_seen else self._event(first)

    @cached_property
    def _oldest_seen(self) -> int:
        return min(filter(None, self.seen), default=self.n)

    @cached_property
    def _usual_event(self) -> bytes:
        return self._event(1)

    def _event(self, first: int) -> bytes:
        sent = [visit for visit, seen in zip(self.visits, self.seen, strict=True) if seen < first]
        fields = (self._tick(sent), len(self.visits) - len(sent), lists_of([self.parts]))
        return b'{"type":"tick","tick":%b,"omitted_visits":%d,%b}' % fields

    def _tick(self, visits: Iterable[bytes]) -> bytes:
        return b'%b"visits":[%b],"given_back":%b}' % (self.head, b",".join(visits), self.given_back)


def lists_of(parts: Iterable[Parts]) -> bytes:
    """The fields of a JSON object, without its braces, that hold the items of several parts."""
    some = list(parts)
    return b",".join(
        b'"%b":[%b]' % (name.encode(), b",".join(item for each in some for item in each[name])) for name in PARTS
    )


def encode(facts: Any) -> bytes:  # noqa: ANN401  any part of a history
    """Any part of a history as JSON."""
    try:
        return to_json(facts)
    except TypeError:  # a value that orjson refuses, below a dataclass: a lone surrogate, a number of any size
        return to_json(plain(facts))


class _LastVisit(NamedTuple):
    """The last visit of a node, and its tick."""

    tick: int
    visit: VisitFacts
    data: bytes


class TickEncoder:
    """Encodes the ticks of one history as they come, each item once.

    Args:
        explainer: makes it. Of encoded ticks what explains them is dropped from its history, so that a long run does
            not fill the memory; the end is still explained.

    Attributes:
        prompts: the texts of system prompts, by the digests that requests name.
    """

    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        self.prompts: dict[str, str] = {}
        self._last: dict[int, _LastVisit] = {}
        self._fault = -1  # the position of the last tick with a fault
        self._open = dict.fromkeys(PARTS, 0)  # the first item that may not be encoded yet
        self._encoded: dict[str, set[int]] = {name: set() for name in PARTS}  # those behind it that are

    def take(self, tick: TickFacts, *, seq: int) -> ExplainedTick:
        """The latest tick, with what has come since the one before."""
        head = encode(replace(tick, visits=(), given_back=())).removesuffix(_NO_VISITS)
        visits, seen = self._visits(tick)
        encoded = ExplainedTick(tick.tick, seq, head, visits, seen, encode(tick.given_back), self._parts())
        self._drop_reasons(tick)
        return encoded

    def _drop_reasons(self, tick: TickFacts) -> None:
        """Forget what explains a tick, unless it may explain the end: it has a reason, or is the last with a fault."""
        ticks, turns = self._explainer.history.ticks, self._explainer.history.turns
        if any(key == "termination_reason" for key, _ in tick.writes):
            return
        dropped = len(ticks) - 1
        if tick.errors or (turns and turns[-1].error and turns[-1].ended_tick == tick.tick):
            self._fault, dropped = dropped, self._fault
        if dropped >= 0:
            ticks[dropped] = replace(ticks[dropped], visits=(), writes=(), deliveries=(), why=(), marks="")

    def _visits(self, tick: TickFacts) -> tuple[Sequence[bytes], Sequence[int]]:
        """The visits as JSON, and of each the tick that it repeats."""
        nodes = [visit.node for visit in tick.visits]
        is_plain = len(set(nodes)) == len(nodes) and tick.visited == tuple(nodes)
        visits: list[bytes] = []
        seen: list[int] = []
        for visit in tick.visits:
            last = self._last.get(visit.node)
            if last is not None and last.visit is visit:  # `Visits` keeps equal ones once
                data, repeats = last.data, last.tick
            else:
                data, repeats = encode(visit), 0
            visits.append(data)
            seen.append(repeats if is_plain else 0)
            self._last[visit.node] = _LastVisit(tick.tick, visit, data)
        return visits, seen

    def rest(self) -> Parts:
        """What has come since the last tick, and what is under way; may be asked again."""
        return {
            name: [self._encoded_item(items[at]) for at in self._left(name, len(items))]
            for name, items in self._lists().items()
        }

    def _lists(self) -> dict[str, list[Any]]:
        history = self._explainer.history
        return {name: getattr(history, name) for name in PARTS}

    def _left(self, name: str, end: int) -> Iterable[int]:
        return (at for at in range(self._open[name], end) if at not in self._encoded[name])

    def _encoded_item(self, item: Any) -> bytes:  # noqa: ANN401  of any list
        if isinstance(item, TurnFacts) and item.request is not None and item.request.prompt is None:
            prompt = self.prompts.get(item.request.prompt_sha or "")
            item = replace(item, request=replace(item.request, prompt=prompt))
        return encode(item)

    def _parts(self) -> Parts:
        parts: dict[str, Sequence[bytes]] = {}
        for name, items in self._lists().items():
            ended = [at for at in self._left(name, len(items)) if getattr(items[at], "ended_tick", 0) is not None]
            parts[name] = [self._encoded_item(items[at]) for at in ended]
            self._encoded[name].update(ended)
            while self._open[name] in self._encoded[name]:
                self._encoded[name].discard(self._open[name])
                self._open[name] += 1
        return parts
