"""Labels of actions as tree files declare them, rules about what flows, and what is wrong with some."""

import pytest

from bt_runtime import EventPattern, EventType, HostAction, Registry, TreeFileError
from bt_runtime.library.named import read_tree
from tests.bt_runtime.sample_kinds import KEYS, KINDS

RESULT = EventType(
    "result", "A tool returns.", source="actions", fields={"tool_labels": "Its labels."}, verb="reads",
    labels={"private": "public", "untrusted": "trusted"},
)  # fmt: skip
TOOL = EventType(
    "tool", "A tool begins.", source="actions", fields={"is_approved": "It is.", "tool_labels": "Its labels."},
    refusable=True, verb="writes", labels={"outward": "inward"},
)  # fmt: skip
ACTIONS = {
    "mail.read": HostAction(None, labels=frozenset({"untrusted"})),
    "mail.send": HostAction(None),
    "clock": HostAction(None, labels=frozenset({"trusted", "inward"})),
}
REGISTRY = Registry(KINDS, KEYS, events=(RESULT, TOOL)).with_actions(ACTIONS)


def read(labels="", flow="", registry=REGISTRY):
    rules = f"rules:\n  - {{ name: one, text: A sentence., no_flow: {flow}, enforce: refuse }}\n" if flow else ""
    head = f"labels:\n  {labels}\n" if labels else ""
    root = "root: { sequence: [ { set: { hint: \"'a'\" } } ] }\n"
    return read_tree(f"tree: t\n{head}{rules}{root}", file="t.yaml", registry=registry)


def mistakes(**parts):
    with pytest.raises(TreeFileError) as caught:
        read(**parts)
    return [f"{m.message}; {m.hint}" for m in caught.value.mistakes]


def test_what_flows_is_what_must_not_follow_what():
    [rule] = read(flow="{ from: [untrusted, private], to: outward, unless: approved }").rules
    first = EventPattern(
        "result", None, "'untrusted' in tool_labels or 'private' in tool_labels", fields=frozenset({"tool_labels"})
    )
    then = EventPattern(
        "tool", None, "('outward' in tool_labels) and not is_approved",
        fields=frozenset({"is_approved", "tool_labels"}),
    )  # fmt: skip
    assert (rule.template, rule.events, rule.enforce) == ("not_succession", (first, then), "refuse")


def test_labels_are_those_of_names_and_patterns_in_the_order_of_the_file():
    tree = read('"mail.*": { reads: [private, untrusted] }\n  mail.send: { writes: outward }')
    assert tree.labels == (("mail.*", frozenset({"private", "untrusted"})), ("mail.send", frozenset({"outward"})))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            "mail.send: outward",
            "labels are a mapping, not 'outward'; for example: labels: { send_mail: { writes: outward } }",
        ),
        ("mail.send: { write: outward }", "labels have no 'write'; did you mean 'writes'?"),
        ("mail.send: { writes: 7 }", "7 is no label of what a tool writes; one of: outward, inward"),
        ("mail.send: { reads: untrustd }", "'untrustd' is no label of what a tool reads; did you mean 'untrusted'?"),
        (
            "mail.send: { reads: [untrusted, trusted] }",
            "'untrusted' and 'trusted' contradict each other; keep one of them",
        ),
        (
            "mail.read: { reads: trusted }",
            "'mail.read' is labelled 'untrusted' where it is defined, and 'trusted' here; remove one of the two",
        ),
        (
            '"c*": { writes: outward }',
            "'clock' is labelled 'inward' where it is defined, and 'outward' here; remove one of the two",
        ),
        (
            '"mail.s*": { writes: inward }\n  "*.send": { writes: outward }',
            "'*.send' and 'mail.s*' mean the same tool, and say 'outward' and 'inward'; the other one is at t.yaml:3:3",
        ),
        ("mail.sent: { writes: outward }", "there is no action 'mail.sent'; did you mean 'mail.send'?"),
    ],
)
def test_what_is_wrong_with_labels_is_said_at_its_place(labels, message):
    assert mistakes(labels=labels) == [message]


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ("untrusted", "'no_flow' needs 'from' and 'to', not 'untrusted'; no_flow: {"),
        ("{ from: untrusted }", "'no_flow' needs 'to'; no_flow: {"),
        (
            "{ from: outward, to: outward }",
            "'outward' is no label that something flows from; one of: private, untrusted",
        ),
        ("{ from: untrusted, to: outwrad }", "'outwrad' is no label that something flows to; did you mean 'outward'?"),
        ("{ from: [], to: outward }", "[] is no label that something flows from; one of:"),
        ("{ from: { a: b }, to: outward }", "{'a': 'b'} is no label that something flows from; one of:"),
        ("{ from: untrusted, to: outward, unless: aproved }", "'aproved' excuses no call; one of: approved"),
        ("{ from: untrusted, to: outward, but: approved }", "'no_flow' has no 'but'; no_flow: {"),
    ],
)
def test_what_is_wrong_with_a_flow_is_said(flow, message):
    assert mistakes(flow=flow)[0].startswith(message)


def test_without_labels_of_the_host_nothing_is_known_of_flows():
    found = mistakes(flow="{ from: untrusted, to: outward }", registry=Registry(KINDS, KEYS))
    assert found[0].startswith("the host's actions have no labels")


def test_labels_that_would_fill_the_memory_are_refused():
    many = "\n  ".join(f"'tool{number}*': {{ writes: outward }}" for number in range(201))
    assert mistakes(labels=many) == [
        "a tree labels at most 200 names, those of its subtrees among them; use patterns, such as 'mail.*'"
    ]
