"""The figures of a run, taken apart."""

import pytest

from benchmarks.paced import Pace
from benchmarks.run_costs import fitted


def test_the_fit_finds_what_each_part_takes():
    loads = (Pace(1, 2), Pace(5, 2), Pace(1, 60), Pace(3, 20))
    measured = [(pace, 0.006 + 0.002 * (pace.turns - 1) + 0.0001 * pace.turns * pace.pieces) for pace in loads]
    found = fitted(measured)
    assert (found.run_ms, found.turn_ms, found.piece_us) == pytest.approx((6.0, 2.0, 100.0))


def test_a_tag_names_its_pace():
    pace = Pace(5, 2, 0.02)
    assert Pace().of(pace.tag(3)) == pace
    assert Pace().of("q200x3") == Pace()
