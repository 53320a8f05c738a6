"""Histories of runs that a real store has recorded."""

import pytest

from bt_runtime.replays import traced_expressions, tracing
from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.reading import read_history
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.store import Store
from tests.oracle.replay.test_replays import SCRIPTS, recorded


@pytest.mark.parametrize("name", SCRIPTS)
async def test_each_tick_of_a_recorded_run_has_a_decision(store: Store, archive: Archive, name: str):
    history = await read_history(archive, await recorded(store, name), registry=REGISTRY)
    assert history.problem == ""
    assert history.end is not None
    assert history.end.reason == history.run.termination_reason
    assert history.tree is not None
    for tick in history.ticks:
        if tick.cause != "end":
            assert tick.decision in tick.visited
            assert [visit.node for visit in tick.visits] == list(tick.visited)


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_history_is_the_same_after_a_round_trip(store: Store, archive: Archive, name: str):
    history = await read_history(archive, await recorded(store, name), registry=REGISTRY)
    data = history_to_json(history)
    assert history_to_json(history_from_json(data)) == data


@pytest.mark.parametrize("name", SCRIPTS)
async def test_what_is_reused_from_tick_to_tick_changes_no_word(
    store: Store, archive: Archive, name: str, monkeypatch: pytest.MonkeyPatch
):
    run = await recorded(store, name)
    reused = await read_history(archive, run, registry=REGISTRY)
    with monkeypatch.context() as patched:
        patched.setattr(traced_expressions, "_reads_the_same", lambda *_: False)
        patched.setattr(tracing, "is_of_step", lambda _: False)
        anew = await read_history(archive, run, registry=REGISTRY)
    assert history_to_json(reused) == history_to_json(anew)
