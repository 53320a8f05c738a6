"""Reasons of a part of a run's ticks: those that are wanted are the same, the others have their figures."""

from dataclasses import replace

import pytest

from tests.oracle.replay.histories.long_logs import COUNTING, long_log, wide


@pytest.mark.parametrize("tree", [COUNTING, wide(40)], ids=["small", "wide"])
@pytest.mark.parametrize("ticks", [range(0), range(1, 4), range(20, 30), range(55, 61), range(100, 200)], ids=str)
def test_reasons_of_some_ticks_are_those_of_all(tree: str, ticks: range):
    log = long_log(60, tree)
    whole, part = log.explained(), log.explained(ticks=ticks)
    assert whole.problem == part.problem == ""
    assert part.unexplained_from is None
    for tick, known in zip(part.ticks, whole.ticks, strict=True):
        if tick.tick in ticks:
            assert tick == known
            assert tick.visits
        else:
            assert tick == replace(known, decision=None, headline=tick.headline, visits=(), why=())
            assert known.headline.startswith(tick.headline)  # what came in is known from the record


@pytest.mark.long("a run of thousands of ticks")
def test_a_long_run_is_explained_at_its_end():
    history = long_log(5_000).explained(ticks=range(4_990, 5_001))
    assert history.problem == ""
    assert len(history.ticks) == 5_000
    assert [tick.tick for tick in history.ticks if tick.visits] == list(range(4_990, 5_001))


def test_equal_parts_of_ticks_are_kept_once():
    ticks = long_log(100).explained(ticks=range(0)).ticks
    assert len({id(tick.visited) for tick in ticks}) <= 3
    assert len({id(tick.changes) for tick in ticks}) <= 4
