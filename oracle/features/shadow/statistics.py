"""Confidence intervals of the report, 95 % each.

- A mean of differences has Student's t interval over the pairs, each of which is one question under both controls.
- A share has Wilson's interval.

Neither needs random numbers, so that a report of the same pairs always says the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import Final

_Z: Final = 1.959964
_T: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131),
    *(2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)
"""The 97.5 % quantiles of Student's t with 1, 2, 3, … degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95 % confidence interval; no bounds where there are too few pairs for one."""

    estimate: float
    low: float | None
    high: float | None


def mean_of(values: Sequence[float]) -> Interval:
    """The mean with Student's t interval; at least one value."""
    mean = fmean(values)
    if len(values) < 2:
        return Interval(mean, None, None)
    half = _t(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Interval(mean, mean - half, mean + half)


def share_of(count: int, total: int) -> Interval:
    """A share from 0 to 1 with Wilson's interval; of at least one."""
    share, square = count / total, _Z * _Z
    scale = 1 + square / total
    centre = (share + square / (2 * total)) / scale
    half = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total)) / scale
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def _t(degrees: int) -> float:
    """Beyond the table the first terms of the expansion by the degrees of freedom, exact to three decimals there."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    first = (_Z**3 + _Z) / (4 * degrees)
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * degrees * degrees)
    return _Z + first + second
