"""`model` and `prompt` of a turn, withheld tools, and the keys that are published where a tree names them."""

import textwrap

import pytest

from bt_runtime import TreeFileError, TreeLibrary
from bt_runtime.library.named import read_tree
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.tree_checks import names_of_turns
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from prompts import load_segments
from tests.acceptance.harness import CODE_QUESTION, answers, calls, harness, says, text_of
from tests.oracle.agent.nodes.running import errors, run_nodes, tree_of, written

SUMMARY = """\
---
id: summary
description: A summary near a limit.
priority: 900
always: false
---
Summarise what you have found in three sentences.
"""
LOOKING = says("Looking.", calls("search_code", query="RetryPolicy"))
WRITING = says("Noting.", calls("vault_write", path="a.md", body="Five."), calls("search_code", query="x"))


# --- model


async def test_a_turn_asks_the_model_that_it_names_and_the_others_that_of_the_query() -> None:
    nodes = "- llm_turn: { model: claude-haiku-4-5 }\n- llm_turn\n- stop: completed"
    async with harness([says("One."), answers("Two.")]) as it:
        it.write_tree("sample", tree_of(nodes))
        answered = await it.ask(tree="sample")
    assert [body["model"] for body in answered.bodies] == ["claude-haiku-4-5", "claude-sonnet-5-5"]


async def test_the_first_turn_of_another_model_is_planned_without_the_cache() -> None:
    nodes = "- llm_turn\n- llm_turn\n- llm_turn: { model: other }\n- stop: completed"
    turns = [says("A."), says("B."), answers("C.")]
    async with harness(turns, wire=False) as it:
        it.write_tree("sample", tree_of(nodes))
        answered = await it.ask(CODE_QUESTION, tree="sample")
    agent = answered.agent
    agent.cost.note(agent.turn.outcome, shape=agent._shape("other"), now_s=0.0)
    agent.cost._cached_until_s = 300.0
    assert agent.plan("other").input_tokens < agent.plan().input_tokens


@pytest.mark.parametrize(
    ("settings", "message", "hint"),
    [
        ("model: claude-haiku", "the model 'claude-haiku' may not be used", "did you mean 'claude-haiku-4-5'?"),
        ("model: gpt", "the model 'gpt' may not be used", "the operator allows claude-haiku-4-5, claude-sonnet-5-5"),
        ("prompt: sumary", "there is no segment 'sumary' among the prompts", "did you mean 'summary'?"),
    ],
)
def test_a_name_that_the_operator_does_not_have_is_a_mistake(settings: str, message: str, hint: str) -> None:
    models = ("claude-sonnet-5-5", "claude-haiku-4-5")
    registry = REGISTRY.with_rules([names_of_turns(models=models, segments=lambda: ("base", "summary"))])
    text = "tree: sample\nroot:\n  sequence:\n    - llm_turn: { %s }\n    - stop: completed\n"
    with pytest.raises(TreeFileError) as wrong:
        read_tree(text % settings, file="sample.yaml", registry=registry)
    (mistake,) = wrong.value.mistakes
    assert (mistake.place.line, mistake.message) == (4, message)
    assert (mistake.hint or "").startswith(hint)
    read_tree(text % "model: claude-haiku-4-5, prompt: summary", file="sample.yaml", registry=registry)


def test_without_a_list_any_model_may_be_named() -> None:
    registry = REGISTRY.with_rules([names_of_turns(models=(), segments=lambda: None)])
    text = "tree: sample\nroot: { llm_turn: { model: any, prompt: any } }\n"
    assert read_tree(text, file="sample.yaml", registry=registry).name == "sample"


# --- prompt


@pytest.mark.parametrize("visible", ["true", "false"])
async def test_a_prompt_goes_with_one_turn_as_a_note_behind_the_same_request(tmp_path, visible: str) -> None:
    (tmp_path / "summary.md").write_text(SUMMARY)
    nodes = f"""
    - llm_turn
    - llm_turn: {{ prompt: summary, visible: {visible}, into: text, hint: "In English." }}
    - llm_turn
    - stop: completed
    """
    turns = [says("One."), says("Two."), answers("Three.")]
    answered = await run_nodes(nodes, turns, segments=load_segments(tmp_path))
    first, second, third = answered.requests
    note = "Summarise what you have found in three sentences.\n\nIn English."
    assert text_of(second.messages[-1]).endswith(note)
    assert first.system == second.system == third.system
    assert "Summarise" not in first.system
    assert second.messages[: len(first.messages)] == first.messages
    assert ("Summarise" in str(third.messages)) == (visible == "true")
    assert errors(answered) == []


# --- withhold_tools


@pytest.mark.parametrize("before", [True, False], ids=["before the question is classified", "after it"])
async def test_a_withheld_tool_is_neither_offered_nor_run(before: bool) -> None:
    nodes = ["- classify_query", "- withhold_tools: [search_code, read_file]"]
    text = "\n".join(nodes[::-1] if before else nodes)
    text += "\n- compose_prompt\n- force_success: offer_all_reading_tools\n- llm_turn\n- run_tools\n- stop: completed"
    answered = await run_nodes(text, [LOOKING])
    (request,) = answered.requests
    names = {tool.name for tool in request.tools}
    assert "list_files" in names
    assert not names & {"search_code", "read_file"}
    assert "search_code(" not in request.system
    assert "list_files(" in request.system
    (result,) = answered.results
    assert "'search_code' is not offered for this question" in result.tool_result


async def test_tools_that_are_withheld_after_a_turn_stay_in_the_requests_and_are_not_run() -> None:
    nodes = """
    - llm_turn
    - withhold_tools: [search_code]
    - inverter: { offer_tools: [search_code] }
    - llm_turn
    - run_tools
    - condition: "'search_code' not in untried_tools"
    - stop: completed
    """
    answered = await run_nodes(nodes, [says("One."), LOOKING])
    first, second = answered.requests
    assert second.tools == first.tools
    assert "Do not call these tools any more; they are not run: search_code" in text_of(second.messages[-1])
    (result,) = answered.results
    assert result.tool_result.startswith(
        "'search_code' is not offered for this question. Offered: read_file, list_files"
    )
    assert answered.reason == "completed"


# --- keys on demand


async def test_pending_calls_can_be_asked_for_before_they_run() -> None:
    nodes = """
    - offer_tools: [vault_write]
    - llm_turn
    - condition: pending_writes == ["vault_write"] and len(pending_calls) == 2
    - condition: pending_calls[0].tool == "vault_write" and pending_calls[0].arguments.path == "a.md"
    - run_tools
    - condition: not pending_calls and not pending_writes
    - stop: completed
    """
    answered = await run_nodes(textwrap.dedent(nodes), [WRITING])
    assert answered.reason == "completed"
    assert [list(map(dict, value)) for value in written(answered, "pending_calls")] == [
        [
            {"tool": "vault_write", "arguments": {"path": "a.md", "body": "Five."}},
            {"tool": "search_code", "arguments": {"query": "x"}},
        ],
        [],
    ]


SLOW = """
scenarios:
  - name: Little time is left
    tree: sample
    limits: { timeout_seconds: 40 }
    model: [{ text: One., delay_s: 28.5 }, { text: Two., delay_s: 1 }]
    expect: { reason: completed, blackboard: { seconds_left: 10 }, requests: [{ model: "" }, { model: strong }] }
"""


def test_the_seconds_that_are_left_are_those_of_the_last_step(tmp_path) -> None:
    nodes = "- llm_turn\n- condition: 11 <= seconds_left < 12\n- llm_turn: { model: strong }\n- stop: completed"
    (tmp_path / "sample.yaml").write_text(tree_of(nodes))
    (scenario,) = from_yaml(SLOW)
    verdict = judge(scenario, Player(TreeLibrary([tmp_path], registry=REGISTRY)).play(scenario))
    assert verdict.passed, verdict.report(SLOW)


async def test_a_tree_that_does_not_name_them_has_none_of_these_writes() -> None:
    answered = await run_nodes("- llm_turn\n- run_tools\n- stop: completed", [LOOKING])
    for key in ("pending_calls", "pending_writes", "seconds_left"):
        assert written(answered, key) == []
