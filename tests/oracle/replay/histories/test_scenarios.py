"""The shipped scenarios, played and explained: the history names the nodes that a naive reading finds."""

from collections.abc import Iterator

import pytest

from bt_runtime import Outcome, TickRecord
from bt_runtime.testing import FakeClock
from oracle.agent.nodes import REGISTRY
from oracle.agent.outcome_json import encode_outcome, outcome_kind
from oracle.classify import QueryClassification, classify_query
from oracle.core.chunks import Done, Failed, write_chunk
from oracle.decision import AgentConfig
from oracle.features.scenarios.files import read_scenario_file
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.played import Played
from oracle.features.scenarios.stage import Moments, StagedTools
from oracle.runs.record.events import KnownTool, Opened
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.trees import TreeVersion
from tests.oracle.features.scenarios.playing import player
from tests.oracle.replay.histories import naive
from tests.oracle.replay.histories.logs import Log
from trees import FOLDER

SCENARIOS = {
    f"{file.stem}: {scenario.name}": scenario
    for file in sorted((FOLDER / "scenarios").glob("*.yaml"))
    for scenario in read_scenario_file(file)
}


def opened(scenario: Scenario) -> Opened:
    """What the query began with."""
    clock = FakeClock()
    tools = StagedTools(scenario, clock, Moments(clock)).tools()
    previous: QueryClassification | None = None
    for earlier in scenario.history:
        previous = classify_query(earlier.question, previous=previous)
        if earlier.query_type is not None:
            previous = QueryClassification.of(earlier.query_type, confidence=1.0)
    errors = bool(scenario.history) and scenario.history[-1].tool_errors
    known = tuple(KnownTool(tool.name, tool.group, tool.writes) for tool in tools)
    return Opened(0.0, previous, errors, known)


def events(scenario: Scenario, played: Played) -> Iterator[LogEntry]:
    """The log that a store would have of it."""
    yield LogEntry("run", 1, "opened", opened(scenario).to_json(), 0.0)
    chunks = 0
    for seq, fact in enumerate(played.facts, start=2):
        if isinstance(fact, TickRecord):
            yield LogEntry("run", seq, "tick", encode_tick(fact), fact.at_s)
        elif isinstance(fact, Outcome):
            kind = outcome_kind(fact)
            yield LogEntry("run", seq, "tool_end" if kind == "tools" else "turn_end", encode_outcome(fact), fact.at_s)
        else:
            chunks += 1
            yield LogEntry("run", seq, "chunk", write_chunk(fact), 0.0, chunks)


def log_of(scenario: Scenario, played: Played) -> Log:
    done = next(fact for fact in played.facts if isinstance(fact, Done))
    failed = next((fact for fact in reversed(played.facts) if isinstance(fact, Failed)), None)
    record = RunRecord(
        id="run",
        user_id="local",
        context_id=done.context_id,
        worker="w",
        epoch=1,
        tree=scenario.tree,
        tree_sha=played.tree.sha,
        input={"question": scenario.question},
        limits=AgentConfig().with_limits(scenario.limits).model_dump(),
        status="finished",
        created_at=1_767_323_045.0,
        deadline_at=0.0,
        finished_at=0.0,
        termination_reason=done.termination_reason,
        turns=done.turns,
        tokens_used=done.tokens_used,
        error=None if failed is None else {"error": failed.error, "error_type": failed.error_type},
    )
    version = TreeVersion(played.tree.sha, played.tree.name, played.tree.paths, played.tree.sources)
    return Log(record, version, list(events(scenario, played)))


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_end_and_each_tick_has_the_node_that_a_naive_reading_finds(name: str):
    scenario = SCENARIOS[name]
    log = log_of(scenario, player().play(scenario))
    history = log.explained(registry=REGISTRY)
    assert history.end is not None
    assert history.end.by != "unknown"
    if history.end.by == "service":  # what stopped the service is in no record
        return
    assert history.unexplained_from is None, history.problem
    naive.check(history, log)
    for tick in history.ticks:
        assert tick.headline
        decided = [step.node for step in tick.why if step.decides]
        assert decided == ([] if tick.decision is None else [tick.decision])
        assert all(piece.text for step in tick.why for piece in step.pieces)
