"""Pages of a run's tick records, read from the log."""

from dataclasses import dataclass

from bt_runtime import Outcome, TickRecord
from oracle.agent.outcome_json import decode_outcome
from oracle.runs.tick_json import decode_tick, refers_to_outcomes
from oracle.storage import EventLog


@dataclass(frozen=True, slots=True)
class TickPage:
    """Some ticks of a run, in order.

    Args:
        ticks: the values of their outcomes are there only where a written text is that of an outcome.
        next: the number of the event after which the next page begins; `None` if there are no more ticks yet.
    """

    ticks: tuple[TickRecord, ...]
    next: int | None


async def read_tick_page(log: EventLog, run_id: str, *, after: int = 0, limit: int) -> TickPage:
    """The first ticks after the event with that number.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    events = await log.events(run_id, kinds={"tick"}, after_seq=after, limit=limit)
    kept: dict[str, Outcome] = {}
    if any(refers_to_outcomes(event.data) for event in events):
        # An outcome lies between the tick before the one that it caused, and that one.
        ends = await log.events(run_id, kinds={"turn_end", "tool_end"}, after_seq=after, limit=events[-1].seq - after)
        outcomes = [decode_outcome(event.data) for event in ends if event.seq < events[-1].seq]
        kept = {outcome.key: outcome for outcome in outcomes}
    ticks = tuple(decode_tick(event.data, kept) for event in events)
    return TickPage(ticks, events[-1].seq if len(events) == limit else None)
