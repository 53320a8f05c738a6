"""The log of a run: what was recorded in November 2026 is read, and written back to the same bytes."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest

from bt_runtime import Outcome
from oracle.agent.nodes import REGISTRY
from oracle.core.chunks import Closing, Content
from oracle.replay.histories.explaining import Explainer
from oracle.replay.recorded import read_run, repeat
from oracle.runs.record.events import (
    ChunkSent,
    ClosingBegun,
    Intended,
    LogDecoder,
    LogEvent,
    Opened,
    Resumed,
    RunEnded,
    Ticked,
    ToolFinished,
    TurnFinished,
    UnderWay,
    encode,
)
from oracle.runs.record.figures import LogFigures
from oracle.runs.record.record import Record
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.records import EventKind, LogEntry
from oracle.runs.storage.setup import prepare

DUMP = Path(__file__).parents[3] / "data" / "recorded" / "november.sql"
"""A database as a service has left it; `cut` is the run that it was answering at that moment.

Its ticks have the tools that are offered today: another offer is a difference that a repeated run has to report.
"""
RUNS = ("completed", "figures", "stuck", "fault", "ruled", "cancelled", "debugged", "again", "cut")


@pytest.fixture
async def recorded(tmp_path: Path) -> AsyncIterator[Archive]:
    """The recorded database."""
    file = tmp_path / "oracle.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(DUMP.read_text())
    connection.close()
    database = Database(read_url(f"sqlite:///{file}"))
    prepare(database)()  # as a service does at its start
    database.close()
    async with open_archive(f"sqlite:///{file}") as archive:
        yield archive


def decoded(entries: list[LogEntry]) -> list[LogEvent]:
    decoder = LogDecoder()
    events = [decoder.decode(entry) for entry in entries]
    return [event for event in events if event is not None]


def test_each_kind_of_event_has_one_class() -> None:
    assert {each.kind for each in get_args(LogEvent)} == set(get_args(EventKind))
    assert len(get_args(LogEvent)) == len(get_args(EventKind))


@pytest.mark.parametrize("run", RUNS)
async def test_a_recorded_log_is_read_and_written_back_to_the_same_bytes(recorded: Archive, run: str) -> None:
    entries = await recorded.events(run)
    events = decoded(entries)
    assert [event.kind for event in events] == [entry.kind for entry in entries]
    assert [encode(event) for event in events] == [entry.data for entry in entries]


def test_what_was_allowed_for_the_conversation_is_part_of_what_a_run_began_with() -> None:
    opened = Opened(1.5, grants=("vault_write",))
    assert Opened.from_json(opened.to_json()) == opened


async def test_all_kinds_are_in_the_recorded_logs(recorded: Archive) -> None:
    found = {entry.kind for run in RUNS for entry in await recorded.events(run)}
    assert found == set(get_args(EventKind)) - {"intent", "resumed"}  # of runs that go on or write


@pytest.mark.parametrize("run", RUNS)
async def test_a_recorded_run_has_a_history(recorded: Archive, run: str) -> None:
    record = await recorded.find(run)
    version = await recorded.tree(record.tree_sha or "")
    explainer = Explainer(record, version, registry=REGISTRY)
    explainer.feed_all(await recorded.events(run))
    explainer.ended(record)
    assert "damaged" not in (explainer.history.problem or "")
    assert explainer.history.ticks
    assert explainer.history.turns


@pytest.mark.parametrize("run", [run for run in RUNS if run not in ("completed", "figures")])
async def test_a_recorded_run_is_repeated(recorded: Archive, run: str) -> None:
    assert repeat(await read_run(recorded, await recorded.find(run)), registry=REGISTRY).diverged_at is None


@pytest.mark.parametrize("run", ["completed", "figures"])
async def test_figures_that_were_reduced_before_are_not_changed(recorded: Archive, run: str) -> None:
    reduce = LogFigures()
    for entry in await recorded.events(run):
        if entry.kind != "chunk":
            assert reduce(entry) == entry.data


def entry(seq: int, event: LogEvent) -> LogEntry:
    return LogEntry("run", seq, event.kind, encode(event), 0.0)


def test_the_sentence_that_closes_an_answer_has_its_reason_from_the_event_before() -> None:
    written = [ClosingBegun("timeout"), ChunkSent(Closing("Stopped: too late.", "timeout")), ChunkSent(Content("x"))]
    assert encode(written[1]) == b'{"type":"content","content":"Stopped: too late."}'
    assert decoded([entry(seq, event) for seq, event in enumerate(written, 1)]) == written


def test_pieces_of_text_are_left_out_for_who_does_not_want_them() -> None:
    written = [ChunkSent(Content("One.")), ClosingBegun("timeout"), ChunkSent(Closing("Stopped.", "timeout"))]
    decoder = LogDecoder(has_texts=False)
    found = [decoder.decode(entry(seq, event)) for seq, event in enumerate(written, 1)]
    assert found == [None, *written[1:]]


@pytest.mark.parametrize(
    "event",
    [
        Intended("call_1", "vault_write", "tree/tools@2"),
        Resumed(2, 1.5, 1.5, 40.25, (UnderWay("turn", "tree/llm_turn", "continued"),), "1.2.3"),
        Resumed(1, 86_400.0, 0.0, 12.5, is_woken=True),
    ],
)
def test_what_a_continuation_leaves_is_read_back(event: Intended | Resumed) -> None:
    assert decoded([LogEntry("r", 1, event.kind, encode(event), 0.0)]) == [event]


def test_a_kind_that_a_later_version_has_written_is_none() -> None:
    later = LogEntry("run", 1, "parked", b"[]", 0.0)  # type: ignore[arg-type]
    assert LogDecoder().decode(later) is None
    assert LogFigures()(later) is None


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b"null", b'{"type":"system"}'])
@pytest.mark.parametrize("kind", get_args(EventKind))
def test_a_damaged_event_is_a_value_error(kind: EventKind, data: bytes) -> None:
    with pytest.raises(ValueError, match=f"event 7 \\({kind}\\) is damaged"):
        LogDecoder().decode(LogEntry("run", 7, kind, data, 0.0))


# What is still missing, after any beginning of a log


@pytest.mark.parametrize("run", RUNS)
async def test_what_is_missing_is_what_the_rest_of_the_log_brings(recorded: Archive, run: str) -> None:
    entries = await recorded.events(run)
    events = decoded(entries)
    for cut in range(len(entries) + 1):
        pending, rest = Record.fold(entries[:cut]).pending, events[cut:]
        before = events[:cut]
        if any(isinstance(event, RunEnded) for event in before) or is_done(before):
            assert (pending.requests, pending.calls, pending.outcomes, pending.closing) == ((), (), (), None)
            continue
        ends = [event.outcome.key for event in rest if isinstance(event, TurnFinished | ToolFinished)]
        taken = [outcome.key for event in rest if isinstance(event, Ticked) for outcome in event.tick.outcomes]
        if run != "cut":
            assert {request.step for request in pending.requests} <= set(ends)
        assert {outcome.key for outcome in pending.outcomes} <= set(taken) | unseen(events)
        closes = bool(before) and isinstance(before[-1], ClosingBegun)
        assert (pending.closing is not None) == closes


def is_done(events: list[LogEvent]) -> bool:
    return any(isinstance(event, ChunkSent) and event.chunk.type == "done" for event in events)


def unseen(events: list[LogEvent]) -> set[str]:
    """The outcomes that came when the control had come to rest."""
    taken = {outcome.key for event in events if isinstance(event, Ticked) for outcome in event.tick.outcomes}
    kept = {event.outcome.key for event in events if isinstance(event, TurnFinished | ToolFinished)}
    return kept - taken


@pytest.mark.parametrize("run", [run for run in RUNS if run not in ("completed", "figures")])
async def test_the_state_of_a_record_does_not_depend_on_how_it_was_read(recorded: Archive, run: str) -> None:
    entries = await recorded.events(run)
    folded = Record.fold(entries)
    for cut in range(len(entries) + 1):
        record = Record()
        record.read(entries[:cut])
        record.read(entries[cut:])
        assert (record.seq, record.chunk_n, record.ticks) == (folded.seq, folded.chunk_n, folded.ticks)
        assert (record.answer, record.pending, record.steps) == (folded.answer, folded.pending, folded.steps)


async def test_a_run_that_was_cut_off_waits_for_its_tool(recorded: Archive) -> None:
    pending = Record.fold(await recorded.events("cut")).pending
    (waiting,) = pending.calls
    assert (waiting.call.name, waiting.call.arguments, waiting.result) == ("probe", {"query": "x"}, None)
    assert pending.requests == ()


async def test_each_beginning_of_a_tool_run_says_what_it_waits_for(recorded: Archive) -> None:
    entries = await recorded.events("again")
    waits = [Record.fold(entries[:cut]).pending for cut in range(len(entries) + 1)]
    assert [len(each.requests) for each in waits].count(1) >= 3
    assert max(len(each.calls) for each in waits) == 1
    results = [each.calls[0].result for each in waits if each.calls]
    assert results[0] is None
    assert results[-1] is not None  # the user has seen the result before the outcome was kept
    assert all(isinstance(outcome, Outcome) for each in waits for outcome in each.outcomes)


async def test_figures_say_what_a_run_began_with(recorded: Archive) -> None:
    record = Record.fold(await recorded.events("figures"))
    assert isinstance(record.opened, Opened)
    assert record.end is not None
    assert (record.turns, record.end.turns, record.end.tokens_used) == (2, 2, record.tokens)
