"""The ticks of a stream, which leaves out what each node did before."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import TypeAdapter

from oracle.histories.model import TickFacts, VisitFacts

_TICK: Final = TypeAdapter(TickFacts)


class StreamedTicks:
    """Makes the ticks of one stream whole."""

    def __init__(self) -> None:
        self._last: dict[int, VisitFacts] = {}

    def take(self, event: Mapping[str, Any]) -> TickFacts:
        """The whole tick of the next event.

        Raises:
            ValueError: the event is none of a stream of ticks.
            KeyError: likewise; or it refers to a visit that was never sent.
        """
        tick = _TICK.validate_python(event["tick"])
        self._last.update((visit.node, visit) for visit in tick.visits)
        if not event.get("omitted_visits"):
            return tick
        return replace(tick, visits=tuple([self._last[node] for node in tick.visited]))
