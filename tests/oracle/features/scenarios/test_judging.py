"""What is stated is compared, each form in its way; only what is stated."""

import pytest

from tests.oracle.features.scenarios.playing import played

QUERY = """
scenarios:
  - name: Several things
    tools: {{ search_code: {{ result: found, sources: [code: a.py] }} }}
    model:
      - {{ text: Looking., thinking: Hm., calls: [search_code: {{ query: a, limit: 3 }}] }}
      - {{ text: I find nothing., signal: stuck }}
      - {{ text: The end., signal: partial_answer }}
    expect: {{ {expect} }}
"""

HOLDS = [
    "reason: completed, turns: 3, asked: 3, tokens: 150, elapsed_s: 0, thinking: Hm.",
    "answer: { contains: [Looking, nothing, The end], lacks: Stopped, starts: Look, ends: end. }",
    "notices: [fallback], errors: []",
    "notices: [fallback: { contains: stuck }]",
    "signals: [none: tools, stuck, partial_answer: completed]",
    "calls_run: [search_code]",
    "calls_run: [search_code: { query: a }]",
    "results: [search_code: found]",
    "chunks: [thinking: Hm., content, tool_call: { search_code: { limit: 3 } }, tool_result: found, source: a.py]",
    "chunks: [source: a.py, system: fallback, content: { contains: end }, done: completed]",
    "chunks: [tool_call: search_code, system: { fallback: { starts: The agent } }]",
    "requests: [{ tool_choice: auto }, { nth: 3, offers: [vault_search], sends: { contains: Continue. } }]",
    "requests: [{}, { sends: found, note: '', wrap_up: false }]",
    "requests: [{ model: null }, { model: '' }]",
    "visited: [{ llm_turn: 3 }, fallback/other_strategy], not_visited: [give_up, fallback/still_working]",
    "outcomes: { run_tools: success, fallback: success, turns/sequence: success }",
    "blackboard: { strategies_tried: [use_untried_tools], tools_tried: [search_code] }",
]
FAILS = [
    ("reason: stuck", "reason", "stuck", "completed"),
    ("turns: 2", "turns", "2", "3"),
    ("answer: Looking.", "answer", "Looking.", "'Looking.\\n\\nI find nothing.\\n\\nThe end.'"),
    ("answer: { contains: [nothing, Looking] }", "answer", "{contains: [nothing, Looking]}", "'Looking."),
    ("answer: { lacks: [Looking] }", "answer", "{lacks: [Looking]}", "'Looking."),
    ("notices: []", "notices", "0 in all", "1; further ones: {fallback: The agent is stuck."),
    ("notices: [fallback, stuck]", "notices", "stuck", "nothing; there are 1 in all"),
    ("notices: [stuck]", "notices", "stuck", "{fallback: "),
    ("calls_run: [search_code: { query: b }]", "calls_run", "{search_code: {query: b}}", "{search_code: {query: a, li"),
    ("chunks: [system, thinking]", "chunks", "thinking", "not among what followed: {content: '\\n\\nThe end."),
    ("requests: [{ nth: 4 }]", "requests", "a request number 4", "there were 3"),
    ("requests: [{ tools: [] }]", "requests", "[]", "[search_code, read_file, list_files, "),
    ("requests: [{ lacks: [read_file] }]", "requests", "[read_file]", "[search_code, "),
    ("visited: [give_up]", "visited", "give_up: visited", "not visited"),
    ("visited: [llm_turn: 2]", "visited", "llm_turn: visited 2 times", "visited 3 times"),
    ("not_visited: [fallback]", "not_visited", "fallback: not visited", "visited once"),
    ("visited: [falback]", "visited", "falback", "the tree has no such node"),
    ("outcomes: { run_tools: failure }", "outcomes", "run_tools: failure", "success"),
    ("blackboard: { reminders: 2 }", "blackboard", "reminders: 2", "0"),
    ("blackboard: { reminder: 1 }", "blackboard", "reminder", "there is no such key"),
]


@pytest.mark.parametrize("expect", HOLDS)
def test_what_happened_is_as_stated(expect):
    verdict = played(QUERY.format(expect=expect))
    assert verdict.passed, verdict.report("")
    assert verdict.report("") == ""


@pytest.mark.parametrize(("expect", "what", "stated", "got"), FAILS, ids=[each[0] for each in FAILS])
def test_a_difference_says_what_was_stated_and_what_happened(expect, what, stated, got):
    (difference,) = played(QUERY.format(expect=expect)).differences
    assert difference.path[0] == what
    assert difference.stated == stated
    assert difference.got.startswith(got)


def test_a_mistyped_node_or_key_has_a_suggestion():
    (node,) = played(QUERY.format(expect="visited: [fallback/other_strategi]")).differences
    (key,) = played(QUERY.format(expect="blackboard: { reminder: 1 }")).differences
    assert node.hint == "did you mean 'other_strategy'?"
    assert key.hint == "did you mean 'reminders'?"


def test_a_long_story_is_shortened():
    rounds = ", ".join(
        f"{{ text: A., calls: [{tool}], times: 2 }}, {{ text: A., signal: need_turn }}"
        for tool in ("search_code", "read_file", "list_files", "search_code", "read_file", "list_files")
    )
    verdict = played(f"""
scenarios:
  - {{ name: Long, limits: {{ max_iterations: 50 }}, model: [{rounds}, The end.], expect: {{ reason: stuck }} }}
""")
    lines = verdict.report("").splitlines()
    assert sum("more ticks" in line for line in lines) == 1
    assert len(lines) < 55


def test_control_characters_are_shown_as_escapes():
    verdict = played("""
scenarios:
  - { name: Hostile, model: ["\\e[31mred"], expect: { answer: "\\e[32mgreen" } }
""")
    report = verdict.report("")
    assert "\x1b" not in report
    assert "[31mred" in report
