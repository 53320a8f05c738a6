"""The cost of live debugging: nothing where it is off, and little where a run is watched and hits nothing.

Where it is off a run has no pacer and the clock of the process, which a test holds; so `off` is the loop as it is.
About five seconds: `python -m benchmarks.bench_debugging`.
"""

import asyncio
import logging
import time
from collections.abc import Sequence

from bt_runtime import Pacer, PausableClock, Request, RunLoop, SystemClock, TickRecord, TreeDefinition, build
from bt_runtime.library.named import read_tree
from bt_runtime.record.recording import TickInput
from bt_runtime.testing import registry_of
from oracle.runs.debugging.watching import BreakpointWatch
from oracle.runs.storage.breakpoints import Breakpoint

ROUNDS = 2_000
REGISTRY = registry_of()
STEPS = ", ".join(["{selector: [{condition: n < 0}, {sequence: [{condition: n >= 0}, {condition: n >= 0}]}]}"] * 10)
DEFINITION = read_tree(
    f"""
tree: rounds
blackboard: {{n: {{type: int, default: 0}}}}
root:
  loop:
    until: n >= {ROUNDS}
    child: {{sequence: [{STEPS}, {{set: {{n: n + 1}}}}]}}
""",
    file="<bench>",
    registry=REGISTRY,
)


class Watching(Pacer):
    """What a session of the debugger does after each tick, up to a hit."""

    def __init__(self, definition: TreeDefinition, breakpoints: Sequence[Breakpoint]) -> None:
        self.watch = BreakpointWatch(definition)
        self.watch.use(breakpoints)
        self.board: dict[str, object] = {"n": 0}

    async def before_first_tick(self) -> None:
        """Go on."""

    async def before_tick(self, given: TickInput) -> bool:
        """Go on."""
        return False

    async def after_tick(self, record: TickRecord, posted: Sequence[Request]) -> None:
        """Look for a hit."""
        assert self.watch.after_tick(record, posted=posted, board=self.board) is None

    def release(self) -> None:
        """Go on."""


BREAKPOINTS = (
    *(Breakpoint(f"c{at}", "condition", "bench", expression="n < 0") for at in range(5)),
    *(Breakpoint(f"e{at}", "error", "bench") for at in range(5)),
)


def us_per_tick(pacer: Pacer | None) -> float:
    """The time of a tick of a whole run, the loop included."""
    clock = SystemClock() if pacer is None else PausableClock(SystemClock())
    loop = RunLoop(build(DEFINITION, registry=REGISTRY), clock=clock, pacer=pacer, max_ticks_without_event=10 * ROUNDS)
    start = time.perf_counter()
    result = asyncio.run(loop.run())
    return (time.perf_counter() - start) / result.ticks * 1e6


def main() -> None:
    logging.disable()
    costs: dict[str, list[float]] = {"off": [], "on, no breakpoints": [], "on, 10 breakpoints": []}
    for _ in range(7):
        costs["off"].append(us_per_tick(None))
        costs["on, no breakpoints"].append(us_per_tick(Watching(DEFINITION, ())))
        costs["on, 10 breakpoints"].append(us_per_tick(Watching(DEFINITION, BREAKPOINTS)))
    print(f"tick of {len(DEFINITION.nodes())} nodes in a run loop")
    for name, times in costs.items():
        print(f"  {name:20} {min(times):6.1f} us  {min(times) / min(costs['off']):5.2f} x off")


if __name__ == "__main__":
    main()
