"""What recording a tick costs, relative to the tick, and how much of it is stored, relative to the plain form.

The plain form has one entry for each node, as clients get it. Aims: at most 20 % of a tick, and 1 KB stored.
About ten seconds: `python -m benchmarks.bench_recording`.
"""

import asyncio
import logging
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import structlog

import trees
from benchmarks.bench_ticks import BRANCH, REGISTRY, best_us
from bt_runtime import TickRecord, TreeLibrary, build
from bt_runtime.library.named import read_tree
from bt_runtime.record.recording import TickInput
from bt_runtime.runtime.stepper import tick_tree
from oracle.agent import nodes
from oracle.core.encoding import to_json
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.playing import Player
from oracle.runs.record.ticks import encode_tick, plain_tick
from oracle.runs.storage.records import NewRun
from oracle.runs.storage.run_log import RunLog
from oracle.runs.storage.store import Store, open_store

AIM_SHARE = 0.2
AIM_BYTES = 1_000
LARGE = 80  # branches of five nodes

_START = TickInput("start", (), 0.0)


def main() -> None:
    logging.disable()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    records = _shipped()
    asyncio.run(_measure(records))


def _shipped() -> list[TickRecord]:
    """The ticks of the scenarios that ship."""
    folder = Path(trees.FOLDER)
    player = Player(TreeLibrary([folder], registry=nodes.REGISTRY))
    scenarios = [each for path in sorted((folder / "scenarios").glob("*.yaml")) for each in read_scenario_file(path)]
    return [fact for each in scenarios for fact in player.play(each).facts if isinstance(fact, TickRecord)]


async def _measure(shipped: Sequence[TickRecord]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="bench") as store:
            log = await _log(store)
            tick_us = mean(record.took_ms for record in shipped) * 1000
            _report("scenarios that ship, mean", shipped, tick_us=tick_us, record=_recorder(log, shipped))
            await _large(log)


async def _large(log: RunLog) -> None:
    source = f"tree: large\nroot: {{sequence: [{', '.join([BRANCH] * LARGE)}]}}"
    tree = build(read_tree(source, file="<bench>", registry=REGISTRY), registry=REGISTRY)
    first, later = tick_tree(tree, _START), tick_tree(tree, _START)
    tick_us = best_us(lambda: tick_tree(tree, _START))
    names = {"every status changes": first, "none changes": later}
    for name, record in names.items():
        await log.flush()
        _report(f"{len(tree.nodes)} nodes, {name}", [record], tick_us=tick_us, record=_recorder(log, [record]))


def _recorder(log: RunLog, records: Sequence[TickRecord]) -> Callable[[], None]:
    """Records them all, as a run does."""

    def record() -> None:
        for each in records:
            log.append("tick", encode_tick(each))

    return record


def _report(name: str, records: Sequence[TickRecord], *, tick_us: float, record: Callable[[], Any]) -> None:
    count = len(records)
    record_us = best_us(record, budget_s=1.0) / count
    stored, plain = (
        sum(map(len, data)) / count
        for data in ([encode_tick(each) for each in records], [to_json(plain_tick(each)) for each in records])
    )
    print(f"{name}: {count} tick{'s' if count > 1 else ''}")
    print(
        f"  {record_us:6.1f} us to record, {tick_us:7.1f} us a tick: {record_us / tick_us:5.1%} (aim {AIM_SHARE:.0%})"
    )
    print(f"  {stored:6.0f} bytes stored, {plain:7.0f} plain: {plain / stored:5.1f} x less (aim {AIM_BYTES} bytes)")


async def _log(store: Store) -> RunLog:
    new = NewRun("bench", "ann", "bench", "oracle", {}, {}, timeout_s=60.0)
    return store.log.writer(await store.runs.begin(new))


if __name__ == "__main__":
    main()
