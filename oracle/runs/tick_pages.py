"""Pages of a run's tick records, read from the log."""

from collections.abc import Sequence
from dataclasses import dataclass

from bt_runtime import Outcome
from oracle.agent.outcome_json import decode_outcome
from oracle.encoding import to_json
from oracle.runs.tick_json import decode_tick, plain_tick, refers_to_outcomes
from oracle.storage import Event, EventLog


@dataclass(frozen=True, slots=True)
class TickPage:
    """Some ticks of a run, in order.

    Args:
        ticks: as clients get them, as JSON; the values of their outcomes are there only where a written text is that of
            an outcome.
        next: the number of the event after which the next page begins; `None` if there are no more ticks yet.
    """

    ticks: Sequence[bytes]
    next: int | None


async def read_tick_page(log: EventLog, run_id: str, *, after: int = 0, limit: int, max_bytes: int) -> TickPage:
    """The first ticks after the event with that number.

    Args:
        log: has them.
        run_id: of which run.
        after: the number of the event.
        limit: the greatest number of ticks.
        max_bytes: of their JSON together; the first tick is there even if it is larger.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    events = await log.events(run_id, kinds={"tick"}, after_seq=after, limit=limit, max_bytes=max_bytes)
    kept: dict[str, Outcome] = {}
    if any(refers_to_outcomes(event.data) for event in events):
        # An outcome lies between the tick before the one that it caused, and that one.
        ends = await log.events(run_id, kinds={"turn_end", "tool_end"}, after_seq=after, limit=events[-1].seq - after)
        outcomes = [decode_outcome(event.data) for event in ends if event.seq < events[-1].seq]
        kept = {outcome.key: outcome for outcome in outcomes}
    ticks: list[bytes] = []
    size = 0
    for event in events:
        tick = to_json(plain_tick(decode_tick(event.data, kept)))
        size += len(tick)
        if ticks and size > max_bytes:
            return TickPage(ticks, events[len(ticks) - 1].seq)
        ticks.append(tick)
    return TickPage(ticks, await next_after(events, log, limit=limit))


async def next_after(events: Sequence[Event], log: EventLog, *, limit: int) -> int | None:
    """The number after which the next page begins, of a page of one kind of events; `None` if there are no more yet.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    if not events:
        return None
    last = events[-1]
    if len(events) == limit:
        return last.seq
    return last.seq if await log.has_more(last) else None
