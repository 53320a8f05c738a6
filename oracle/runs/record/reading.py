"""Reads logs in a store: records, pages of ticks and signals, and single events."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

from bt_runtime import Outcome, Status
from bt_runtime.text.data import dataclass
from oracle.core.chunks import Source, SourceFound, read_chunk
from oracle.core.encoding import from_json, to_json
from oracle.runs.record.events import Opened
from oracle.runs.record.outcome_json import decode_outcome
from oracle.runs.record.record import Record
from oracle.runs.record.ticks import decode_statuses, decode_tick, plain_tick, refers_to_outcomes
from oracle.runs.storage.log import EventLog
from oracle.runs.storage.records import EventKind, LogEntry

_PAGE: Final = 1_000
"""Entries that are read at a time."""
_MOST_EVENTS: Final = 100_000


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events of one kind of a run, in order.

    Args:
        items: as clients get them, as JSON.
        next: the number of the event after which the next page begins; `None` if there are no more yet.
    """

    items: Sequence[bytes]
    next: int | None


async def read_record(log: EventLog, run_id: str, *, kinds: Collection[EventKind] | None = None) -> Record:
    """The record of a run with its events, without the pieces of text; decoded in a thread.

    Args:
        log: the log of all runs, which is read.
        run_id: names the run; one that does not exist has nothing.
        kinds: only of these kinds; `None`: all.

    Raises:
        ValueError: the log is damaged.
        StoreUnavailableError: the database cannot be read at present.
    """
    entries = await log.events(run_id, kinds=kinds, limit=_MOST_EVENTS)
    return await asyncio.to_thread(Record.fold, entries, has_texts=False)


async def read_on(record: Record, log: EventLog, run_id: str, *, kinds: Collection[EventKind] | None = None) -> Record:
    """Add what the log has beyond a record; what is damaged is skipped.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    record.read(await read_entries(log, run_id, kinds=kinds, after_seq=record.seq))
    return record


async def read_entries(
    log: EventLog, run_id: str, *, kinds: Collection[EventKind] | None = None, after_seq: int = 0
) -> list[LogEntry]:
    """All committed events of a run after number `after_seq`, in order.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    entries: list[LogEntry] = []
    while True:
        page = await log.events(run_id, kinds=kinds, after_seq=after_seq, limit=_PAGE)
        entries += page
        if len(page) < _PAGE:
            return entries
        after_seq = page[-1].seq


async def read_opened(log: EventLog, run_id: str) -> Opened | None:
    """The inputs of a run; `None` if they are not kept, or a later version has written them."""
    for entry in await log.events(run_id, kinds={"opened"}, limit=1):
        with suppress(ValueError):
            return Opened.from_json(entry.data)
    return None


async def read_sources(log: EventLog, run_id: str) -> AsyncGenerator[Source, None]:
    """The sources that a run has cited, in order.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    seq = 0
    while page := await log.events(run_id, kinds={"chunk"}, after_seq=seq, limit=_PAGE):
        for entry in page:
            chunk = read_chunk(entry.data) if b'"source"' in entry.data else None
            if isinstance(chunk, SourceFound):
                yield chunk.source
        seq = page[-1].seq


def prompts_of(entries: Iterable[LogEntry]) -> Iterator[str]:
    """The digests of the system prompts that requests among these entries name; damaged ones are skipped."""
    for entry in entries:
        if entry.kind == "request":
            with suppress(ValueError, KeyError, TypeError):
                sha = from_json(entry.data)["prompt"]
                if sha and isinstance(sha, str):
                    yield sha


def statuses_of(ticks: Iterable[LogEntry]) -> Iterator[tuple[Sequence[int], Sequence[tuple[int, Status]]]]:
    """The visited nodes and the changes of ticks alone; those that this version cannot read are skipped."""
    for entry in ticks:
        with suppress(ValueError):
            yield decode_statuses(entry.data)


async def read_signal_page(log: EventLog, run_id: str, *, after: int, limit: int, max_bytes: int) -> EventPage:
    """The first signals after the event with that number; the arguments are those of `read_tick_page`.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    entries = await log.events(run_id, kinds={"signal"}, after_seq=after, limit=limit, max_bytes=max_bytes)
    return EventPage([entry.data for entry in entries], await _next_after(entries, log, limit=limit))


async def read_tick_page(log: EventLog, run_id: str, *, after: int = 0, limit: int, max_bytes: int) -> EventPage:
    """The first ticks after the event with that number; damaged ones are left out.

    The values of their outcomes are there only where a written text is that of an outcome.

    Args:
        log: the log of all runs, which is read.
        run_id: names the run; one that does not exist has nothing.
        after: the number of the event.
        limit: the greatest number of ticks.
        max_bytes: of their JSON together; the first tick is there even if it is larger.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    entries = await log.events(run_id, kinds={"tick"}, after_seq=after, limit=limit, max_bytes=max_bytes)
    kept: dict[str, Outcome] = {}
    if any(map(_refers_to_outcomes, entries)):
        # An outcome lies between the tick before the one that it caused, and that one.
        last = entries[-1].seq
        ends = await log.events(run_id, kinds={"turn_end", "tool_end"}, after_seq=after, limit=last - after)
        outcomes = [decode_outcome(entry.data) for entry in ends if entry.seq < last]
        kept = {outcome.key: outcome for outcome in outcomes}
    ticks: list[bytes] = []
    size, before = 0, after
    for entry in entries:
        with suppress(ValueError):  # a damaged tick, which the run's history reports
            tick = to_json(plain_tick(decode_tick(entry.data, kept)))
            size += len(tick)
            if ticks and size > max_bytes:
                return EventPage(ticks, before)
            ticks.append(tick)
        before = entry.seq
    return EventPage(ticks, await _next_after(entries, log, limit=limit))


def _refers_to_outcomes(entry: LogEntry) -> bool:
    with suppress(ValueError, AttributeError, TypeError):
        return refers_to_outcomes(entry.data)
    return False


async def _next_after(entries: Sequence[LogEntry], log: EventLog, *, limit: int) -> int | None:
    """The number after which the next page begins, of a page of one kind of events; `None` if there are no more yet."""
    if not entries:
        return None
    last = entries[-1]
    return last.seq if len(entries) == limit or await log.has_more(last) else None
