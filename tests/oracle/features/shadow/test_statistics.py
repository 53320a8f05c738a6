"""Intervals against values that other programs give, and the parts that shadows are drawn and bounded by."""

import pytest

from oracle.features.shadow.figures import mean_of, share_of, similarity
from oracle.features.shadow.running import is_sampled


def test_a_mean_has_students_interval():
    found = mean_of([1, 2, 3, 4, 5])  # R: t.test(1:5)
    assert (found.estimate, found.low, found.high) == pytest.approx((3.0, 1.036757, 4.963243), abs=1e-3)


def test_beyond_the_table_the_interval_is_right_too():
    found = mean_of([*range(41)])  # R: t.test(0:40), 40 degrees of freedom
    assert (found.low, found.high) == pytest.approx((16.21863, 23.78137), abs=2e-3)


def test_one_value_has_no_interval():
    found = mean_of([7])
    assert (found.estimate, found.low, found.high) == (7, None, None)


def test_equal_differences_have_an_interval_without_width():
    found = mean_of([2.0] * 10)
    assert (found.low, found.high) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],  # Newcombe 1998, table I, method 3
)
def test_a_share_has_wilsons_interval(count, total, low, high):
    found = share_of(count, total)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-3)


@pytest.mark.parametrize(
    ("one", "other", "least", "most"),
    [
        ("", "", 1, 1),
        ("", "An answer.", 0, 0),
        ("…", "—", 0, 0),
        ("The retry policy waits.", "The retry policy waits.", 1, 1),
        ("The retries wait twice as long.", "Each retry waits twice as long.", 0.7, 1),
        ("It is in `retry.py`, in RetryPolicy.", "RetryPolicy is defined in retry.py.", 0.7, 1),
        ("The café opens on Monday.", "The CAFE opens on Monday.", 0.99, 1),
        ("重試策略等待兩倍時間。", "重試策略等待兩倍時間!", 0.99, 1),
        ("The retry policy waits.", "PostgreSQL 18 came out in September.", 0, 0.1),
    ],
)
def test_answers_are_alike_by_their_words(one, other, least, most):
    assert least <= similarity(one, other) <= most
    assert similarity(one, other) == similarity(other, one)


def test_as_many_are_drawn_as_the_rate_says_and_more_at_a_higher_rate():
    ids = [f"run-{n}" for n in range(4_000)]
    drawn = {rate: {name for name in ids if is_sampled(name, rate)} for rate in (0.0, 0.1, 0.5, 1.0)}
    assert drawn[0.0] == set()
    assert drawn[1.0] == set(ids)
    assert drawn[0.1] < drawn[0.5]
    assert len(drawn[0.1]) == pytest.approx(400, abs=80)
