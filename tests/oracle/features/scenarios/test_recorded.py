"""A recorded run becomes a scenario that passes on the tree that it ran."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import from_yaml, to_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from oracle.features.scenarios.recorded import scenario_of
from oracle.llm.protocol import ModelFault, Usage
from oracle.replay.recorded import read_run, repeat
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.interrupts import Answerer, Delivery
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import ToolError, ToolResult
from tests.acceptance.harness import NEED_TURN, answers, calls, made_tool, says, signal_xml
from tests.oracle.features.scenarios.playing import WAITING, player
from tests.oracle.runs.debugging.sessions import Operator
from tests.oracle.runs.running import Gate, managed

STUCK = signal_xml("stuck", attempted='["a"]', blocker="no access")
SCRIPTS = {
    "an answer": [answers()],
    "an answer without a signal": [says("Hello.", thinking="Hm.")],
    "a tool": [says("Looking.", calls("probe", a=1)), answers()],
    "tools side by side": [says("Looking.", calls("probe", a=1), calls("probe", a=2), calls("probe", a=1)), answers()],
    "the project's tools": [
        says("Searching.", calls("search_code", query="log_in"), calls("read_file", path="src/auth.py")),
        answers(),
    ],
    "nothing found": [says("Searching.", calls("search_code", query="xyzzy")), answers()],
    "a tool that was not offered": [says("Writing.", calls("vault_write", path="a", body="b")), answers()],
    "arguments that cannot be read": [says("Looking.", ScriptedCall("probe", "{broken")), answers()],
    "a tool that fails": [says("Looking.", calls("broken", n=n)) for n in range(3)],
    "stuck twice": [says(f"Hm. {STUCK}"), *[says(f"Still. {STUCK}")] * 2],
    "malformed": [says('It is in a file. <signal type="nonsense"/>')],
    "another turn": [says(f"Part one. {NEED_TURN}"), answers()],
    "the provider fails": [ScriptedTurn("Half", fault=ModelFault("provider_failed", "It failed.", "status 500"))],
    "no progress": [says("Again.", calls("probe")) for _ in range(3)],
    "empty responses": [says(""), says(""), says("")],
    "a limit": [says(f"Part {n}. {signal_xml('need_turn', reason=n)}") for n in range(3)],
    "a refusal": [ScriptedTurn("No.", stop_reason="refusal")],
    "cut off": [ScriptedTurn("Half of", stop_reason="max_tokens"), answers()],
    "no usage": [says("First. " + NEED_TURN, tokens=None), answers(tokens=None)],
    "a cache": [
        ScriptedTurn("First. " + NEED_TURN, usage=Usage(10, 2000, 0, 40)),
        ScriptedTurn("Second.", usage=Usage(20, 30, 2010, 50)),
    ],
    "a warning of the budget": [says("First. " + NEED_TURN, tokens=(40_000, 1_000)), answers()],
}


async def _fails(arguments):
    raise ToolError(f"the probe {arguments['n']} is broken")


async def _works(arguments):
    return ToolResult("the same")


TOOLS = (made_tool(_works), made_tool(_fails, "broken"))


async def scenario_from(archive, record):
    run = await read_run(archive, await archive.find(record.id[:12]))
    (scenario,) = from_yaml(to_yaml([scenario_of(run, registry=REGISTRY)]))
    return scenario


async def judged(scenario):
    verdict = judge(scenario, await player().play_async(scenario))
    assert verdict.passed, verdict.report("")
    return verdict.played


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_recorded_run_becomes_a_scenario_that_passes(store: Store, archive: Archive, name: str):
    limits = {"limits": {"max_iterations": 3}} if name == "a limit" else {}
    async with managed(store, SCRIPTS[name], tools=TOOLS) as it:
        told = await it.ask(**limits)
    scenario = await scenario_from(archive, told.record)
    played = await judged(scenario)
    assert played.done.termination_reason == told.record.termination_reason
    assert played.done.tokens_used == told.record.tokens_used
    found = sorted(chunk["source"]["path"] for chunk in told.chunks if chunk["type"] == "source")
    assert sorted(source.path for source in played.answer.sources) == found
    assert scenario.expect["visited"]


async def test_a_cancelled_run_is_cancelled_again(store: Store, archive: Archive):
    async with managed(store, [ScriptedTurn("Some words", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "words")
        it.clock.advance(7)
        live.cancel()
        told = await it.told(live.record)
    scenario = await scenario_from(archive, told.record)
    played = await judged(scenario)
    assert played.done.termination_reason == "user_cancelled"
    assert played.elapsed_s == 7
    assert played.answer.text == "Some words"


async def test_a_run_that_reached_its_deadline_in_a_tool_reaches_it_again(store: Store, archive: Archive):
    gate = Gate()
    async with managed(store, [says("Looking.", calls("slow"))], tools=[made_tool(gate, "slow")]) as it:
        live = await it.start()
        async with asyncio.timeout(20):
            await gate.begun.wait()
        it.clock.advance(120)
        told = await it.told(live.record)
    played = await judged(await scenario_from(archive, told.record))
    assert played.done.termination_reason == "timeout"
    assert played.elapsed_s == 120


async def test_a_follow_up_keeps_the_type_of_the_question_before(store: Store, archive: Archive):
    async with managed(store, [answers(), answers("The other.")]) as it:
        first = await it.ask()
        told = await it.ask("And the other one?", context_id=first.record.context_id)
    scenario = await scenario_from(archive, told.record)
    assert scenario.history[0].query_type == "code"
    assert (await judged(scenario)).blackboard["query_type"] == "code"


async def test_what_was_delivered_is_delivered_again(store: Store, archive: Archive, tmp_path: Path):
    async with managed(store, [answers()], debug_lease_s=120) as it:
        it.harness.write_tree("waiting", WAITING)
        olga = Operator(it)
        await olga.breaks("b1", tree="waiting", path="sequence/wait")
        live = await it.start(tree="waiting")
        it.clock.advance(7)
        await olga.until(live, "paused")
        await olga.does(live, "set", key="approved", value=False)
        await olga.does(live, "resume")
        told = await it.told(live.record)
    scenario = await scenario_from(archive, told.record)
    (event,) = scenario.events
    assert (event.action, event.key, event.value) == ("delivery", "approved", False)
    (tmp_path / "waiting.yaml").write_text(WAITING)
    verdict = judge(scenario, await Player(TreeLibrary([tmp_path], registry=REGISTRY)).play_async(scenario))
    assert verdict.passed, verdict.report("")
    assert verdict.played.answer.text.endswith("Approved: False.")


ASKING = """\
tree: asking
blackboard: { branch: { type: str, default: "" } }
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - ask_user: { question: "Which branch?", into: branch, expires: null }
        - llm_turn
        - run_tools: { approve: [probe], expires: null }
        - llm_turn
        - stop: completed
    then: { sequence: [explain_stop, finish] }
"""


async def test_what_people_have_decided_is_decided_again(store: Store, archive: Archive, tmp_path: Path):
    decisions: list[dict[str, Any]] = [
        {"decision": "answer", "answer": "main"},
        {"decision": "edit", "arguments": {"a": 7}},
        {"decision": "refuse", "comment": "Not this one."},
    ]
    script = [says("", *[calls("probe", a=a) for a in (1, 2)]), answers()]
    async with managed(store, script, tools=TOOLS) as it:
        it.harness.write_tree("asking", ASKING)
        live = await it.start(tree="asking")
        left, answerer = iter(decisions), Answerer(live.record.user_id)
        async with asyncio.timeout(20):
            async for batch in store.log.follow(live.record.id):
                for chunk in map(json.loads, (chunk.data for chunk in batch)):
                    if chunk["type"] in ("question", "approval_requested"):
                        it.clock.advance(7)
                        decision = Delivery(chunk["interrupt"]["id"], **next(left))
                        await store.interrupts.answer(live.record.id, [decision], by=answerer)
        told = await it.told(live.record)
    assert repeat(await read_run(archive, told.record), registry=REGISTRY).diverged_at is None
    scenario = await scenario_from(archive, told.record)
    assert [(each.decision, each.value) for each in scenario.people] == [
        *(("answer", "main"), ("edit", {"a": 7}), ("refuse", "Not this one.")),
    ]
    (tmp_path / "asking.yaml").write_text(ASKING)
    verdict = judge(scenario, await Player(TreeLibrary([tmp_path], registry=REGISTRY)).play_async(scenario))
    assert verdict.passed, verdict.report("")
    assert [arguments for _, arguments in verdict.played.tool_runs] == [{"a": 7}]
