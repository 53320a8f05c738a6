"""The flow of control, against random runs of random trees of the runtime's kinds."""

import asyncio
import json
from collections.abc import Callable, Collection
from dataclasses import replace
from time import thread_time

import pytest
from hypothesis import given

from bt_runtime import Decorator, NoSettings, Status, node
from bt_runtime.analysis.expressions.domains import of_values
from bt_runtime.analysis.files import warnings_of
from bt_runtime.analysis.flow import Flow, flow_of
from bt_runtime.analysis.host import Budget, HostChecks, OverBudgetError, Transfer
from bt_runtime.analysis.states import EndStates
from bt_runtime.language.kind import Case, leaf
from bt_runtime.language.registry import Registry
from bt_runtime.library.named import read_tree
from bt_runtime.testing import registry_of
from tests.bt_runtime.replays.test_replaying import EVENTS, PROPERTY, TREES, Work, recorded_run
from tests.bt_runtime.running import tree

HOST = HostChecks(volatile=frozenset({"cancel_requested", "count"}))
RESULTS = {"SUCCESS": "success", "FAILURE": "failure", "RUNNING": "waiting"}
KEYS = {"count": {"type": "int", "default": 0}, "found": "any"}
DECLARED = {
    "work": leaf(Case("success", writes={"found": None}), Case("failure"), Case("waiting", writes={"found": None})),
    "scripted": leaf(Case("success"), Case("failure"), Case("waiting")),
}


def declared() -> Registry:
    """The kinds of the random trees, with what they do."""
    known = registry_of([Work.kind])
    kinds = [replace(kind, flow=DECLARED.get(kind.name, kind.flow)) for kind in known.kinds.values()]
    return Registry(kinds, known.keys.values(), checks=__name__)


@PROPERTY
@given(TREES, EVENTS)
def test_what_the_flow_calls_impossible_does_not_happen(spec, events):
    text = json.dumps({"tree": "demo", "blackboard": KEYS, "root": spec})
    definition, _, _, recording, _ = asyncio.run(recorded_run(text, events))
    undeclared = registry_of([Work.kind])
    for registry in (declared(), Registry(undeclared.kinds.values(), undeclared.keys.values(), checks=__name__)):
        flow = flow_of(definition, registry=registry)
        warnings_of(definition, registry=registry)
        results = {node.path: flow.results(node) for node in definition.nodes()}
        for record in recording:
            assert {
                definition.paths[index] for index in record.visited if not results[definition.paths[index]]
            } == set()
            for index, after in record.changes:
                path = definition.paths[index]
                assert after.name == "INVALID" or RESULTS[after.name] in results[path], (path, after.name)


def flow(root: str) -> Flow:
    registry = registry_of()
    return flow_of(read_tree(tree(root), file="<test>", registry=registry), registry=registry)


def unreached(found: Flow) -> list[str]:
    return [node.path for node in found.nodes if not found.is_reached(node)]


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("selector: [set: {count: 1}, set: {count: 2}]", ["selector/set#2"]),
        ("sequence: [condition: 'count > 1', set: {count: 2}]", ["sequence/set"]),
        ("sequence: [set: {count: 2}, condition: 'count > 1', set: {count: 3}]", []),
        ("sequence: [{loop: {child: {set: {hint: \"'x'\"}}}}, set: {count: 1}]", ["sequence/set"]),
        ("loop: {until: 'count > 2', child: {set: {count: 'count + 1'}}}", []),
        ("finally: {child: {loop: {child: {set: {count: 1}}}}, then: {set: {count: 1}}}", ["finally/set"]),
        ("if: {when: 'count == 0', then: {set: {count: 1}}, else: {set: {count: 2}}}", ["if/set#2"]),
        ("switch: {value: count, cases: {'0': {set: {count: 1}}, '1': {set: {count: 2}}}}", ["switch/set#2"]),
        ("sequence: [{repeat: {times: 2, child: {once: {set: {count: 'count + 1'}}}}}, condition: 'count > 1']", []),
        ("sequence: [{wait: {until: 'count > 1', timeout_s: 1}}, set: {count: 1}]", ["sequence/set"]),
        ("parallel: [condition: 'count > 1', set: {count: 2}]", []),
    ],
)
def test_nodes_that_no_run_ticks_are_found(root: str, expected: list[str]) -> None:
    assert unreached(flow(root)) == expected


def test_a_kind_without_a_declaration_may_do_anything() -> None:
    found = flow("sequence: [scripted: [SUCCESS], condition: 'count > 1', set: {count: 1}]")
    assert not unreached(found)


def test_a_case_can_depend_on_what_is_known() -> None:
    registry = declared()
    cases = leaf(Case("success", when={"count": of_values([1])}), Case("failure"))
    kinds = [
        replace(kind, flow=cases, waits=False) if kind.name == "scripted" else kind for kind in registry.kinds.values()
    ]
    text = tree("selector: [scripted: [SUCCESS], condition: 'count == 1', set: {count: 3}]")
    registry = Registry(kinds, registry.keys.values())
    found = flow_of(read_tree(text, file="<test>", registry=registry), registry=registry)
    assert found.results(found.nodes[1]) == {"failure"}


class Ignored(Decorator[NoSettings]):
    """SUCCESS, whatever the child does."""

    def update(self) -> Status:
        self.child.step()
        return Status.SUCCESS


@pytest.mark.parametrize(
    ("flow", "expected"),
    [(None, {"success", "failure", "waiting"}), (lambda _walk, _node, states: EndStates(states), {"success"})],
    ids=["unknown", "declared"],
)
def test_a_class_in_the_place_of_a_kind_ends_as_it_says_itself(
    flow: Transfer | None, expected: Collection[str]
) -> None:
    registry = registry_of().with_kind(node("inverter", flow=flow)(Ignored).kind)
    found = flow_of(read_tree(tree("inverter: {wait: 1}"), file="<test>", registry=registry), registry=registry)
    assert found.results(found.root) == expected


def cancelled() -> Budget:
    budget = Budget()
    budget.cancel()
    return budget


@pytest.mark.parametrize(
    "budget", [lambda: Budget(ticks=2), lambda: Budget(longest_s=-1), cancelled], ids=["ticks", "time", "cancelled"]
)
def test_a_tree_that_takes_too_long_is_not_judged(budget: Callable[[], Budget]) -> None:
    registry = registry_of()
    definition = read_tree(tree("sequence: [set: {count: 1}, set: {count: 2}]"), file="<test>", registry=registry)
    with pytest.raises(OverBudgetError):
        flow_of(definition, registry=registry, budget=budget())
    warnings = warnings_of(definition, registry=registry, budget=budget())
    assert [(each.code, each.place.line) for each in warnings] == [("not-judged", 10)]


@pytest.mark.parametrize(
    "child",
    ["{wait: {until: count > 0}}", "{set: {found: count, hint: question}}", "{condition: turn == count}"],
    ids=["waits", "writers", "readers"],
)
def test_judging_ends_within_its_time_whatever_the_judges_do(child: str) -> None:
    registry = registry_of()
    text = tree(f"parallel: [{', '.join([child] * 1900)}]")
    definition = read_tree(text, file="<test>", registry=registry)
    before_s = thread_time()
    warnings = warnings_of(definition, registry=registry, budget=Budget(longest_s=0.1))
    assert [each.code for each in warnings] == ["not-judged"]
    assert thread_time() - before_s < 1
