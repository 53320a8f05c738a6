"""The cost of explaining a recorded run, relative to repeating it: how each tick came to its result, in words.

A tree of 400 nodes, most of which are asked after each turn of the model. Both read the ticks from the log and repeat
them; explaining adds the trace, the words of each node, the facts and the headlines. Takes a few seconds:
`python -m benchmarks.bench_explain`.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.parts import least_ms, oracle_over, quiet
from bt_runtime import Outcome, ReloadingTrees, TickRecord, TreeDefinition, TreeLibrary, replay
from oracle.agent.answering import Ask, Oracle
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.journal import NoJournal
from oracle.agent.nodes import REGISTRY
from oracle.core.chunks import Chunk, Done, write_chunk
from oracle.replay.histories.explaining import Explainer
from oracle.replay.recorded import rebuild_query
from oracle.runs.record.events import Opened
from oracle.runs.record.outcome_json import decode_outcome, encode_outcome
from oracle.runs.record.ticks import decode_tick, encode_tick
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.trees import TreeVersion
from oracle.testing import ScriptedModel, ScriptedTurn
from oracle.tools import ToolRegistry

BRANCHES = 128
TURNS = 12
REPEATS = 15
AIM = 3.0
MORE = '<signal type="need_turn" confidence="0.9"><reason>more to do</reason></signal>'
BRANCH = "            - sequence: [{condition: signal == 'stuck' and turn > N or empty_turns > N}, grant_turn]\n"
TREE = """
tree: bench
root:
  loop:
    until: termination_reason
    guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
    child:
      sequence:
        - llm_turn
        - selector:
BRANCHES            - grant_turn
""".replace("BRANCHES", "".join(BRANCH.replace("N", str(number)) for number in range(BRANCHES)))


class Log(NoJournal):
    """Keeps what a store would have of a run, in its order."""

    def __init__(self) -> None:
        self.events: list[LogEntry] = []
        self.done: Done | None = None

    def add(self, kind: Any, data: bytes, chunk_n: int | None = None) -> None:
        self.events.append(LogEntry("run", len(self.events) + 1, kind, data, 0.0, chunk_n))

    def emit(self, chunk: Chunk) -> None:
        self.done = chunk if isinstance(chunk, Done) else self.done
        self.add("chunk", write_chunk(chunk), len(self.events))

    async def keep(self, outcomes: Any) -> None:
        for outcome in outcomes:
            self.add("turn_end", encode_outcome(outcome))

    def on_tick(self, record: TickRecord) -> None:
        self.add("tick", encode_tick(record))


async def recorded() -> tuple[RunRecord, TreeDefinition, list[LogEntry]]:
    """A run of the tree."""
    model = ScriptedModel([ScriptedTurn(f"Part {n}. {MORE.replace('more', f'part {n}')}") for n in range(TURNS)])
    shipped, log = oracle_over(model, ToolRegistry([])), Log()
    with TemporaryDirectory() as folder:
        (Path(folder) / "bench.yaml").write_text(TREE, encoding="utf-8")
        oracle = Oracle(
            equipment=shipped._equipment,  # noqa: SLF001  the same parts with another tree
            trees=ReloadingTrees(TreeLibrary([Path(folder)], registry=REGISTRY)),
            conversations=MemoryConversations(new_id=lambda: "context"),
            new_id=lambda: "run",
        )
        ask = Ask("How?", tree="bench", limits={"max_iterations": TURNS})
        query = await oracle.open(ask, emit=log.emit, observers=[log], journal=log)
        log.add("opened", Opened.of(query.agent).to_json())
        await query.run()
    assert log.done is not None
    assert query.tree is not None
    record = RunRecord(
        id="run",
        user_id="local",
        context_id="context",
        worker="w",
        epoch=1,
        tree="bench",
        tree_sha=query.tree.sha,
        input={"question": "How?"},
        limits=query.agent.query.config.model_dump(),
        status="finished",
        created_at=0.0,
        deadline_at=0.0,
        termination_reason=log.done.termination_reason,
    )
    return record, query.tree, log.events


def repeat(record: RunRecord, tree: TreeDefinition, events: list[LogEntry]) -> None:
    """Read the ticks and repeat them."""

    kept: dict[str, Outcome] = {}
    ticks: list[TickRecord] = []
    opened: Opened | None = None
    for event in events:
        if event.kind == "opened":
            opened = Opened.from_json(event.data)
        elif event.kind == "turn_end":
            outcome = decode_outcome(event.data)
            kept[outcome.key] = outcome
        elif event.kind == "tick":
            ticks.append(decode_tick(event.data, kept))
    assert opened is not None
    rebuilt = rebuild_query(record, opened, tree, registry=REGISTRY, sources={}, stops={})
    done = replay(rebuilt.tree, ticks, before_tick=rebuilt.prepare, before_outcome=rebuilt.speak)
    assert done.diverged_at is None


def explain(record: RunRecord, version: TreeVersion, events: list[LogEntry]) -> None:
    """Explain the whole run."""
    explainer = Explainer(record, version, registry=REGISTRY)
    explainer.feed_all(events)
    explainer.ended(record)
    assert explainer.history.unexplained_from is None, explainer.history.problem
    assert explainer.history.end is not None


def main() -> None:
    quiet()
    record, tree, events = asyncio.run(recorded())
    version = TreeVersion(tree.sha, tree.name, tree.paths, tree.sources)
    ticks = sum(event.kind == "tick" for event in events)
    plain_ms = least_ms(lambda: repeat(record, tree, events), rounds=REPEATS)
    explained_ms = least_ms(lambda: explain(record, version, events), rounds=REPEATS)
    print(f"a run of {ticks} ticks on a tree of {len(tree.paths)} nodes, repeated: {plain_ms:.1f} ms")
    print(f"explained: {explained_ms:.1f} ms, {explained_ms / plain_ms:.1f} x (aim: at most {AIM:g})")


if __name__ == "__main__":
    main()
