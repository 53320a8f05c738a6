"""Completion while typing: texts with a cursor (`|`), most of them not valid YAML at that moment."""

from pathlib import Path

import pytest

from bt_runtime.language.rule import TEMPLATES
from tests.oracle.features.editing.desks import accepted, completed

HEAD = """\
tree: mine
blackboard:
  nudges: { type: int, default: 0, description: How often. }
parameters:
  every: { type: int, default: 3 }
root:
"""

OFFERED = {
    "header fields in an empty file": ("|", {"tree", "blackboard", "root"}, {"sequence"}),
    "header fields that are missing": (HEAD + "|", {"description", "internal"}, {"tree", "root", "blackboard"}),
    "a header field that is typed": ("tree: mine\nro|", {"root"}, {"tree"}),
    "the name of the file": ("tree: |", {"mine"}, {"root"}),
    "true and false for internal": ("internal: |", {"true", "false"}, set()),
    "a new key, and the host's for another default": (
        "blackboard:\n  |",
        {"name: { type, default }", "max_turns"},
        set(),
    ),
    "types behind a key": ("blackboard:\n  a: |", {"int", "str", "any"}, {"default"}),
    "types in brackets": ("blackboard:\n  a: { type: |", {"int", "bool"}, {"default"}),
    "fields of a declaration": ("blackboard:\n  a: { type: int, |", {"default", "description"}, {"type", "int"}),
    "fields of a declaration on lines of their own": ("parameters:\n  a:\n    |", {"type", "default"}, set()),
    "values of a bool": ("parameters:\n  a:\n    type: bool\n    default: |", {"true", "false"}, {"int"}),
    "kinds at the root": (HEAD + "  |", {"sequence", "loop", "llm_turn"}, {"until", "tree"}),
    "kinds in a list": (HEAD + "  sequence:\n    - |", {"sequence", "stop"}, {"until"}),
    "kinds in a list at the same indentation": ("root:\n  sequence:\n  - finish\n  - co|", {"condition"}, {"until"}),
    "kinds half typed": (HEAD + "  sequence:\n    - con|", {"condition"}, set()),
    "kinds in brackets": (HEAD + "  sequence: [turn_budget, |]", {"run_tools", "token_budget"}, {"until"}),
    "kinds in brackets over lines": (HEAD + "  sequence: [turn_budget,\n    |", {"run_tools"}, {"until"}),
    "kinds behind the slot of a decorator": (HEAD + "  loop:\n    child: |", {"sequence"}, {"until"}),
    "kinds directly below a decorator": (HEAD + "  inverter:\n    |", {"condition", "child"}, set()),
    "guards in brackets": (
        HEAD + "  loop: { guards: [cancelled, |",
        {"deadline", "condition"},
        {"llm_turn", "run_tools", "sequence", "wait", "set"},
    ),
    "guards in a list": (
        HEAD + "  loop:\n    guards:\n      - |",
        {"cancelled", "condition"},
        {"llm_turn", "say", "loop"},
    ),
    "what stands below a guard": (
        HEAD + "  loop:\n    guards:\n      - inverter:\n          |",
        {"condition", "sequence"},
        {"until"},
    ),
    "settings and slots": (HEAD + "  loop:\n    |", {"until", "guards", "child", "name"}, {"attempts"}),
    "settings that are missing": (HEAD + "  loop:\n    until: turn > 3\n    |", {"guards", "child"}, {"until"}),
    "settings above others": (HEAD + "  loop:\n    |\n    child: finish", {"until"}, {"attempts"}),
    "settings in brackets": (HEAD + "  retry: { attempts: 3, |", {"backoff_s", "child"}, {"attempts"}),
    "settings of a node in a list": (HEAD + "  sequence:\n    - retry:\n        |", {"attempts"}, {"until"}),
    "settings behind a broken line": (HEAD + "  sequence:\n    - : }{\n    - retry:\n        |", {"attempts"}, set()),
    "settings below a comment": (HEAD + "  retry:\n    # why\n    at|", {"attempts"}, set()),
    "values of a choice": (HEAD + "  stop: |", {"completed", "stuck", "error"}, {"turn"}),
    "values of a choice below its name": (HEAD + "  stop: { reason: |", {"completed"}, {"turn"}),
    "topics": (HEAD + "  notify: { topic: |", {"stuck", "capability_gap"}, {"turn"}),
    "severities": (HEAD + "  notify:\n    severity: |", {"info", "warning", "error"}, {"stuck"}),
    "booleans": (HEAD + "  llm_turn: { visible: |", {"true", "false"}, set()),
    "names in an expression": (HEAD + "  condition: |", {"turn", "nudges", "every", "len", "not"}, {"sequence"}),
    "names behind an operator": (HEAD + "  condition: turn > t|", {"turn_limit", "tool_calls"}, set()),
    "names in a quoted expression": (HEAD + '  condition: "turn > |', {"turn_limit", "nudges"}, set()),
    "names in a block of text": (HEAD + "  condition: >\n    turn > |", {"turn_limit"}, set()),
    "names in an expression in brackets": (HEAD + "  loop: { until: |", {"termination_reason"}, {"child"}),
    "the cases of a switch": (
        HEAD + "  switch:\n    value: query_type\n    cases:\n      code: |",
        {"sequence"},
        {"until"},
    ),
    "a number that may be an expression": (HEAD + "  retry: { attempts: |", {"every", "nudges"}, {"child"}),
    "outputs of a tree": (HEAD + "  subtree: { tree: remind, out: { |", {"found"}, {"of", "turn"}),
    "keys for outputs": (HEAD + "  subtree: { tree: remind, out: { found: |", {"nudges"}, {"turn"}),
    "keys from outside": (
        "blackboard:\n  ok: { type: bool, from: delivery }\nroot:\n  wait: { for: |",
        {"ok"},
        {"turn"},
    ),
    "fields and templates of a rule": ("rules:\n  - |", {"name", "text", "precedence", "absence"}, {"tree", "first"}),
    "what a rule has not yet": (
        "rules:\n  - name: a\n    absence: turn\n    |",
        {"text", "enforce"},
        {"name", "response"},
    ),
    "events": ("rules:\n  - absence: { |", {"tool", "node", "key", "end"}, {"first", "absence"}),
    "events of a pair": ("rules:\n  - precedence:\n      |", {"first", "then"}, {"tool"}),
    "an event of a pair": ("rules:\n  - precedence: { first: { |", {"tool", "delivery"}, {"then"}),
    "events of a list": ("rules:\n  - choice: [{ |", {"tool"}, {"first"}),
    "tools in a rule": ("rules:\n  - absence: { tool: |", {"search_code", "any"}, {"turn"}),
    "keys in a rule": ("blackboard: { mine: int }\nrules:\n  - absence: { key: |", {"mine", "turn"}, {"search_code"}),
    "results of a node": ("rules:\n  - absence: { node: a, result: |", {"success", "failure"}, {"a"}),
    "fields of an event": ("rules:\n  - absence: { key: turn, where: |", {"value"}, {"turn"}),
    "how often": ("rules:\n  - at_most: { tool: any, |", {"times", "where"}, {"tool"}),
    "ways to enforce a rule": ("rules:\n  - enforce: |", {"refuse", "stop", "notify"}, {"name"}),
    "nothing behind a dot": (HEAD + "  condition: found.|", set(), {"turn"}),
    "values of a key, in quotes": (HEAD + "  condition: signal == |", {'"need_turn"', '"stuck"'}, set()),
    "values of a key inside of quotes": (HEAD + '  condition: signal == "|', {"need_turn", "stuck"}, {"turn"}),
    "values of a key in a list": (HEAD + "  condition: query_type in ['code', '|", {"research"}, {"turn"}),
    "nothing inside of another text": (HEAD + "  condition: question == '|", set(), {"turn", "stuck"}),
    "keys that can be set": (HEAD + "  set: { |", {"nudges", "hint"}, {"turn"}),
    "keys that can be set, on lines": (HEAD + "  set:\n    nudges: 1\n    |", {"hint"}, {"turn", "nudges"}),
    "the value of a key that is set": (HEAD + "  set: { nudges: |", {"turn", "nudges", "every"}, {"sequence"}),
    "keys for a result": (HEAD + "  llm_turn: { into: |", {"nudges", "hint"}, {"turn"}),
    "keys in a message": (HEAD + '  say: "I lack {|', {"capability", "nudges"}, {"every"}),
    "keys in a closed placeholder": (HEAD + '  notify: { message: "{ca|} is missing" }', {"capability"}, set()),
    "parameters in a setting": (HEAD + '  retry: { attempts: "${|', {"every"}, {"turn"}),
    "trees": (HEAD + "  subtree: |", {"fallback", "use_tools"}, {"mine", "turn"}),
    "parameters of a tree": (HEAD + "  subtree: { tree: remind, with: { |", {"of", "often"}, {"turn"}),
    "parameters of a tree that are missing": (
        HEAD + "  subtree:\n    tree: remind\n    with:\n      of: x\n      |",
        {"often"},
        {"of"},
    ),
    "tools": (HEAD + "  action: |", {"search_code"}, {"turn"}),
    "arguments of a tool": (HEAD + "  action:\n    call: search_code\n    with: { |", {"query", "limit"}, {"turn"}),
    "the value of an argument": (HEAD + "  action: { call: search_code, with: { query: |", {"question"}, {"limit"}),
    "codes to silence": (HEAD + "  finish # silence |", {"never-reached"}, {"finish"}),
    "nothing in other comments": (HEAD + "  finish # a comment |", set(), {"never-reached", "sequence"}),
    "nothing behind a value": (HEAD + "  llm_turn: { visible: true |", set(), {"false", "timeout_s"}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parameters = "{ of: str, often: { type: int, default: 2, description: In turns. } }"
    (tmp_path / "remind.yaml").write_text(
        "tree: remind\ndescription: Reminds.\nblackboard: { found: { type: str, private: true } }\n"
        f"parameters: {parameters}\nroot: {{ set: {{ hint: of }} }}\n"
    )
    return tmp_path


@pytest.mark.parametrize(("marked", "offered", "not_offered"), OFFERED.values(), ids=OFFERED)
def test_what_can_be_typed(marked: str, offered: set[str], not_offered: set[str], folder: Path) -> None:
    labels = set(completed(marked, folder))
    assert offered <= labels
    assert not not_offered & labels
    if not offered:
        assert labels == set()


TAKEN = {
    "a kind": (HEAD + "  sequence:\n    - fin|", "finish", "    - finish"),
    "a setting": (HEAD + "  loop:\n    un|", "until", "    until: "),
    "only the name of a setting that is there": (HEAD + "  loop:\n    un|il: turn", "until", "    until: turn"),
    "a word of an expression": (HEAD + "  condition: turn > tur|", "turn_limit", "  condition: turn > turn_limit"),
    "the middle of a word": (HEAD + "  condition: tu|rn > 3", "tool_calls", "  condition: tool_calls > 3"),
    "a value in quotes": (HEAD + '  condition: signal == "ne|"', "need_turn", '  condition: signal == "need_turn"'),
    "a value without quotes yet": (
        HEAD + '  condition: "signal == |"',
        "'stuck'",
        "  condition: \"signal == 'stuck'\"",
    ),
    "a placeholder": (HEAD + '  say: "I lack {ca|"', "capability", '  say: "I lack {capability}"'),
    "a placeholder with its brace": (HEAD + '  say: "I lack {ca|}."', "capability", '  say: "I lack {capability}."'),
    "a parameter": (HEAD + "  retry:\n    attempts: ${|", "every", "    attempts: ${every}"),
    "a code": (HEAD + "  finish # silence nev|", "never-reached", "  finish # silence never-reached: "),
}


@pytest.mark.parametrize(("marked", "label", "line"), TAKEN.values(), ids=TAKEN)
def test_a_proposal_replaces_what_is_typed(marked: str, label: str, line: str, folder: Path) -> None:
    assert accepted(marked, label, folder).split("\n")[-1] == line


SNIPPETS = {
    "a list of nodes": (HEAD + "  |", "sequence", "  sequence:\n    - $0"),
    "a list of nodes in a list": (HEAD + "  sequence:\n    - |", "selector", "    - selector:\n        - $0"),
    "a choice": (HEAD + "  notify: { |", "severity", "  notify: { severity: ${1|info,warning,error|}"),
    "a slot": (HEAD + "  loop:\n    |", "child", "    child:\n      $0"),
    "what is required": (HEAD + "  |", "retry", "  retry:\n    attempts: $1\n    child:\n      $0"),
    "in brackets": (HEAD + "  sequence: [|]", "condition", '  sequence: [{ condition: "$1" }]'),
    "behind a key": (HEAD + "  loop:\n    child: |", "sequence", "    child: { sequence: [$1] }"),
}


@pytest.mark.parametrize(("marked", "label", "end"), SNIPPETS.values(), ids=SNIPPETS)
def test_snippets_have_what_the_kind_must_have(marked: str, label: str, end: str, folder: Path) -> None:
    # An editor indents the further lines of a snippet like the line that it is inserted into.
    text = accepted(marked, label, folder, snippet=True)
    first = marked.count("\n")
    head, *rest = text.split("\n")[first:]
    indent = " " * (len(head) - len(head.lstrip(" ")))
    assert "\n".join([head, *(indent + line for line in rest)]) == end


def test_proposals_say_what_they_mean(folder: Path) -> None:
    assert "RUNNING while the model responds" in completed(HEAD + "  |", folder)["llm_turn"].doc
    until = completed(HEAD + "  loop:\n    |", folder)["until"]
    assert "nds the loop when true" in until.doc
    assert completed(HEAD + "  llm_turn:\n    |", folder)["timeout_s"].detail == "number, more than 0, default `null`"
    assert "How often." in completed(HEAD + "  condition: |", folder)["nudges"].doc
    assert "Reminds." in completed(HEAD + "  subtree: |", folder)["remind"].doc
    assert "In turns." in completed(HEAD + "  subtree: { tree: remind, with: { |", folder)["often"].doc
    assert "Finds code." in completed(HEAD + "  action: |", folder)["search_code"].doc


def test_what_is_required_comes_first(folder: Path) -> None:
    assert next(iter(completed(HEAD + "  retry:\n    |", folder))) == "attempts"
    assert next(iter(completed(HEAD + "  action:\n    call: search_code\n    with: { |", folder))) == "query"


HOSTILE = [
    "\0",
    "{" * 3000,
    "- " * 3000,
    "a: " * 3000,
    '"' + "x" * 3000,
    "\t\t-",
    "? |",
    "\u2028root:\r  x",
    "a" * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_makes_completion_fail(text: str, folder: Path) -> None:
    assert isinstance(completed(HEAD + text + "|", folder), dict)


def test_every_template_of_rules_has_a_description(folder: Path) -> None:
    offered = completed("rules:\n  - |", folder)
    assert [name for name in TEMPLATES if not offered[name].doc] == []
