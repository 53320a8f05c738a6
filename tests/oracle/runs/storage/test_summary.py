"""Summaries of runs: what a list shows of a run without reading its log."""

from dataclasses import replace

from oracle.runs.storage.records import RunEnd, RunSummary, Span
from oracle.runs.storage.store import Store
from tests.oracle.runs.storage.making import latest
from tests.oracle.runs.storage.runs_made import begun, ended

SUMMARY = RunSummary(1, 2, 3, 1, 9, (Span("turn", 0, 700), Span("tool", 700, 20), Span("notice", 720, 0)))


async def test_the_summary_is_in_the_row_when_the_run_has_ended(store: Store) -> None:
    record, log = await begun(store)
    assert record.summary is None
    await log.finish(b'{"type":"done"}', RunEnd("completed", "A.", 1, 5, False, "m", summary=SUMMARY))
    found = await store.runs.find(record.id)
    assert found is not None
    assert found.summary == SUMMARY
    assert [each.summary for each in await latest(store, user_id=None, limit=9)] == [SUMMARY]


async def test_what_is_kept_of_a_run_has_a_name(store: Store) -> None:
    record = await ended(store)
    assert record.kept == "whole"
    assert replace(record, texts_dropped_at=1.0, answer="").kept == "gone"  # its log has texts yet
    assert replace(record, texts_dropped_at=1.0, answer=None).kept == "figures"
    assert replace(record, texts_dropped_at=1.0, forgotten_at=2.0).kept == "gone"
