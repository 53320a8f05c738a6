"""Whatever ran, its log is repeated to the identical record: each tick has reasons, in the whole and in each part.

Of the shipped scenarios the reasons are also those of a naive reading.
"""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bt_runtime import TreeFileError, TreeLibrary
from bt_runtime.language.reading.loading import TreeSource
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.playing import Player
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.foreign import history_from_json
from tests.acceptance import wild
from tests.acceptance.wild import CANCELS, LIMITS, ROOTS, SCRIPTS, TOOL_SCRIPTS
from tests.oracle.replay.histories import naive
from tests.oracle.replay.histories.logs import Log, is_same
from tests.oracle.replay.histories.taped import taped
from tests.support.shares import some
from trees import FOLDER

LIBRARY = TreeLibrary([FOLDER], registry=REGISTRY)
PLAYER = Player(LIBRARY)
SCENARIOS = {
    f"{path.stem}: {scenario.name}": scenario
    for path in sorted((FOLDER / "scenarios").glob("*.yaml"))
    for scenario in read_scenario_file(path)
}


def check(log: Log) -> None:
    """Check that all ticks of a run are explained, also while it goes on, and that its export can be imported."""
    live = Explainer(log.underway, log.version, registry=REGISTRY)
    whole = log.explained()
    assert whole.problem == ""
    assert whole.unexplained_from is None
    for event in log.events:
        tick = live.feed(event)
        if tick is not None:
            assert tick == whole.ticks[tick.tick - 1]
    assert live.history.problem == ""
    live.ended(log.record)
    assert is_same(live.history, whole)
    for tick in whole.ticks:
        assert [visit.node for visit in tick.visits] == list(tick.visited)
        assert tick.decision is None or tick.decision in tick.visited
    assert [turn.n for turn in whole.turns] == list(range(1, len(whole.turns) + 1))
    assert [turn for turn in whole.turns if turn.request is None] == []
    assert [turn for turn in whole.turns if turn.ended_s is None] == []
    assert [call for call in whole.calls if call.result is None] == []
    data = history_to_json(whole)
    assert history_to_json(history_from_json(data)) == data


def check_beginnings(log: Log, *, every: int) -> None:
    """Check that a log that ends anywhere is explained as far as it goes."""
    whole = log.explained()
    for length in range(0, len(log.events), every):
        part = log.explained(log.events[:length])
        assert part.problem == ""
        assert part.ticks == whole.ticks[: len(part.ticks)]


def check_reasons(log: Log) -> None:
    """Check that the end and each tick have the nodes that a naive reading finds, and words."""
    history = log.explained()
    assert history.end is not None
    assert history.end.by != "unknown"
    if history.end.by == "service":  # what stopped the service is in no record
        return
    naive.check(history, log)
    for tick in history.ticks:
        assert tick.headline
        decided = [step.node for step in tick.why if step.decides]
        assert decided == ([] if tick.decision is None else [tick.decision])
        assert all(piece.text for step in tick.why for piece in step.pieces)


@pytest.mark.parametrize("name", some(SCENARIOS))
def test_every_shipped_scenario(name: str):
    with taped() as tapes:
        PLAYER.play(SCENARIOS[name])
    (tape,) = tapes
    log = tape.whole()
    check(log)
    check_beginnings(log, every=max(1, len(log.events) // 5))
    check_reasons(log)


async def check_wild(root: Any, *, parts: int, **options: Any) -> None:
    file = wild.tree_file(root)
    with suppress(TreeFileError):  # refused before anything runs
        LIBRARY.load_source(TreeSource("wild.yaml", json.dumps(file), "wild"))
        with taped() as tapes:
            await wild.play(file, **options)
        (tape,) = tapes
        log = tape.whole()
        check(log)
        check_beginnings(log, every=max(1, len(log.events) // parts))


def examples(number: int) -> Any:
    return settings(
        max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
    )


WILD = given(root=ROOTS, script=SCRIPTS, tools=TOOL_SCRIPTS, limits=LIMITS, cancel_at_s=CANCELS)


@pytest.mark.long("runs trees at random and explains each of their ticks")
@examples(8)
@WILD
async def test_random_trees(root: Any, **options: Any) -> None:
    await check_wild(root, parts=2, **options)


@pytest.mark.soak
@examples(1_000)
@WILD
async def test_random_trees_at_length(root: Any, **options: Any) -> None:
    await check_wild(root, parts=50, **options)
