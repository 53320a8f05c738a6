"""The readable difference between two versions of a tree."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import TreeDefinition, TreeLibrary, difference
from bt_runtime.testing import registry_of

REGISTRY = registry_of()
LIBRARY = TreeLibrary((), registry=REGISTRY)


def tree(root: str, head: str = "") -> TreeDefinition:
    return LIBRARY.read_text(f"tree: some\n{head}\nroot: {root}\n")


ONE, TWO, THREE = ("{scripted: [SUCCESS]}", "{scripted: [FAILURE]}", "{scripted: [FAILURE, SUCCESS]}")

CASES = {
    "nothing but layout": (
        f"{{sequence: [{ONE}]}}",
        f"{{sequence: [  {ONE}  ]}} # why",
        "no difference but in layout or comments",
    ),
    "a setting": (
        "{retry: {attempts: 2, child: {scripted: [SUCCESS]}}}",
        "{retry: {attempts: 3, child: {scripted: [SUCCESS]}}}",
        "~ retry: attempts 2 -> 3",
    ),
    "a node in front, which changes the numbers of its siblings": (
        f"{{sequence: [{ONE}, {TWO}]}}",
        f"{{sequence: [{THREE}, {ONE}, {TWO}]}}",
        "+ sequence/scripted: statuses ['FAILURE', 'SUCCESS']",
    ),
    "a node removed": (
        f"{{sequence: [{ONE}, {TWO}]}}",
        f"{{sequence: [{TWO}]}}",
        "- sequence/scripted: statuses ['SUCCESS']",
    ),
    "a subtree removed, told once": (
        f"{{sequence: [{ONE}, {{selector: [{TWO}, {THREE}]}}]}}",
        f"{{sequence: [{ONE}]}}",
        "- sequence/selector: 3 nodes",
    ),
    "the order of siblings": (
        f"{{sequence: [{ONE}, {{inverter: {TWO}}}]}}",
        f"{{sequence: [{{inverter: {TWO}}}, {ONE}]}}",
        "> sequence/inverter: to another place among its siblings",
    ),
    "a node into another place": (
        f"{{sequence: [{{selector: [{ONE}, {TWO}]}}, {{sequence: [{ONE}]}}]}}",
        f"{{sequence: [{{selector: [{ONE}]}}, {{sequence: [{ONE}, {TWO}]}}]}}",
        "> sequence/sequence/scripted#2: from sequence/selector/scripted#2",
    ),
    "a node that is wrapped": (
        f"{{sequence: [{ONE}, {TWO}]}}",
        f"{{sequence: [{ONE}, {{inverter: {TWO}}}]}}",
        "+ sequence/inverter\n> sequence/inverter/scripted: from sequence/scripted#2",
    ),
    "a subtree that is moved and changed": (
        f"{{sequence: [{{sequence: {{name: a, children: [{ONE}, {TWO}, {THREE}]}}}}, {{selector: [{ONE}]}}]}}",
        f"{{sequence: [{{selector: [{ONE}, {{sequence: {{name: a, children: [{ONE}, {TWO}, {TWO}]}}}}]}}]}}",
        """> sequence/selector/a: from sequence/a
~ sequence/selector/a/scripted#3: statuses ['FAILURE', 'SUCCESS'] -> ['FAILURE']""",
    ),
    "another kind at the root": (ONE, f"{{inverter: {ONE}}}", "+ inverter\n> inverter/scripted: from scripted"),
}


@pytest.mark.parametrize(("old", "new", "text"), CASES.values(), ids=CASES)
def test_a_difference_is_told_in_terms_of_the_tree(old: str, new: str, text: str) -> None:
    found = difference(tree(old), tree(new))
    assert str(found) == text
    assert bool(found) is ("no difference" not in text)


def test_keys_parameters_and_the_head_are_compared() -> None:
    old = tree(
        ONE,
        "blackboard: {n: {type: int, default: 1}, gone: str}\n"
        "parameters: {p: {type: int, default: 2}, q: str, r: str, s: {type: bool, default: true}}",
    )
    new = tree(
        ONE,
        "description: New.\ninternal: true\nblackboard: {n: {type: float, default: 3}, come: bool}\n"
        "parameters: {p: int, q: {type: str, default: x}, s: {type: bool, default: true}, t: list}",
    )
    assert str(difference(old, new)).splitlines() == [
        "~ tree: description '' -> 'New.'",
        "~ tree: internal false -> true",
        "~ parameter p: default 2 -> null, required now",
        "~ parameter q: default null -> 'x', optional now",
        "- parameter r",
        "+ parameter t: list, required",
        "- key gone",
        "~ key n: type 'int' -> 'float', default 1 -> 3",
        "+ key come: bool, default null",
    ]


def test_the_arguments_of_an_included_tree_are_told_once(tmp_path: Path) -> None:
    inner = "tree: inner\nparameters: {p: int}\nroot: {sequence: [{condition: p > 1}, {condition: p > 2}]}\n"
    (tmp_path / "inner.yaml").write_text(inner, encoding="utf-8")
    library = TreeLibrary([tmp_path], registry=REGISTRY)
    old, new = (
        library.read_text(f"tree: outer\nroot: {{subtree: {{tree: inner, with: {{p: {value}}}}}}}\n")
        for value in (1, 2)
    )
    assert str(difference(old, new)).splitlines() == [
        "~ subtree: with {'p': 1} -> {'p': 2}",
        "~ subtree/sequence: p 1 -> 2",
    ]


def test_a_long_difference_is_cut_with_the_number_of_the_rest() -> None:
    old, new = (
        tree(f"{{sequence: [{', '.join(f'{{condition: {at} == {by}}}' for at in range(120))}]}}") for by in (1, 2)
    )
    lines = str(difference(old, new)).splitlines()
    assert lines[0] == "~ sequence/condition: when '0 == 1' -> '0 == 2'"
    assert len(lines) == 101
    assert lines[-1] == "and 20 more changes"


NODES = st.recursive(
    st.sampled_from([ONE, TWO, THREE]),
    lambda below: st.one_of(
        st.lists(below, min_size=1, max_size=4).map(lambda nodes: f"{{sequence: [{', '.join(nodes)}]}}"),
        st.lists(below, min_size=1, max_size=4).map(lambda nodes: f"{{selector: [{', '.join(nodes)}]}}"),
        below.map(lambda node: f"{{inverter: {node}}}"),
    ),
    max_leaves=12,
)


@given(NODES, NODES)
def test_any_two_trees_can_be_compared_and_only_equal_ones_do_not_differ(old: str, new: str) -> None:
    one, other = tree(old), tree(new)
    found = difference(one, other)
    assert bool(found) is (old != new)
    for change in found.changes:
        assert change.what in (one.paths if change.kind == "removed" else other.paths)
