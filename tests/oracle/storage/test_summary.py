"""Summaries of runs: what a list shows of a run without reading its log."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from oracle.storage import RunEnd, RunSummary, Span, Store
from oracle.storage.summary import MOST_SPANS, merged
from tests.oracle.storage.runs_made import begun, ended

SUMMARY = RunSummary(1, 2, 3, 1, 9, (Span("turn", 0, 700), Span("tool", 700, 20), Span("notice", 720, 0)))

spans = st.builds(
    Span,
    st.sampled_from(["turn", "tool", "notice"]),
    st.integers(min_value=0, max_value=10_000),
    st.integers(min_value=0, max_value=5_000),
)


async def test_the_summary_is_in_the_row_when_the_run_has_ended(store: Store) -> None:
    record, log = await begun(store)
    assert record.summary is None
    await log.finish(b'{"type":"done"}', RunEnd("completed", "A.", 1, 5, False, "m", summary=SUMMARY))
    found = await store.runs.find(record.id)
    assert found is not None
    assert found.summary == SUMMARY
    assert [each.summary for each in await store.runs.latest(user_id=None, limit=9)] == [SUMMARY]


async def test_a_run_without_a_summary_has_none(store: Store) -> None:
    assert (await ended(store)).summary is None


async def test_what_is_kept_of_a_run_has_a_name(store: Store) -> None:
    record = await ended(store)
    assert record.kept == "whole"
    assert replace(record, texts_dropped_at=1.0, answer="").kept == "gone"  # its log has texts yet
    assert replace(record, texts_dropped_at=1.0, answer=None).kept == "figures"
    assert replace(record, texts_dropped_at=1.0, forgotten_at=2.0).kept == "gone"


@given(st.lists(spans, max_size=200))
def test_a_shape_is_bounded_in_order_and_covers_the_same_time(all_spans: list[Span]) -> None:
    shape = merged(all_spans)
    assert len(shape) == min(len(all_spans), MOST_SPANS)
    assert [span.start_ms for span in shape] == sorted(span.start_ms for span in shape)
    if all_spans:
        assert shape[0].start_ms == min(span.start_ms for span in all_spans)
        assert max(span.end_ms for span in shape) == max(span.end_ms for span in all_spans)
    assert RunSummary.from_json(RunSummary(shape=tuple(shape)).to_json()).shape == tuple(shape)


def test_the_shortest_neighbours_are_merged_and_the_longer_one_gives_the_kind() -> None:
    long, short, other = Span("turn", 0, 900), Span("tool", 900, 10), Span("turn", 5_000, 500)
    assert merged([long, short, other], most=2) == [Span("turn", 0, 910), other]
