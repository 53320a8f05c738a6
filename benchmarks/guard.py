"""`make bench-guard`: what the product costs, against a baseline of the same run, and a bound for each figure.

A bound is the best figure that was reached, and 15 % more. Beyond it the build fails, so that no change makes the
product dearer unseen. A figure beyond its bound is measured again, after the others, before it counts, because other
work of the machine disturbs figures for some seconds. Instructions differ by less than 1 % from run to run, and by
little from one build of Python to another, which is printed: their bound is 5 % more than the best, and 15 % for a run,
because the service's timers go off more often in one on a busy machine (38 to 46). A run is counted in instructions,
because its processor time over that of the bare app depends on the machine (13.0 to 18.9 for one commit): it touches
far more memory, and waits for it where others share the cache. Who raises a `best` says why in the commit; who lowers
a cost lowers it.
"""

import asyncio
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks import bench_parked, bench_service, bench_start, bench_ticks, bench_turns, run_costs
from benchmarks.instructions import MISSING, can_count, interpreter
from benchmarks.parts import quiet
from benchmarks.weight import kernel_modules, lines_of, loaded_modules, product_modules

MARGIN = 1.15
INSTRUCTIONS_MARGIN = 1.05
TRIES = 4


@dataclass(frozen=True, slots=True)
class Guarded:
    """A figure that must not grow.

    Args:
        name: what is measured, over what.
        best: the best figure that was reached.
        measure: measures it now.
        margin: how much of `best` the bound is.
        in_instructions: it is counted by valgrind, and left out where that is not installed.
    """

    name: str
    best: float
    measure: Callable[[], float]
    margin: float = MARGIN
    in_instructions: bool = False

    @property
    def bound(self) -> float:
        return self.best * self.margin


def parked_over_bare() -> float:
    """The memory of a parked run, in that of a task that waits."""
    floor_kb, parked_kb = asyncio.run(bench_parked.parked_kb())
    return parked_kb / floor_kb


def thousand_lines() -> float:
    """Code lines of the product, in thousands."""
    return sum(lines_of(product_modules()).values()) / 1000


def thousand_of_kernel() -> float:
    """Code lines of the kernel, in thousands."""
    return sum(lines_of(kernel_modules()).values()) / 1000


def thousand_loaded() -> float:
    """Code lines of the product that one question loads, in thousands."""
    return sum(lines_of(loaded_modules()).values()) / 1000


GUARDED = (
    Guarded("a turn, over the py_trees floor", 4.0, lambda: asyncio.run(bench_turns.tree_over_floor())),
    Guarded(
        "instructions of a turn, over the floor",
        2.11,
        bench_turns.instructions_over_floor,
        margin=INSTRUCTIONS_MARGIN,
        in_instructions=True,
    ),
    Guarded("a piece of a stream, over bare ASGI", 5.2, lambda: asyncio.run(bench_service.chunk_over_bare())),
    Guarded(
        "instructions of a run of one turn, over bare",
        38.4,
        lambda: asyncio.run(run_costs.run_instructions_over_bare()),
        in_instructions=True,
    ),
    Guarded("a tick of a node, over the floor", 3.8, bench_ticks.tick_over_floor),
    Guarded("a parked run, over a task that waits", 18.0, parked_over_bare),
    Guarded("a start, over bare FastAPI", 2.12, lambda: asyncio.run(bench_start.start_over_bare())),
    Guarded("code lines of the product, thousands", 66.0, thousand_lines),
    Guarded("code lines of the kernel, thousands", 13.0, thousand_of_kernel),
    Guarded("code lines that one question loads, thousands", 21.3, thousand_loaded),
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
            say(f"  {each.name:<46} {value:6.2f}   bound {each.bound:6.2f}{verdict}")
    return [each.name for each in beyond]


def main(arguments: Sequence[str] = ()) -> int:
    """Measure what is named, or all; the exit code is 1 if a figure is beyond its bound."""
    quiet()
    print(f"What the product costs; each bound is the best figure reached, and {MARGIN - 1:.0%} more")
    chosen = [each for each in GUARDED if not arguments or any(word in each.name for word in arguments)]
    print(f"Measured on {interpreter()}")
    if not can_count():
        print(f"  {MISSING}")
        chosen = [each for each in chosen if not each.in_instructions]
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
