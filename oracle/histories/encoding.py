"""Ticks of a history as JSON, each with what belongs to it: the same bytes go into every page and every stream.

What belongs to a tick is what came into the history with it: the turns and the tool calls whose outcome it got, the
notifications and texts that were sent since the tick before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from oracle.encoding import to_json
from oracle.histories.codec import plain
from oracle.histories.explaining import Explainer
from oracle.histories.model import TickFacts, TurnFacts

PARTS: Final = ("turns", "calls", "notices", "texts", "breaches")
"""The lists of a `History` whose items belong to ticks."""

Parts = Mapping[str, Sequence[bytes]]
"""Items by the name of their list, each as JSON."""


@dataclass(frozen=True)
class ExplainedTick:
    """A tick with its reasons, as JSON.

    Args:
        n: its number.
        seq: of its event in the log.
        tick: `TickFacts`.
        parts: what belongs to it.
    """

    n: int
    seq: int
    tick: bytes
    parts: Parts

    @property
    def size(self) -> int:
        """Bytes of all of it."""
        return len(self.tick) + sum(len(item) for items in self.parts.values() for item in items)

    @cached_property
    def event(self) -> bytes:
        """The JSON object that a stream of ticks sends."""
        return b'{"type":"tick","tick":%b,%b}' % (self.tick, lists_of([self.parts]))


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


class Encoder:
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
        self._open = dict.fromkeys(PARTS, 0)  # the first item that may not be encoded yet
        self._encoded: dict[str, set[int]] = {name: set() for name in PARTS}  # those behind it that are

    def take(self, tick: TickFacts, *, seq: int) -> ExplainedTick:
        """The latest tick, with what has come since the one before."""
        encoded = ExplainedTick(tick.tick, seq, encode(tick), self._parts())
        if not any(key == "termination_reason" for key, _ in tick.writes):
            self._explainer.history.ticks[-1] = replace(tick, visits=(), writes=(), deliveries=())
        return encoded

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
