"""Logs of long runs, made by ticking real nodes, without a model."""

from collections.abc import Iterator
from dataclasses import replace

from bt_runtime.library.named import read_sources
from bt_runtime.record.recording import TickInput
from bt_runtime.runtime.stepper import tick_tree
from oracle.agent.nodes import REGISTRY
from oracle.replay.recorded import rebuild_query
from oracle.runs.record.events import Opened
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.trees import TreeVersion
from tests.oracle.replay.histories.logs import Log

COUNTING = """\
tree: counting
blackboard:
  count: {type: int, default: 0, description: How many rounds were made.}
root:
  repeat:
    times: 10000000
    child:
      sequence:
        - wait: {seconds: 1}
        - condition: count >= 0 and turn < 5
        - set: {count: count + 1}
"""


def wide(nodes: int) -> str:
    """A tree that asks so many conditions in each round."""
    asked = "".join(f"        - condition: count >= 0 and turn < {at + 1}\n" for at in range(nodes - 4))
    return COUNTING.replace("        - condition: count >= 0 and turn < 5\n", asked)


def long_log(ticks: int, tree: str = COUNTING) -> Log:
    """A run of so many ticks, each second tick caused by time."""
    definition = read_sources({"counting": tree}, name="counting", registry=REGISTRY)
    version = TreeVersion(definition.sha, "counting", definition.paths, {"counting": tree})
    record = RunRecord(
        id="a" * 32,
        user_id="local",
        context_id="c",
        worker="w1",
        epoch=1,
        tree="counting",
        tree_sha=definition.sha,
        input={"question": "How many?"},
        limits={"timeout_seconds": 600},
        status="finished",
        created_at=1_000.0,
        deadline_at=2_000.0,
        termination_reason="completed",
    )
    return Log(record, version, list(_events(record, ticks, tree)))


def _events(record: RunRecord, ticks: int, tree: str) -> Iterator[LogEntry]:
    opened = Opened(5.0)
    definition = read_sources({"counting": tree}, name="counting", registry=REGISTRY)
    live = rebuild_query(record, opened, definition, registry=REGISTRY, sources={}, stops={}).tree
    event = LogEntry(record.id, 1, "opened", opened.to_json(), 1_000.0)
    yield event
    given, at_s = TickInput("start", (), 5.0), 5.0
    for number in range(ticks):
        done = tick_tree(live, given)
        live.context.take_posted()
        again = live.context.again
        at_s = at_s if again else at_s + 1.0
        given = TickInput("again", (again,), at_s) if again else TickInput("deadline", ("repeat/sequence/wait",), at_s)
        yield replace(event, seq=number + 2, kind="tick", data=encode_tick(done), at=995.0 + done.at_s)
