"""The kinds that stock py_trees has as well do the same there, tick by tick.

Leaves are scripts, so a tree is compared by what its root returns and by which leaves each tick has ticked. Stock
py_trees has no `if` and `switch`; as nothing changes the keys here, they equal a selector of guarded sequences.
"""

import json
from math import inf

import py_trees
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bt_runtime import Status, build
from bt_runtime.library.named import read_tree
from bt_runtime.testing import registry_of

PROPERTY = settings(deadline=None, suppress_health_check=list(HealthCheck))
TICKS = 25
NAMES = {"turn": 5, "hint": "b"}
KEYS = {"turn": {"type": "int", "default": 5}, "hint": {"type": "str", "default": "b"}, "item": "any"}
POLICIES = {"all": py_trees.common.ParallelPolicy.SuccessOnAll, "one": py_trees.common.ParallelPolicy.SuccessOnOne}


class Script(py_trees.behaviour.Behaviour):
    """The stock form of `scripted`."""

    def __init__(self, script, log):
        super().__init__("script")
        self.script, self.log, self.count = script, log, 0

    def update(self):
        self.log.append(self)
        self.count += 1
        return Status[self.script[min(self.count, len(self.script)) - 1]]


def fixed(holds):
    """A stock condition."""
    return (py_trees.behaviours.Success if holds else py_trees.behaviours.Failure)("condition")


def chosen(branches):
    """The stock form of a choice that does not change: each branch behind its condition."""
    guarded = [
        py_trees.composites.Sequence("branch", memory=True, children=[fixed(holds), branch])
        for holds, branch in branches
    ]
    return py_trees.composites.Selector("choice", memory=True, children=guarded)


def stock(spec, log):
    """The stock tree of a specification."""
    ((kind, value),) = spec.items()
    if kind == "scripted":
        leaf = Script(value, log)
        log.leaves.append(leaf)
        return leaf
    if kind in {"sequence", "selector"}:
        return getattr(py_trees.composites, kind.capitalize())(
            kind, memory=value["memory"], children=[stock(each, log) for each in value["children"]]
        )
    if kind == "parallel":
        children = [stock(each, log) for each in value["children"]]
        return py_trees.composites.Parallel(kind, policy=POLICIES["all"](synchronise=True), children=children)
    if kind == "if":
        holds = value["when"] == "turn > 3"
        return chosen([(holds, stock(value["then"], log)), (not holds, stock(value["else"], log))])
    if kind == "switch":
        cases = [(case == NAMES["hint"], stock(each, log)) for case, each in value["cases"].items()]
        return chosen([*cases, (NAMES["hint"] not in value["cases"], stock(value["default"], log))])
    if kind == "guarded":
        guards = [fixed(guard["condition"] == "turn > 3") for guard in value["guards"]]
        return py_trees.composites.Sequence(kind, memory=False, children=[*guards, stock(value["child"], log)])
    child = stock(value["child"], log)
    if kind == "for_each":
        py_trees.blackboard.Blackboard.set("items", list(value["in"]))
        return py_trees.decorators.ForEach(kind, child, "items", "item")
    make = {
        "inverter": lambda: py_trees.decorators.Inverter(kind, child),
        "force_success": lambda: py_trees.decorators.FailureIsSuccess(kind, child),
        "force_failure": lambda: py_trees.decorators.SuccessIsFailure(kind, child),
        "retry": lambda: py_trees.decorators.Retry(kind, child, value["attempts"]),
        "repeat": lambda: py_trees.decorators.Repeat(kind, child, value["times"]),
        "once": lambda: py_trees.decorators.OneShot(kind, child, py_trees.common.OneShotPolicy.ON_COMPLETION),
        "timeout": lambda: py_trees.decorators.Timeout(kind, child, inf),
    }
    return make[kind]()


class Log(list):
    """The stock leaves that were ticked, in order; `leaves` has all of them."""

    def __init__(self):
        super().__init__()
        self.leaves = []


LEAVES = st.lists(st.sampled_from(["SUCCESS", "FAILURE", "RUNNING"]), min_size=1, max_size=4).map(
    lambda script: {"scripted": script}
)
CONDITIONS = st.sampled_from(["turn > 3", "turn > 9"])


def nodes(child):
    many = st.lists(child, min_size=1, max_size=4)
    return st.one_of(
        st.builds(
            # `for_each` writes keys, so the reader refuses it before a node that takes time, where there is no memory
            lambda kind, memory, each: {kind: {"memory": memory or "for_each" in str(each), "children": each}},
            st.sampled_from(["sequence", "selector"]),
            st.booleans(),
            many,
        ),
        st.builds(lambda each: {"parallel": {"failure": "one", "children": each}}, many),
        st.builds(lambda c, a, b: {"if": {"when": c, "then": a, "else": b}}, CONDITIONS, child, child),
        st.builds(
            lambda cases, default: {"switch": {"value": "hint", "cases": cases, "default": default}},
            st.dictionaries(st.sampled_from("abc"), child, min_size=1),
            child,
        ),
        st.builds(
            lambda guards, c: {"guarded": {"guards": [{"condition": each} for each in guards], "child": c}},
            st.lists(CONDITIONS, min_size=1, max_size=2),
            child,
        ),
        st.builds(
            lambda kind, c: {kind: {"child": c}},
            st.sampled_from(["inverter", "force_success", "force_failure", "once"]),
            child,
        ),
        st.builds(lambda n, c: {"retry": {"attempts": n, "child": c}}, st.integers(1, 3), child),
        st.builds(lambda n, c: {"repeat": {"times": n, "child": c}}, st.integers(1, 3), child),
        st.builds(lambda n, c: {"for_each": {"in": [1] * n, "as": "item", "child": c}}, st.just(2), child),
    )


@PROPERTY
@given(st.recursive(LEAVES, nodes, max_leaves=8))
def test_a_tree_of_these_kinds_does_the_same_in_stock_py_trees(spec):
    registry = registry_of()
    text = json.dumps({"tree": "demo", "blackboard": KEYS, "root": spec})
    live = build(read_tree(text, file="<test>", registry=registry), registry=registry)
    leaves = [node for node in live.nodes if node.definition.kind == "scripted"]
    log = Log()
    other = stock(spec, log)
    for _ in range(TICKS):
        before = [leaf._ticks for leaf in leaves]
        log.clear()
        status = live.root.step()
        other.tick_once()
        assert status.name == other.status.name
        ticked = [leaf._ticks - ticks for leaf, ticks in zip(leaves, before, strict=True)]
        assert ticked == [sum(each is leaf for each in log) for leaf in log.leaves]
        running = [leaf.status is Status.RUNNING for leaf in leaves]
        assert running == [leaf.status is Status.RUNNING for leaf in log.leaves]
