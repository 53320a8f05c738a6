"""`make bench-guard`: what the product costs, against a baseline of the same run, and a bound for each figure.

A bound is the best figure that was reached, and 15 % more. Beyond it the build fails, so that no change makes the
product dearer unseen. A figure beyond its bound is measured again, after the others, before it counts, because other
work of the machine disturbs figures for some seconds. Who raises a `best` says why in the commit; who lowers a cost
lowers it.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks import bench_parked, bench_service, bench_start, bench_ticks, bench_turns
from benchmarks.parts import quiet
from benchmarks.weight import lines_of, loaded_modules, product_modules

MARGIN = 1.15
TRIES = 4


@dataclass(frozen=True, slots=True)
class Guarded:
    """A figure that must not grow.

    Args:
        name: what is measured, over what.
        best: the best figure that was reached.
        measure: measures it now.
    """

    name: str
    best: float
    measure: Callable[[], float]

    @property
    def bound(self) -> float:
        return self.best * MARGIN


def parked_over_bare() -> float:
    """The memory of a parked run, in that of a task that waits."""
    floor_kb, parked_kb = asyncio.run(bench_parked.parked_kb())
    return parked_kb / floor_kb


def thousand_lines() -> float:
    """Code lines of the product, in thousands."""
    return sum(lines_of(product_modules()).values()) / 1000


def thousand_loaded() -> float:
    """Code lines of the product that one question loads, in thousands."""
    return sum(lines_of(loaded_modules()).values()) / 1000


GUARDED = (
    Guarded("a turn, over the py_trees floor", 4.0, lambda: asyncio.run(bench_turns.tree_over_floor())),
    Guarded("a piece of a stream, over bare ASGI", 5.2, lambda: asyncio.run(bench_service.chunk_over_bare())),
    Guarded("a tick of a node, over the floor", 3.8, bench_ticks.tick_over_floor),
    Guarded("a parked run, over a task that waits", 26.7, parked_over_bare),
    Guarded("a start, over bare FastAPI", 2.7, lambda: asyncio.run(bench_start.start_over_bare())),
    Guarded("code lines of the product, thousands", 58.4, thousand_lines),
    Guarded("code lines that one question loads, thousands", 20.2, thousand_loaded),
)


def exceeded(guarded: Iterable[Guarded], *, say: Callable[[str], None] = print) -> list[str]:
    """The names of the figures that are beyond their bounds in each of `TRIES` rounds; says each figure as it comes."""
    beyond = list(guarded)
    for left in reversed(range(TRIES)):
        measured, beyond = beyond, []
        for each in measured:
            value, verdict = each.measure(), ""
            if value > each.bound:
                beyond.append(each)
                verdict = "   beyond it: measured again" if left else "   BEYOND ITS BOUND"
            say(f"  {each.name:<38} {value:6.2f}   bound {each.bound:6.2f}{verdict}")
    return [each.name for each in beyond]


def main(arguments: Sequence[str] = ()) -> int:
    """Measure what is named, or all; the exit code is 1 if a figure is beyond its bound."""
    quiet()
    print(f"What the product costs; each bound is the best figure reached, and {MARGIN - 1:.0%} more")
    chosen = [each for each in GUARDED if not arguments or any(word in each.name for word in arguments)]
    found = exceeded(chosen)
    if found:
        print(
            f"Beyond the bound, {TRIES} times: {'; '.join(found)}. Find what has become dearer "
            "(`make bench` shows the parts), or raise `best` in benchmarks/guard.py in a commit that says why it is "
            "worth it."
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
