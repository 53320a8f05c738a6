"""What a recorded run would have done on another tree, with its reasons."""

import pytest

from bt_runtime.library.named import read_sources
from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.diffs import diff_histories
from oracle.replay.histories.supposing import supposed_history
from oracle.replay.recorded import read_run
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.store import Store
from tests.oracle.replay.histories.logs import log_of
from tests.oracle.replay.test_replays import SCRIPTS, recorded


@pytest.mark.parametrize("name", SCRIPTS)
async def test_its_own_tree_would_have_done_the_same(store: Store, archive: Archive, name: str):
    record = await recorded(store, name)
    run, whole = await read_run(archive, record), (await log_of(archive, record)).explained()
    supposed = supposed_history(run, run.tree(REGISTRY), registry=REGISTRY)
    assert supposed.problem == ""
    assert supposed.end is not None
    assert supposed.end.reason == record.termination_reason
    asked = [tick for tick in whole.ticks if tick.tick <= len(supposed.ticks)]
    assert [tick.visited for tick in supposed.ticks] == [tick.visited for tick in asked]
    assert [tick.decision for tick in supposed.ticks] == [tick.decision for tick in asked]
    assert [turn.answer for turn in supposed.turns] == [turn.answer for turn in whole.turns]
    assert [call.result for call in supposed.calls] == [call.result for call in whole.calls]


async def test_an_edited_tree_goes_another_way_until_it_asks_something_else(store: Store, archive: Archive):
    record = await recorded(store, "stuck twice")
    run, whole = await read_run(archive, record), (await log_of(archive, record)).explained()
    sources = dict(run.version.source)
    assert "condition: turn_left" in sources["fallback"]
    sources["fallback"] = sources["fallback"].replace("condition: turn_left", "condition: turn < 0")
    edited = read_sources(sources, name="oracle", registry=REGISTRY)
    supposed = supposed_history(run, edited, registry=REGISTRY)
    assert supposed.end is not None
    assert supposed.end.reason == "stuck"
    assert len(supposed.turns) == 1
    found = diff_histories(whole, supposed, registry=REGISTRY)
    assert found.input is None
    assert found.way is not None
    assert (found.way.kind, found.way.tick) == ("way", 2)
    assert found.tree
    assert all(tick.visits for tick in supposed.ticks)


async def test_what_was_never_asked_is_not_known(store: Store, archive: Archive):
    run = await read_run(archive, await recorded(store, "another turn"))
    sources = dict(run.version.source)
    name = next(name for name, text in sources.items() if "llm_turn" in text)
    before = next(line for line in sources[name].splitlines() if line.strip().startswith("- llm_turn"))
    sources[name] = sources[name].replace(before, before.split("llm_turn")[0] + "llm_turn: {hint: Be brief.}")
    edited = read_sources(sources, name="oracle", registry=REGISTRY)
    supposed = supposed_history(run, edited, registry=REGISTRY)
    assert supposed.end is None
    assert supposed.problem == "the model would be asked something else"
    assert len(supposed.ticks) == 1
