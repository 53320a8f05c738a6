"""Properties are proven, or refuted by the shortest story, or not decided."""

from itertools import count

import pytest

from bt_runtime.library.named import read_sources
from oracle.agent.nodes import REGISTRY
from oracle.features.scenarios.files import from_yaml, to_yaml
from tests.oracle.features.verifier.verified import PLAIN_TREE, RULED, guarded, shipped, tree_of, verified

ONE_TURN = """
sequence:
  - llm_turn
  - stop: completed
"""


def verdicts(report):
    return {result.name: result.verdict for result in report.results}


def story(report, name):
    return [step.text for step in report.result(name).story.steps]


@pytest.mark.long("explores the shipped tree")
def test_the_shipped_tree_keeps_every_property_for_two_turns():
    report = verified(shipped())
    assert report.bound == ""
    assert {name for name, verdict in verdicts(report).items() if verdict != "proven"} <= {"reachable"}


@pytest.mark.long("explores the shipped tree")
def test_the_shipped_tree_is_proven_for_three_turns():
    """The last strategy takes a fourth turn: one that is stuck, one of tools, and another one that is stuck."""
    report = verified(shipped(), turns=3, states=50_000, seconds=300)
    assert report.bound == ""
    assert set(verdicts(report).values()) == {"proven"}


def test_a_loop_of_tools_that_need_no_time_has_no_end():
    report = verified("""
tree: sample
root:
  sequence:
    - classify_query
    - loop:
        until: nothing_found
        child: { force_success: { action: { call: vault_list } } }
    - stop: completed
""")
    found = report.result("ends")
    assert found.verdict == "refuted"
    assert found.story.repeats == 1
    assert story(report, "ends") == [
        "The user asks: Where is the class RetryPolicy defined in the code?",
        "The tool of sequence/loop/force_success/action brings something new.",
    ]
    assert "Step 2 repeats without an end." in found.story.lines()


def test_a_loop_in_which_nothing_waits_is_ended_by_force():
    report = verified("""
tree: sample
blackboard: { count: { type: int, default: 0 } }
root:
  sequence:
    - loop: { until: count < 0, child: { set: { count: count + 1 } } }
    - stop: completed
""")
    assert report.result("ends").verdict == "refuted"
    assert "1000" in report.result("ends").problem
    assert len(report.result("ends").story.steps) == 1


@pytest.mark.long("explores a whole tree")
def test_an_error_of_the_service_that_a_tree_swallows_goes_round():
    report = verified(guarded("{ force_success: llm_turn }"), turns=1, states=300)
    assert report.result("ends").verdict == "refuted"
    assert "An error in the service breaks the turn." in story(report, "ends")


def test_a_tree_without_a_guard_of_turns_makes_no_more_turns_than_the_limit():
    report = verified("""
tree: sample
blackboard: { max_turns: { type: int, default: 2 } }
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop: { child: { sequence: [llm_turn, grant_turn] } }
""")
    assert report.result("turn-limit").verdict == "proven"
    assert report.result("cancel-wins").verdict == "proven"


@pytest.mark.parametrize(
    ("nodes", "told", "needed"),
    [
        ("", "The model writes an answer, calls search_code.", "must have `run_tools` and another turn, or a `stop`"),
        ("    - stop: user_cancelled", "The model writes an answer.", "must stop for a reason that is true"),
    ],
    ids=["calls that nothing runs", "a reason that is not true"],
)
def test_a_control_that_fails_refutes_the_reason_and_the_message_says_what_the_tree_must_have(nodes, told, needed):
    report = verified(PLAIN_TREE.format(nodes=nodes))
    assert report.result("reason").verdict == "refuted"
    assert story(report, "reason")[1].startswith(told)
    assert needed in report.result("reason").problem


TWO_WAYS = """
tree: sample
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn
    - selector:
        - sequence: [condition: signal == "stuck", stop: error]
        - sequence: [condition: asks_user, stop: user_cancelled]
        - stop: completed
"""


def test_different_ways_to_break_a_property_are_told_apart_and_each_once():
    result = verified(TWO_WAYS).result("reason")
    told = [story.steps[-1].text.split(" The user reads")[0] for story in (result.story, *result.others)]
    assert told == ["The model writes an answer, signals stuck.", "The model asks the user a question."]
    assert result.lines().count("Another way:") == 1


def test_a_tree_that_stops_before_any_turn_refutes_the_reason():
    report = verified("tree: sample\nroot: {sequence: [classify_query, stop: completed]}")
    assert report.result("reason").verdict == "refuted"
    assert "must have a turn of the answer (`llm_turn`)" in report.result("reason").problem


STAGES = """
tree: sample
blackboard:
  stage: { type: str, default: a }
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: stage == "e"
        guards: [cancelled, turn_budget, token_budget, deadline]
        child:
          sequence:
            - llm_turn: { tools: false }
            - switch:
                value: stage
                cases:
                  a: { set: { stage: "'b'" } }
                  b: { set: { stage: "'c'" } }
                  c: { set: { stage: "'d'" } }
                  d: { set: { stage: "'e'" } }
    - condition: stage == "e"
    - stop: completed
"""


def test_a_node_behind_more_turns_than_are_explored_is_found_by_a_run_of_more_turns():
    assert verified(STAGES, turns=2).verdict == "proven"


def test_a_node_that_only_a_text_from_outside_can_reach_is_not_decided():
    found = PLAIN_TREE.format(
        nodes="    - if: { when: question == question + 'x', then: { say: Twice. } }\n    - stop: stuck"
    )
    result = verified(found).result("reachable")
    assert result.verdict == "not_decided"
    assert "a search in 4 turns has not reached them either" in result.problem


def test_a_node_of_an_included_file_that_this_tree_cannot_reach_is_no_mistake_of_it():
    part = "tree: part\ninternal: true\nroot: {selector: [stop: completed, stop: stuck]}"
    texts = {"sample": PLAIN_TREE.format(nodes="    - subtree: part"), "part": part}
    result = verified(read_sources(texts, name="sample", registry=REGISTRY)).result("reachable")
    assert (result.verdict, result.problem) == ("proven", "")


def test_a_comparison_with_null_is_a_node_that_raises():
    report = verified(
        guarded(
            """
            sequence:
              - llm_turn
              - selector: [{ condition: found > 3 }, { stop: completed }]
            """,
            more="  found: { type: int }",
        )
    )
    result = report.result("no-errors")
    assert result.verdict == "refuted"
    assert "null" in result.problem
    assert len(result.story.steps) == 2
    assert any("condition" in node for node in result.story.steps[1].nodes)


def test_a_node_that_nothing_reaches_is_named_with_its_line():
    report = verified(PLAIN_TREE.format(nodes="    - selector:\n        - stop: completed\n        - stop: stuck"))
    result = report.result("reachable")
    assert result.verdict == "refuted"
    assert result.problem == "no run can reach it: sequence/selector/stop#2 (sample.yaml:10)"


def test_a_node_that_is_marked_need_not_be_reached():
    nodes = "    - selector:\n        - stop: completed\n        - stop: stuck # silence unreachable: kept for later"
    assert verified(PLAIN_TREE.format(nodes=nodes)).result("reachable").verdict == "proven"


def test_a_node_that_needs_as_many_turns_as_the_tree_counts_is_reached_in_so_many():
    tree = "sequence: [llm_turn, { selector: [{ condition: turn < 9 }, { stop: completed }] }]"
    beyond = verified(guarded(tree)).result("reachable")  # this tree's own limit is 3, which the flow of control knows
    assert (beyond.verdict, "no run can reach it" in beyond.problem) == ("refuted", True)
    assert verified(guarded(tree, max_turns=9)).result("reachable").verdict == "proven"


def test_without_a_guard_a_cancel_wins_nevertheless():
    report = verified(PLAIN_TREE.format(nodes="    - condition: turn > 0\n    - llm_turn\n    - stop: completed"))
    assert report.result("cancel-wins").verdict == "proven"
    assert report.result("one-done").verdict == "proven"
    assert report.result("saved").verdict == "proven"


COUNTING = guarded(
    """
    sequence:
      - force_success: llm_turn
      - set: { a: a + tool_calls + 1, b: b + a, c: c + b }
    """,
    more="\n".join(f"  {name}: {{ type: int, default: 0 }}" for name in "abc"),
)
"""In each round it comes to states of its own."""


def test_a_tree_with_too_many_states_is_stopped_at_the_bound_and_says_so():
    report = verified(COUNTING, turns=20, states=60)
    assert report.bound == "60 states"
    assert 60 <= report.states < 200
    assert report.result("saved").verdict == "not_decided"
    assert report.result("saved").problem == "stopped at 60 states"


def test_no_time_at_all_is_a_bound_too():
    report = verified(COUNTING, turns=20, seconds=0)
    assert report.bound == "0 s of CPU time"
    assert report.result("saved").verdict == "not_decided"


def test_what_is_not_decided_says_for_how_many_turns_it_holds():
    tree = guarded(
        "sequence: [{ llm_turn: { tools: false } }, { set: { a: a + turn } }]", "  a: { type: int, default: 0 }"
    )
    report = verified(tree, turns=3, states=25)
    assert report.result("saved").problem == "stopped at 25 states; proven for up to 1 turn"


def test_a_machine_with_other_work_changes_no_verdict(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("time.monotonic", count(0, 1_000).__next__)
        report = verified(guarded("sequence: [{ llm_turn: { tools: false } }, { stop: completed }]"), seconds=60)
    assert (report.bound, report.verdict) == ("", "proven")


def test_a_rule_is_refuted_by_the_shortest_story():
    report = verified(RULED.replace("    ENFORCE\n", ""), turns=3)
    result = report.result("rule write_once")
    assert (result.verdict, result.is_rule, result.text) == ("refuted", True, "A note is written at most once.")
    told = story(report, "rule write_once")
    assert told[0] == "The user asks: Write a note about the release plan into the vault."
    assert [text for text in told if "calls vault_write" in text] == [told[1], told[3]]
    assert len(told) == 4


APPROVED = RULED.replace("at_most: { tool: vault_write, times: 1 }", "absence: { tool: vault_write, where: WHERE }")
APPROVED = APPROVED.replace("    ENFORCE\n", "").replace(" run_tools]", " { run_tools: { approve: [POLICY] } }]")


@pytest.mark.parametrize(
    ("policy", "where", "verdict"),
    [
        ("vault_write", "not is_approved", "proven"),
        ("vault_read", "not is_approved", "refuted"),
        ('{ tool: "vault_*", when: path == 1 }', "not is_approved and path == 1", "proven"),
        ('{ tool: "vault_*", when: path == 1 }', "not is_approved", "refuted"),
        ('{ tool: "vault_*", when: path == 1 }', "path == 1", "refuted"),
    ],
)
def test_a_rule_that_asks_for_approvals_is_proven_where_a_person_is_asked(policy, where, verdict):
    report = verified(APPROVED.replace("POLICY", policy).replace("WHERE", where), turns=2)
    assert report.result("rule write_once").verdict == verdict


@pytest.mark.parametrize(
    ("policy", "most", "verdict"),
    [("vault_write", 2, "refuted"), ("vault_write", 3, "proven"), ("'vault_*'", 2, "refuted")],
)
def test_a_rule_about_how_often_people_refuse_counts_the_turns_in_which_they_can(policy, most, verdict):
    tree = APPROVED.replace(
        "{ tool: vault_write, where: WHERE }", f"{{ key: refused_by_people, where: value > {most} }}"
    )
    assert verified(tree.replace("POLICY", policy), turns=3).result("rule write_once").verdict == verdict


def test_a_story_says_what_a_person_decides():
    report = verified(APPROVED.replace("POLICY", "vault_write").replace("WHERE", "is_approved"), turns=2)
    assert 'A person approves: "May vault_write be run?"' in "\n".join(report.result("rule write_once").story.lines())


def test_a_rule_that_is_enforced_is_proven():
    report = verified(RULED.replace("ENFORCE", "enforce: refuse"), turns=3)
    assert report.result("rule write_once").verdict == "proven"


def test_two_explorations_of_one_tree_are_the_same():
    tree = guarded(ONE_TURN)
    one, other = verified(tree), verified(tree_of(tree.source))
    assert (one.states, one.transitions, one.ends) == (other.states, other.transitions, other.ends)
    assert [result.verdict for result in one.results] == [result.verdict for result in other.results]


def test_the_report_as_json_has_the_verdicts_the_figures_and_the_bounds():
    data = verified(PLAIN_TREE.format(nodes="")).to_json()
    assert data["verdict"] == "refuted"
    assert data["bounds"] == {"turns": 2, "stopped_at": None}
    assert data["states"] >= 1
    assert data["transitions"] > data["ends"] > 1
    [reason] = [each for each in data["properties"] if each["name"] == "reason"]
    assert reason["verdict"] == "refuted"
    assert reason["story"][0].startswith("1. The user asks")


def test_nothing_is_decided_of_a_tree_with_a_behaviour_of_py_trees():
    nodes = "[py_trees: py_trees.behaviours.Success, llm_turn, stop: completed]"
    report = verified(tree_of(f"tree: sample\nroot: {{sequence: {nodes}}}\n"))
    assert set(verdicts(report).values()) == {"not_decided"}
    assert "what the behaviour at sequence/py_trees" in report.result("ends").problem
    assert report.bound == "a behaviour of py_trees"


@pytest.mark.parametrize(("rule", "verdict"), [("turn", "refuted"), ("tool", "proven")])
def test_answers_have_the_properties_that_their_schema_asks_for(rule, verdict):
    """Whether the build has passed, a person says: the turn behind it is reached, and the node does not fail."""
    tree = f"""\
tree: sample
blackboard: {{ build: {{ type: map, default: {{}} }} }}
root:
  sequence:
    - classify_query
    - compose_prompt
    - ask_user:
        question: "Has it passed?"
        schema: {{ type: object, properties: {{ passed: {{ type: boolean }}, log: true }}, required: [passed] }}
        into: build
        default: {{ passed: false, log: "" }}
    - if: {{ when: build.passed, then: {{ llm_turn: {{ tools: false }} }}, else: {{ say: It has not passed. }} }}
    - stop: completed
rules:
  - {{ name: none, text: There is none., absence: {rule} }}
"""
    report = verified(tree_of(tree), turns=1, states=200)
    assert report.result("rule none").verdict == verdict


FLOWS = RULED.replace("at_most: { tool: vault_write, times: 1 }", "no_flow: { from: untrusted, to: outward EXCUSE }")


@pytest.mark.long("three turns of every tool with these labels")
@pytest.mark.parametrize(
    ("excuse", "enforce", "policy", "verdict"),
    [
        ("", "", "", "refuted"),
        ("", "enforce: refuse", "", "proven"),
        (", unless: approved", "", "{ tool: '*', writes: outward, after: untrusted }", "proven"),
        (", unless: approved", "", "{ tool: '*', writes: outward, after: private }", "refuted"),
        (", unless: approved", "", "web_search", "refuted"),
        ("", "", "{ tool: '*', writes: outward, after: untrusted }", "refuted"),
    ],
)
def test_that_nothing_leaks_is_proven_for_all_tools_with_these_labels(excuse, enforce, policy, verdict):
    tree = FLOWS.replace(" EXCUSE", excuse).replace("    ENFORCE\n", f"    {enforce}\n" if enforce else "")
    tree = tree.replace(" run_tools]", f" {{ run_tools: {{ approve: [{policy}] }} }}]")
    result = verified(tree, turns=3).result("rule write_once")
    assert result.verdict == verdict
    if policy == "":
        assert verdict == "proven" or "calls any_outward_tool" in "\n".join(result.story.lines())


@pytest.mark.long("three turns of every tool with these labels")
def test_a_leak_is_written_as_a_scenario_with_the_labels_of_its_tools():
    tree = FLOWS.replace(" EXCUSE", "").replace("    ENFORCE\n", "")
    scenario = verified(tree, turns=3).result("rule write_once").story.scenario
    script = scenario.tools["any_outward_tool"]
    assert (script.group, script.labels) == ("code", ("outward",))
    [again] = from_yaml(to_yaml([scenario]), file="leak.yaml")
    assert again.tools["any_outward_tool"].labels == ("outward",)
