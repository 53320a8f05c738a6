"""What the keys of the agent say after steps of which authors ask it, as docs/control.md answers it."""

import pytest

from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.core.chunks import ApprovalRequested, QuestionAsked
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.playing import Player
from trees import FOLDER

TREE = """\
tree: sample
blackboard: {{ seen: {{ type: any, default: null }}, text: {{ type: str, default: "" }} }}
root:
  sequence: [classify_query, compose_prompt, {nodes}]
"""
SEEN = "set: { seen: '[tools_tried, errors_in_a_row, nothing_found, failed_tools, repetitions]' }"
UNTOUCHED = [(), 0, False, (), 0]


def play(folder, nodes, scenario):
    (folder / "sample.yaml").write_text(TREE.format(nodes=nodes))
    (only,) = from_yaml(f"scenarios: [{{ name: A, tree: sample, expect: {{}}, {scenario} }}]")
    return Player(TreeLibrary([folder, FOLDER], registry=REGISTRY)).play(only)


def test_an_invisible_turn_leaves_what_the_last_turn_of_the_answer_has_brought(tmp_path):
    turn = "llm_turn: { visible: false, into: text }"
    seen = "set: { seen: '[tool_calls, signal, cut_off, len(pending_calls)]' }"
    nodes = f"llm_turn, {turn}, {seen}, run_tools, llm_turn: {{ tools: false }}, stop: completed"
    model = "[{ calls: [search_code] }, { text: Hm., signal: stuck, stop_reason: max_tokens }, Done.]"
    played = play(tmp_path, nodes, f"model: {model}")
    assert list(played.blackboard["seen"]) == [1, "", False, 1]
    assert [name for name, _ in played.tool_runs] == ["search_code"]


def test_the_time_that_is_left_before_the_first_turn_is_the_whole_limit(tmp_path):
    nodes = "set: { seen: '[seconds_left, time_limit]' }, llm_turn: { tools: false }, stop: completed"
    played = play(tmp_path, nodes, "limits: { timeout_seconds: 90 }, model: [Done.]")
    assert list(played.blackboard["seen"]) == [90, 90]


def test_a_call_of_the_tree_itself_counts_in_no_key_about_calls_of_the_model(tmp_path):
    call = "force_success: { action: { call: read_file, with: { path: question }, into: text } }"
    tools = "tools: { read_file: [{ error: No. }, { error: No. }, { result: Yes., sources: [code: a.py] }] }"
    played = play(
        tmp_path,
        f"{call}, {call}, {call}, {SEEN}, llm_turn: {{ tools: false }}, stop: completed",
        f"{tools}, model: [Done.]",
    )
    assert list(played.blackboard["seen"]) == UNTOUCHED
    assert (played.blackboard["sources"], played.blackboard["text"]) == (1, "Yes.")


@pytest.mark.parametrize("decision", ["refuse", "expire"])
def test_a_call_that_a_person_refuses_is_neither_tried_nor_an_error(tmp_path, decision):
    run = "force_success: { offer_tools: [vault_write] }, llm_turn, run_tools: { approve: ['vault_*'] }"
    model = "model: [{ calls: [vault_write: { path: a.md, body: One. }] }, Done.]"
    played = play(
        tmp_path, f"{run}, {SEEN}, llm_turn: {{ tools: false }}, stop: completed", f"{model}, people: [{decision}]"
    )
    assert list(played.blackboard["seen"]) == UNTOUCHED
    assert played.tool_runs == ()


def test_refused_by_people_counts_the_calls_of_the_model_that_were_not_approved(tmp_path):
    write, other = "vault_write: { path: a.md, body: One. }", "vault_write: { path: b.md, body: One. }"
    seen = "run_tools: { approve: [vault_write] }, set: { seen: 'seen + [refused_by_people]' }"
    asks = "force_success: { approve: { message: May it?, child: { set: { text: \"'done'\" } } } }"
    nodes = f"force_success: {{ offer_tools: [vault_write] }}, {asks}, set: {{ seen: '[refused_by_people]' }}"
    played = play(
        tmp_path,
        f"{nodes}{''.join(f', llm_turn, {seen}' for _ in range(3))}, llm_turn: {{ tools: false }}, stop: completed",
        f"model: [{{ calls: [{write}] }}, {{ calls: [{write}, {other}] }}, {{ calls: [{write}] }}, Done.], "
        "people: [refuse, refuse, expire]",
    )
    assert list(played.blackboard["seen"]) == [0, 1, 3, 4]


@pytest.mark.parametrize(
    ("pattern", "asks"),
    [("vault_*", True), ("vault_writ?", True), ("vault_[uvw]rite", True), ("Vault_*", False), ("*", True)],
)
def test_patterns_are_those_of_a_shell(tmp_path, pattern, asks):
    run = f"force_success: {{ offer_tools: [vault_write] }}, llm_turn, run_tools: {{ approve: ['{pattern}'] }}"
    model = "model: [{ calls: [vault_write: { path: a.md, body: One. }] }, Done.]"
    played = play(tmp_path, f"{run}, llm_turn: {{ tools: false }}, stop: completed", f"{model}, people: [approve]")
    assert any(isinstance(chunk, ApprovalRequested) for chunk in played.chunks) == asks


def test_after_a_reason_nobody_is_asked_and_a_wait_still_waits(tmp_path):
    asks = "force_success: { ask_user: { question: Which?, default: a, into: text } }"
    approves = "force_success: { approve: { message: May it?, child: { set: { seen: 1 } } } }"
    nodes = f"llm_turn: {{ tools: false }}, stop: completed, {asks}, {approves}, force_success: {{ wait: 3 }}"
    played = play(tmp_path, nodes, "model: [Done.], people: [{ answer: b }, approve]")
    assert not any(isinstance(chunk, ApprovalRequested | QuestionAsked) for chunk in played.chunks)
    assert (played.blackboard["text"], played.blackboard["seen"], played.elapsed_s) == ("", None, 3)


def test_what_an_action_finds_is_counted_when_the_next_node_is_ticked(tmp_path):
    nodes = "action: { call: search_code, with: { query: question } }, set: { seen: '[sources]' }, stop: completed"
    tools = "tools: { search_code: [{ result: a, sources: [{ code: a.py }] }] }"
    assert list(play(tmp_path, nodes, tools).blackboard["seen"]) == [1]
