"""The cost of a tick, a live tree and a wake-up, relative to a hand-written floor, to stock py_trees, and to polling.

The floor is plain Python classes that only walk the same sequences and selectors: no record of visited nodes, no life
cycle, no handling of errors. About ten seconds: `python benchmarks/bench_ticks.py`.
"""

import asyncio
import gc
import logging
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from py_trees.behaviours import Failure, Success
from py_trees.composites import Selector, Sequence

from bt_runtime import LiveTree, Node, NoSettings, RunLoop, Status, SystemClock, TickRecord, build, node
from bt_runtime.library.named import read_tree
from bt_runtime.record.recording import TickInput
from bt_runtime.runtime.stepper import tick_tree
from bt_runtime.testing import action_from, registry_of

BRANCHES = 10  # of a selector with a leaf that fails and two that are a sequence: 5 nodes each, 51 in all
RUNS = 1_000
EVENTS_PER_RUN_S = 5
POLL_S = 0.01
WINDOW_S = 1.0


@node("yes", category="condition")
class Yes(Node[NoSettings]):
    """SUCCESS."""

    def update(self) -> Status:
        return Status.SUCCESS


@node("no", category="condition")
class No(Node[NoSettings]):
    """FAILURE."""

    def update(self) -> Status:
        return Status.FAILURE


class FloorLeaf:
    def __init__(self, status: Status) -> None:
        self.status = status

    def tick(self) -> Status:
        return self.status


class FloorComposite:
    def __init__(self, children: list[Any], go_on: Status) -> None:
        self.children = children
        self.go_on = go_on
        self.next = 0
        self.status = go_on

    def tick(self) -> Status:
        for position in range(self.next, len(self.children)):
            status = self.children[position].tick()
            if status is not self.go_on:
                self.next = position if status is Status.RUNNING else 0
                self.status = status
                return status
        self.next = 0
        self.status = self.go_on
        return self.go_on


def floor_tree() -> FloorComposite:
    success, failure = Status.SUCCESS, Status.FAILURE
    return FloorComposite(
        [
            FloorComposite(
                [FloorLeaf(failure), FloorComposite([FloorLeaf(success), FloorLeaf(success)], success)], failure
            )
            for _ in range(BRANCHES)
        ],
        success,
    )


def stock_tree() -> Sequence:
    branches = []
    for number in range(BRANCHES):
        steps = Sequence(f"steps {number}", memory=True, children=[Success("a"), Success("b")])
        branches.append(Selector(f"choice {number}", memory=True, children=[Failure("c"), steps]))
    return Sequence("root", memory=True, children=branches)


REGISTRY = registry_of([Yes.kind, No.kind])
BRANCH = "{selector: ['no', {sequence: ['yes', 'yes']}]}"
DEFINITION = read_tree(
    f"tree: bench\nroot: {{sequence: [{', '.join([BRANCH] * BRANCHES)}]}}", file="<bench>", registry=REGISTRY
)
PARKED = read_tree(
    """
tree: parked
blackboard: {news: {type: int, default: 0}}
root:
  loop:
    guards: [condition: not cancel_requested, condition: news >= 0, inverter: {condition: news < 0}]
    child: {sequence: ['yes', 'yes', {action: {name: wait, call: wait}}, 'yes']}
""",
    file="<bench>",
    registry=REGISTRY,
)


def our_tree() -> LiveTree:
    return build(DEFINITION, registry=REGISTRY)


def best_us(work: Callable[[], Any], *, budget_s: float = 0.5) -> float:
    """The best of the calls that fit into the budget, in microseconds."""
    best, end = float("inf"), time.perf_counter() + budget_s
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(20):
            work()
        best = min(best, (time.perf_counter() - start) / 20)
    return best * 1e6


def tick_costs_us() -> dict[str, float]:
    """A tick of the tree of `DEFINITION`, in µs, by what ticks it; `floor` is the baseline."""
    floor, stock, ours, recorded = floor_tree(), stock_tree(), our_tree(), our_tree()
    start = TickInput("start", (), 0.0)

    def step() -> None:
        ours.root.step()
        ours.context.end_tick(start)

    def record() -> TickRecord:
        return tick_tree(recorded, start)

    return {
        "floor": best_us(floor.tick),
        "ours, the walk": best_us(step),
        "ours, recorded": best_us(record),
        "stock py_trees": best_us(stock.tick_once),
    }


def tick_over_floor() -> float:
    """A recorded tick, in floors."""
    costs_us = tick_costs_us()
    return costs_us["ours, recorded"] / costs_us["floor"]


def show_tick_costs() -> None:
    costs, nodes = tick_costs_us(), len(our_tree().nodes)
    print(f"tick of {nodes} nodes, all visited")
    for name, cost_us in costs.items():
        ratio = cost_us / costs["floor"]
        own = (cost_us - costs["floor"]) / nodes
        print(
            f"  {name:16} {cost_us:7.1f} us  {cost_us / nodes:5.2f} us/node  {ratio:5.1f} x floor  (+{own:.2f} us/node)"
        )
    print(f"  stock / ours, recorded: {costs['stock py_trees'] / costs['ours, recorded']:.1f}")


def bytes_each(make: Callable[[], Any], count: int = 300) -> float:
    make()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [make() for _ in range(count)]
    gc.collect()
    size = (tracemalloc.get_traced_memory()[0] - before) / count
    tracemalloc.stop()
    return size if kept else 0.0


def memory() -> None:
    nodes = len(our_tree().nodes)
    ours, stock = bytes_each(our_tree), bytes_each(stock_tree, 50)
    floor = bytes_each(floor_tree)
    print(f"\nmemory of a live tree of {nodes} nodes, with its blackboard and context")
    for name, size in (("floor", floor), ("ours", ours), ("stock py_trees", stock)):
        print(f"  {name:16} {size / 1024:6.1f} KiB  {size / nodes:5.0f} B/node  {size / floor:5.1f} x floor")
    print(f"  building one: {best_us(our_tree, budget_s=0.3):.0f} us")


def parked(action: str = "loop/sequence/wait") -> LiveTree:
    return build(PARKED, registry=REGISTRY, substitutes={action: action_from(asyncio.Event().wait)})


async def by_events() -> tuple[float, int]:
    """CPU seconds of `RUNS` parked runs that get news, and how often they were ticked."""
    ticks = 0

    class Counter:
        def on_tick(self, record: TickRecord) -> None:
            nonlocal ticks
            ticks = ticks + 1 if record.visited else ticks

    loops = [RunLoop(parked(), clock=SystemClock(), observers=[Counter()]) for _ in range(RUNS)]
    tasks = [asyncio.create_task(loop.run()) for loop in loops]
    await asyncio.sleep(0.05)
    ticks = 0
    start, cpu_s = time.perf_counter(), time.process_time()
    for number in range(EVENTS_PER_RUN_S):
        for at, loop in enumerate(loops):
            loop.deliver("news", number + 1)
            if at % 50 == 49:  # spread over the window
                await asyncio.sleep(WINDOW_S / EVENTS_PER_RUN_S / (RUNS / 50) * 0.8)
    await asyncio.sleep(max(0.0, WINDOW_S - (time.perf_counter() - start)))
    used_s = (time.process_time() - cpu_s) / (time.perf_counter() - start)
    counted = ticks
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return used_s, counted


async def by_polling() -> tuple[float, int]:
    """The same, ticked every 10 ms."""
    ticks, news = 0, 0
    stop = False

    async def poll(tree: LiveTree) -> None:
        nonlocal ticks
        while not stop:
            ticks += 1
            tick_tree(tree, TickInput("again", (), time.monotonic(), (), (("news", news),)))
            tree.context.take_posted()
            await asyncio.sleep(POLL_S)

    start, cpu_s = time.perf_counter(), time.process_time()
    tasks = [asyncio.create_task(poll(parked())) for _ in range(RUNS)]
    for _ in range(EVENTS_PER_RUN_S):
        await asyncio.sleep(WINDOW_S / EVENTS_PER_RUN_S)
        news += 1
    used_s = (time.process_time() - cpu_s) / (time.perf_counter() - start)
    stop = True
    await asyncio.wait(tasks)
    return used_s, ticks


async def wake_up_us() -> float:
    """From a delivery to the next sleep, of one run."""
    loop = RunLoop(parked())
    task = asyncio.create_task(loop.run())
    await asyncio.sleep(0.01)
    count, start = 2_000, time.perf_counter()
    for number in range(count):
        loop.deliver("news", number)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    cost_us = (time.perf_counter() - start) / count * 1e6
    task.cancel()
    await asyncio.wait([task])
    return cost_us


async def parked_bytes(count: int = 300) -> float:
    """Memory of a run that waits: tree, loop, request and tasks."""

    async def park() -> list[tuple[RunLoop, asyncio.Task[Any]]]:
        loops = [RunLoop(parked()) for _ in range(count)]
        kept = [(loop, asyncio.create_task(loop.run())) for loop in loops]
        await asyncio.sleep(0.05)
        return kept

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = await park()
    gc.collect()
    size = (tracemalloc.get_traced_memory()[0] - before) / count
    tracemalloc.stop()
    for _, task in kept:
        task.cancel()
    await asyncio.wait([task for _, task in kept])
    return size


async def wake_ups() -> None:
    print(f"\n{RUNS} runs of {len(parked().nodes)} nodes, each with {EVENTS_PER_RUN_S} events a second")
    print(f"  memory of one that waits, its tasks included: {await parked_bytes() / 1024:.1f} KiB")
    print(f"  one wake-up by an event: {await wake_up_us():.1f} us")
    event_share, event_ticks = await by_events()
    poll_share, poll_ticks = await by_polling()
    needed = RUNS / POLL_S
    keeping_up = poll_share * max(1.0, needed / poll_ticks)
    print(f"  by events:         {event_share:6.1%} of a core, {event_ticks} ticks")
    print(f"  polling at {POLL_S * 1e3:.0f} ms:  {poll_share:6.1%} of a core, {poll_ticks} of {needed:.0f} ticks")
    print(f"  polling that keeps up / events: {keeping_up / event_share:.1f}")


def main() -> None:
    logging.disable()
    show_tick_costs()
    memory()
    asyncio.run(wake_ups())


if __name__ == "__main__":
    main()
