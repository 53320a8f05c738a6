"""A scenario is one query with the real control; model, tools, time and events are as scripted."""

import re
import time

import pytest

from bt_runtime import Monitors, TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.core.errors import UserError
from oracle.features.rules.recorded import events_of
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player, PlayError
from tests.oracle.features.scenarios.playing import WAITING, played


def passes(text):
    verdict = played(text)
    assert verdict.passed, verdict.report(text)
    return verdict.played


def test_turns_are_played_in_order_and_texts_are_joined():
    passes("""
scenarios:
  - name: Two turns
    model:
      - { text: First half., signal: need_turn }
      - { text: Second half., signal: context_sufficient }
    expect: { reason: completed, turns: 2, asked: 2, answer: "First half.\\n\\nSecond half." }
""")


def test_a_query_of_ten_minutes_takes_no_time():
    started = time.monotonic()
    done = passes("""
scenarios:
  - name: Slow
    limits: { timeout_seconds: 600 }
    model:
      - { text: Wait., signal: need_turn, delay_s: 300 }
      - { text: Never comes., delay_s: 400 }
    expect: { reason: timeout, elapsed_s: 600 }
""")
    assert done.elapsed_s == 600
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("event", "answer", "at_s"),
    [
        ("cancel: { said: two }", "One two", 0),
        ("cancel: { at_s: 3 }", "One two three", 3),
        ("reader_leaves: { at_s: 1 }", "One two three", 61),
        ("cancel: { request: 1 }", "", 0),
    ],
    ids=["text", "time", "reader", "request"],
)
def test_events_come_at_their_moment(event, answer, at_s):
    passes(f"""
scenarios:
  - name: Interrupted
    model: [{{ text: [One, " two", " three"], hang: true }}]
    events: [{{ {event} }}]
    expect: {{ reason: user_cancelled, answer: "{answer}", elapsed_s: {at_s} }}
""")


def test_a_reader_who_returns_in_time_stops_nothing():
    passes("""
scenarios:
  - name: Back again
    model: [{ text: The answer., delay_s: 90 }]
    events: [reader_leaves: { at_s: 1 }, reader_returns: { at_s: 60 }]
    expect: { reason: completed, answer: The answer. }
""")


@pytest.mark.parametrize(
    ("event", "reason", "at_s"),
    [("cancel", "user_cancelled", 0), ("deadline_passes", "timeout", 120), ("service_stops", "error", 0)],
)
def test_an_event_at_a_notification_comes_before_the_next_tick(event, reason, at_s):
    passes(f"""
scenarios:
  - name: Between two ticks
    model: ["Let me look into the next file now.\\n\\n<signal type='working'></signal>"]
    events: [{event}: {{ notice: fallback }}]
    expect: {{ reason: {reason}, turns: 1, elapsed_s: {at_s} }}
""")


@pytest.fixture
def waiting(tmp_path):
    """A player for the tree that waits for an approval."""
    (tmp_path / "waiting.yaml").write_text(WAITING)
    return Player(TreeLibrary([tmp_path], registry=REGISTRY))


DELIVERED = """
scenarios:
  - name: It waits
    tree: waiting
    model: [{{ text: [One, " two"], delay_s: 2 }}]
    events: [{{ delivery: {{ {event} }} }}]
    expect: {{ reason: completed, elapsed_s: {at_s}, answer: "One two\\n\\nApproved: {value}." }}
"""


@pytest.mark.parametrize(
    ("event", "value", "at_s"),
    [
        ("key: approved, value: true, at_s: 5", True, 5),
        ("key: approved, value: false, at_s: 5", False, 5),
        ("key: approved, value: true, at_s: 0", True, 2),
        ("key: approved, value: true, said: two", True, 2),
    ],
    ids=["in time", "a refusal", "early", "while the model speaks"],
)
def test_a_tree_gets_what_is_delivered(waiting, event, value, at_s):
    (scenario,) = from_yaml(DELIVERED.format(event=event, value=value, at_s=at_s))
    verdict = judge(scenario, waiting.play(scenario))
    assert verdict.passed, verdict.report("")


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        ("key: aproved, value: true", "no key 'aproved' that comes from outside ('from: delivery'); did you mean 'app"),
        ("key: hint, value: Hello.", "the tree 'waiting' has no key 'hint' that comes from outside"),
        ("key: approved, value: 3", "'approved' must be true or false, not 3"),
    ],
)
def test_a_delivery_that_the_tree_does_not_take_is_refused_before_the_query(waiting, event, problem):
    (scenario,) = from_yaml(DELIVERED.format(event=f"{event}, at_s: 1", value=True, at_s=1))
    with pytest.raises(PlayError, match=re.escape(problem)):
        waiting.play(scenario)


def test_severities_are_compared_in_order():
    verdict = played("""
scenarios:
  - name: Severities
    limits: { max_iterations: 2 }
    model: [{ text: A., signal: need_turn, times: 2 }]
    expect: { severities: [warning, info] }
""")
    assert [(each.path, each.stated, each.got) for each in verdict.differences] == [
        (("severities", 1), "info", "error")
    ]


def test_tools_answer_in_order_by_arguments_and_with_errors():
    passes("""
scenarios:
  - name: Tools
    tools:
      search_code:
        - { when: { query: b }, result: about b }
        - first
        - { error: broken }
    model:
      - calls: [search_code: { query: a }, search_code: { query: b }]
      - calls: [search_code: { query: c }]
      - The answer.
    expect:
      calls_run: [search_code: { query: a }, search_code: { query: b }, search_code]
      results: [search_code: first, search_code: about b, search_code: broken]
""")


def test_a_tool_of_the_scenario_is_cancelled_in_mid_call():
    passes("""
scenarios:
  - name: Own tool
    tools: { probe: { group: code, answers: [{ hang: true }] } }
    model: [{ calls: [probe] }]
    events: [cancel: { call: probe }]
    expect:
      reason: user_cancelled
      results: [probe: { starts: "Cancelled" }]
      outcomes: { run_tools: halted }
""")


def test_a_follow_up_inherits_the_type_of_the_earlier_question():
    passes("""
scenarios:
  - name: Follow-up
    question: And the other one?
    history: [{ question: "Where is the class RetryPolicy defined in the code?", answer: In retry.py. }]
    model: [In auth.py.]
    expect: { blackboard: { query_type: code }, requests: [{ offers: [search_code] }] }
""")


def test_a_script_that_is_too_short_or_too_long_is_a_failure():
    short = played("""
scenarios:
  - { name: Short, model: [{ text: More., signal: need_turn }], expect: { reason: completed } }
""")
    assert [(each.stated, each.got) for each in short.differences if not each.path] == [
        ("the model is asked 1 time, as scripted", "2 requests")
    ]
    long = played("""
scenarios:
  - { name: Long, model: [One., Two.], expect: { reason: completed } }
""")
    assert [each.got for each in long.differences] == ["only 1 were asked for"]


def test_a_request_beyond_the_script_is_a_failure_although_nothing_comes_of_it(tmp_path):
    (tmp_path / "twice.yaml").write_text("""\
tree: twice
blackboard: { thoughts: { type: str, default: "" } }
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { tools: false }
    - force_success: { llm_turn: { visible: false, into: thoughts } }
    - stop: completed
""")
    verdict = played(
        "scenarios: [{ name: Twice, tree: twice, model: [Done.], expect: { reason: completed } }]", tmp_path
    )
    assert [each.got for each in verdict.differences] == ["2 requests"]


def test_a_tree_that_does_not_exist_is_named():
    with pytest.raises(UserError, match="did you mean 'oracle'"):
        played("scenarios: [{ name: No tree, tree: oracel, expect: {} }]")


def test_the_same_scenario_is_always_played_the_same():
    text = """
scenarios:
  - name: Twice
    model: [{ calls: [search_code: { query: a }, read_file: { path: b }] }, The answer.]
    expect: {}
"""
    one, other = played(text).played, played(text).played
    assert one.records == other.records
    assert one.chunks == other.chunks


def test_what_happened_can_be_judged_by_the_rules_of_the_tree():
    done = passes("""
scenarios:
  - name: Stuck twice
    model: [{ text: I find nothing., signal: stuck, times: 2 }]
    expect: { reason: stuck }
""")
    events = [event for _, event in events_of(done.facts, done.tree.paths)]
    assert [str(event) for event in events if event.type in ("turn", "explained", "end")] == [
        "turn answer",
        "turn answer",
        "explained stuck",
        "end stuck",
    ]
    assert not Monitors(done.tree.rules).broken_by(events)
    assert [rule.name for rule in done.tree.rules if rule.name == "each_strategy_once"]


def test_a_tree_is_read_again_when_its_file_has_changed(tmp_path):
    scenario = next(
        iter(
            from_yaml(
                """
scenarios:
  - { name: Short, tree: short, model: [An answer.], expect: { reason: completed } }
""",
                file="test.yaml",
            )
        )
    )
    path = tmp_path / "short.yaml"
    player = Player(TreeLibrary([tmp_path], registry=REGISTRY))
    text = "tree: short\nroot:\n  sequence: [classify_query, compose_prompt, llm_turn, stop: completed]\n"
    path.write_text(text, encoding="utf-8")
    assert judge(scenario, player.play(scenario)).passed
    path.write_text(text.replace("stop: completed", "stop: stuck"), encoding="utf-8")
    assert [each.got for each in judge(scenario, player.play(scenario)).differences] == ["stuck"]
