"""Rules as tree files declare them, and what is wrong with some."""

import pytest

from bt_runtime import EventPattern, EventType, HostAction, Registry, TreeFileError, TreeLibrary
from bt_runtime.analysis.files import check_files
from bt_runtime.library.named import read_tree
from tests.bt_runtime.sample_kinds import KEYS, KINDS

TOOL = EventType("tool", "A tool begins to run.", source="actions", refusable=True)
NOTICE = EventType("notify", "A notification.", names=("stuck", "fallback"), fields={"severity": "How bad."})
ACTIONS = {"vault_write": HostAction(("path", "body")), "vault_read": HostAction(("path",)), "free": HostAction(None)}
REGISTRY = Registry(KINDS, KEYS, events=(TOOL, NOTICE)).with_actions(ACTIONS)

ROOT = """
root:
  sequence:
    - set: {hint: "'a'"}
    - has_tool_calls: {name: asked}
"""


def read(rules, root=ROOT):
    return read_tree(f"tree: t\nrules:\n{rules}{root}", file="t.yaml", registry=REGISTRY)


def one(template):
    """A rule with this template, on line 5, from column 5 on."""
    return f"  - name: one\n    text: A sentence.\n    {template}\n"


def mistakes(rules, root=ROOT):
    with pytest.raises(TreeFileError) as caught:
        read(rules, root)
    return [(m.place.line, m.place.column, m.message, m.hint) for m in caught.value.mistakes]


def test_a_rule_has_a_name_a_text_a_template_and_what_enforces_it():
    [rule] = read(one("precedence: {first: {key: hint}, then: {tool: vault_write}}\n    enforce: refuse")).rules

    assert (rule.name, rule.text, rule.template, rule.enforce) == ("one", "A sentence.", "precedence", "refuse")
    assert [(event.type, event.names) for event in rule.events] == [("key", ("hint",)), ("tool", ("vault_write",))]
    assert (rule.tree, rule.place.line) == ("t", 3)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ("tool", EventPattern("tool", fields=None)),
        ("{tool: any}", EventPattern("tool", fields=None)),
        ("{tool: free}", EventPattern("tool", ("free",), fields=None)),
        (
            "{tool: [vault_write, vault_read], where: path == 'a'}",
            EventPattern("tool", ("vault_write", "vault_read"), "path == 'a'", fields=frozenset({"path", "body"})),
        ),
        (
            "{node: asked, result: failure}",
            EventPattern("node", ("asked",), choices=(("result", "failure"),), fields=frozenset({"result"})),
        ),
        (
            "{key: hint, where: value != ''}",
            EventPattern("key", ("hint",), "value != ''", fields=frozenset({"value"})),
        ),
        ("end", EventPattern("end")),
    ],
    ids=str,
)
def test_an_event_is_a_type_with_names_a_condition_and_choices(event, expected):
    [rule] = read(one(f"absence: {event}")).rules

    assert rule.events == (expected,)


def test_templates_that_count_take_the_number_beside_the_event():
    text = one("at_most: {tool: any, times: 3}") + one("existence: tool").replace("one", "two")

    assert [(rule.template, rule.times) for rule in read(text).rules] == [("at_most", 3), ("existence", 1)]


def test_a_template_without_order_takes_a_list_of_two_events():
    [rule] = read(one("not_co_existence: [{tool: vault_write}, {notify: stuck}]")).rules

    assert [event.names for event in rule.events] == [("vault_write",), ("stuck",)]


def test_a_rule_can_begin_after_an_event():
    [rule] = read(one("absence: {tool: vault_write}\n    after: {notify: stuck}")).rules

    assert rule.after == EventPattern("notify", ("stuck",), fields=frozenset({"severity"}))


WRONG = [
    ("absence: {tool: vault_wrte}", (5, 21), "there is no action 'vault_wrte'", "did you mean 'vault_write'?"),
    ("absence: {notify: stck}", (5, 23), "there is no notify 'stck'", "did you mean 'stuck'?"),
    ("absence: {key: hnt}", (5, 20), "there is no blackboard key 'hnt'", "did you mean 'hint'?"),
    ("absence: {delivery: hnt}", (5, 25), "there is no blackboard key 'hnt'", "did you mean 'hint'?"),
    ("absence: {node: askd}", (5, 21), "there is no node 'askd'", "did you mean 'asked'?"),
    ("absence: {tol: any}", (5, 15), "there is no type of events 'tol'", "did you mean 'tool'?"),
    ("absence: tol", (5, 14), "there is no type of events 'tol'", "did you mean 'tool'?"),
    ("absence: [tool]", (5, 14), "an event is a type with a name, not a list", None),
    ("absence: {where: value}", (5, 14), "the event has no type", None),
    ("absence: {tool: any, key: hint}", (5, 26), "an event has one type, not 'tool' and 'key'", None),
    ("absence: {tool: []}", (5, 21), "the list of names is empty", "write 'any' for all"),
    ("absence: {tool: 3}", (5, 21), "'tool' needs a name, a list of names, or 'any', not 3", None),
    ("absence: {node: asked, result: sucess}", (5, 36), "'sucess' is no 'result'", "did you mean 'success'?"),
    ("absence: {node: asked, reslt: success}", (5, 28), "the event 'node' has no 'reslt'", "did you mean 'result'?"),
    (
        "absence: {tool: vault_read, where: body == 1}",
        (5, 40),
        "'tool' events have no 'body'",
        "known names: path",
    ),
    ("absence: {tool: vault_read, where: path ==}", (5, 47), "the expression ends too early", None),
    ("absence: {tool: vault_read, where: 3}", (5, 40), "'where' must be a condition, not 3", "put quotes around it"),
    ("at_most: {tool: any}", (5, 14), "'at_most' needs 'times'", None),
    (
        "exactly: {tool: any, times: 0}",
        (5, 33),
        "'times' must be a whole number from 1 to 1,000, not 0",
        "for none at all, write 'absence'",
    ),
    ("absence: {tool: any, times: 1}", (5, 26), "the event 'tool' has no 'times'", "it has: where"),
    ("precedence: {first: tool}", (5, 17), "'precedence' needs 'then'", None),
    ("precedence: {first: tool, then: tool, than: tool}", (5, 43), "'precedence' has no 'than'", None),
    ("precedence: tool", (5, 17), "'precedence' needs 'first' and 'then', not 'tool'", None),
    ("choice: [tool]", (5, 13), "'choice' needs a list of two events", "choice: [EVENT, EVENT]"),
    ("precedense: {first: tool, then: tool}", (5, 5), "a rule has no 'precedense'", "did you mean 'precedence'?"),
    ("absence: tool\n    existence: tool", (6, 5), "a rule has one template, not 'absence' and 'existence'", None),
    ("enforce: refuse", (3, 5), "the rule has no template", None),
    ("absence: tool\n    enforce: deny", (6, 14), "'deny' is no way to enforce a rule", None),
    (
        "absence: end\n    enforce: refuse",
        (6, 14),
        "nothing that can be refused breaks the rule 'one'",
        "events that can be refused: tool; write 'stop' or 'notify'",
    ),
    (
        "existence: tool\n    enforce: stop",
        (6, 14),
        "only the end of the run can break the rule 'one', so it cannot stop the run",
        "write 'notify'",
    ),
]


@pytest.mark.parametrize(("template", "place", "message", "hint"), WRONG, ids=[each[0] for each in WRONG])
def test_a_mistake_in_a_rule_is_reported_at_its_place(template, place, message, hint):
    found = mistakes(one(template))

    assert (found[0][:2], found[0][2]) == (place, message)
    if hint is not None:
        assert found[0][3] == hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules: no", "'rules' must be a list, not 'no'"),
        ("rules: [no]", "a rule is a mapping, not 'no'"),
        ("rules: [{text: a, absence: tool}]", "the rule has no 'name'"),
        ("rules: [{name: a, absence: tool}]", "the rule has no 'text'"),
        ("rules: [{name: A b, text: a, absence: tool}]", "'A b' cannot name a rule"),
    ],
    ids=lambda each: each[:20],
)
def test_rules_are_a_list_of_mappings_with_a_name_and_a_text(text, message):
    with pytest.raises(TreeFileError) as caught:
        read_tree(f"tree: t\n{text}{ROOT}", file="t.yaml", registry=REGISTRY)

    assert caught.value.mistakes[0].message == message


def test_two_rules_of_one_name_are_a_mistake():
    assert mistakes(one("absence: tool") * 2) == [
        (6, 5, "two rules are called 'one'", "the other one is at t.yaml:3:5")
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("existence: {tool: vault_read, times: 3}", "at_most: {tool: vault_read, times: 2}"),
        ("absence: {tool: vault_read}", "existence: {tool: vault_read}"),
        ("exactly: {tool: vault_read, times: 1}", "exactly: {tool: vault_read, times: 2}"),
    ],
)
def test_counts_that_cannot_both_hold_are_a_mistake(first, second):
    [(line, _, message, _)] = mistakes(one(first) + one(second).replace("one", "two"))

    assert line == 6
    assert message.startswith("the rules 'one' and 'two' cannot both hold: ")


def test_counts_of_different_events_do_not_contradict_each_other():
    both = one("absence: {tool: vault_read}") + one("existence: {tool: vault_write}").replace("one", "two")

    assert len(read(both).rules) == 2


def test_a_thousand_rules_are_too_many():
    many = "".join(one("absence: tool").replace("one", f"r{index}") for index in range(1000))

    [(line, _, message, _)] = mistakes(many)
    assert (line, message) == (3, "a tree has at most 200 rules, those of its subtrees among them")


def test_a_node_is_not_missed_where_nodes_have_mistakes():
    found = mistakes(one("absence: {node: asked}"), root="\nroot: {sequence: [{has_tool_cals: {name: asked}}]}\n")

    assert [message for _, _, message, _ in found] == ["there is no node kind 'has_tool_cals'"]


def test_the_rules_of_subtrees_hold_for_the_whole_run_and_may_name_its_keys(tmp_path):
    below = "tree: below\nblackboard: {count: int}\nrules:\n" + one("absence: {key: count}") + ROOT
    above = "tree: above\nrules:\n" + one("absence: {node: below/sequence/asked}").replace("one", "two")
    above += one("absence: {key: count}").replace("one", "three")
    (tmp_path / "below.yaml").write_text(below)
    (tmp_path / "above.yaml").write_text(above + "root: {subtree: {tree: below, name: below}}\n")

    rules = TreeLibrary([tmp_path], registry=REGISTRY).load("above").rules

    assert [(rule.name, rule.tree) for rule in rules] == [("two", "above"), ("three", "above"), ("one", "below")]
    assert rules[2].place.file.endswith("below.yaml")


def test_the_version_of_a_tree_changes_with_its_rules():
    assert read(one("absence: tool")).sha != read(one("absence: {tool: free}")).sha


def test_names_are_not_checked_where_the_host_is_not_known():
    unknown = Registry(KINDS, KEYS, events=(TOOL,))
    text = f"tree: t\nrules:\n{one('absence: {tool: what, where: a == 1}')}{ROOT}"
    tree = read_tree(text, file="t.yaml", registry=unknown)

    assert tree.rules[0].events[0].fields is None


def test_a_rule_that_repeats_one_of_a_subtree_counts_once_and_another_one_of_its_name_is_a_mistake(tmp_path):
    rule = "rules:\n  - {name: one, text: None., absence: tool}\n"
    (tmp_path / "below.yaml").write_text(f"tree: below\n{rule}root: {{condition: turn > 0}}\n")
    above = tmp_path / "above.yaml"
    library = TreeLibrary([tmp_path], registry=REGISTRY)

    above.write_text(f"tree: above\n{rule}root: {{subtree: below}}\n")
    (file,) = check_files(library, [above]).files
    assert file.tree is not None
    assert [each.name for each in file.tree.rules] == ["one"]

    above.write_text(f"tree: above\n{rule.replace('absence', 'existence')}root: {{subtree: below}}\n")
    assert "two rules are called 'one'" in [each.message for each in check_files(library, [above]).mistakes]
