"""py_trees' own displays and visitors see a tree as it is."""

import asyncio

from py_trees import composites, decorators, display, visitors

from bt_runtime import BUILTIN_KINDS, RunLoop, Visiting, run
from bt_runtime.testing import FakeClock, FakeHost, action_from
from tests.bt_runtime.running import S, live

ROOT = """
sequence:
  - selector: {memory: false, children: [condition: turn > 9, inverter: {condition: turn > 9}]}
  - parallel: [{action: x}, {force_success: {notify: Working.}}]
  - if: {when: turn > 3, then: {set: {count: 1}}}
  - switch: {value: question, cases: {q: {loop: {until: count > 2, child: {set: {count: count + 1}}}}}}
"""
SHAPES = {
    "sequence": "box",
    "selector": "octagon",
    "parallel": "parallelogram",
    "inverter": "ellipse",
    "if": "octagon",
    "switch": "octagon",
}


def built(clock):
    return live(ROOT, host=FakeHost(), substitutes={"sequence/parallel/action": action_from(lambda: clock.sleep(3))})


def test_every_kind_with_children_is_a_composite_or_a_decorator_for_py_trees():
    for kind in BUILTIN_KINDS:
        is_composite = issubclass(kind.factory, composites.Composite)
        is_decorator = issubclass(kind.factory, decorators.Decorator)
        assert (is_composite, is_decorator) == (kind.category == "composite", kind.category == "decorator"), kind.name


def test_a_dot_graph_has_the_shapes_and_all_edges():
    tree = built(FakeClock())
    graph = display.dot_tree(tree.root)
    shapes = {node.get_name().strip('"'): node.get_shape() for node in graph.get_nodes()}
    assert {name: shapes[name] for name in SHAPES} == SHAPES
    assert len(graph.get_edges()) == len(tree.nodes) - 1
    assert "Ⓜ" in str(graph) or "(M)" in str(graph)


def test_a_drawn_tree_has_the_symbols_of_composites_and_decorators():
    text = display.ascii_tree(built(FakeClock()).root)
    lines = [line.strip() for line in text.splitlines()]
    assert lines[0] == "{-} sequence"
    assert lines[1] == "[o] selector"
    assert "/_/ parallel" in lines
    assert "-^- inverter" in lines
    assert "--> condition" in lines


class Counting(visitors.VisitorBase):
    """Notes what it sees."""

    def __init__(self, *, full):
        super().__init__(full=full)
        self.ticks = []

    def initialise(self):
        self.ticks.append([])

    def run(self, behaviour):
        self.ticks[-1].append((behaviour.name, behaviour.status.name))

    def finalise(self):
        self.ticks[-1].append("end")


async def test_visitors_see_what_each_tick_of_a_run_has_ticked():
    clock = FakeClock()
    tree = built(clock)
    ticked, whole = Counting(full=False), Counting(full=True)
    result = await RunLoop(tree, clock=clock, observers=[Visiting(tree, [ticked, whole])]).run()
    assert result.status is S
    assert len(ticked.ticks) == len(whole.ticks) == result.ticks
    assert [len(tick) for tick in whole.ticks] == [len(tree.nodes) + 1] * result.ticks
    assert ticked.ticks[0] == [
        ("condition", "FAILURE"),
        ("condition", "FAILURE"),
        ("inverter", "SUCCESS"),
        ("selector", "SUCCESS"),
        ("action", "RUNNING"),
        ("notify", "SUCCESS"),
        ("force_success", "SUCCESS"),
        ("parallel", "RUNNING"),
        ("sequence", "RUNNING"),
        "end",
    ]


async def test_the_snapshot_of_py_trees_is_printed_at_every_tick(capsys):
    clock = FakeClock()
    tree = built(clock)
    await run(tree, clock=clock, observers=[Visiting(tree, [visitors.DisplaySnapshotVisitor()])])
    printed = capsys.readouterr().out
    assert printed.count("sequence") >= 3
    assert "parallel" in printed


async def test_a_visitor_that_raises_is_dropped_and_the_run_goes_on(capsys):
    class Broken(visitors.VisitorBase):
        def run(self, behaviour):
            raise ValueError("broken")

    clock = FakeClock()
    tree = built(clock)
    result = await run(tree, clock=clock, observers=[Visiting(tree, [Broken()])])
    assert result.status is S
    assert "observer.dropped" in capsys.readouterr().out
    assert len(asyncio.all_tasks()) == 1
