import pytest
from py_trees import display
from py_trees.trees import BehaviourTree

from bt_runtime import BlackboardError, Status, build
from bt_runtime.library.named import read_tree
from bt_runtime.record.recording import TickInput
from bt_runtime.testing import FakeHost, registry_of
from tests.bt_runtime.running import tree

ROOT = """
finally:
  child:
    sequence:
      - condition: turn > 3
      - parallel: [{scripted: [RUNNING, SUCCESS]}, {inverter: {condition: turn > 9}}]
      - {loop: {name: rounds, until: count > 1, guards: [condition: turn < 9], child: {set: {count: count + 1}}}}
  then: {notify: ended}
"""


def built(root=ROOT, **options):
    registry = registry_of()
    definition = read_tree(tree(root), file="<test>", registry=registry)
    return build(definition, registry=registry, host=FakeHost(), **options)


def test_nodes_are_in_the_order_of_the_definition_with_index_and_parent():
    live = built()
    assert live.paths == tuple(node.path for node in live.definition.nodes())
    assert [node.index for node in live.nodes] == list(range(len(live.nodes)))
    assert live.nodes[0] is live.root
    for node in live.nodes[1:]:
        assert node in node.parent.children
        assert node.path.startswith(node.parent.path)
    assert live.root.parent is None


def test_every_run_has_a_blackboard_of_its_own():
    one, other = built(values={"turn": 7}), built()
    one.blackboard.set("count", 5)
    assert (one.blackboard["turn"], other.blackboard["turn"], other.blackboard["count"]) == (7, 5, 0)


@pytest.mark.parametrize("values", [{"trun": 1}, {"turn": "seven"}])
def test_invalid_initial_values_are_an_error(values):
    with pytest.raises(BlackboardError):
        built(values=values)


@pytest.mark.parametrize("draw", [display.ascii_tree, display.unicode_tree, display.xhtml_tree])
def test_py_trees_draws_a_tree_with_statuses_and_its_tip(draw):
    live = built()
    assert all(node.name in draw(live.root, show_status=True) for node in live.nodes)
    live.root.tick_once()
    text = draw(live.root, show_status=True)
    assert "rounds" in text
    assert live.root.tip().path == "finally/sequence/parallel/scripted"


def test_py_trees_ticks_and_walks_a_tree():
    live = built()
    assert live.root.tip() is None
    assert {node.path for node in live.root.iterate()} == set(live.paths)
    live.root.tick_once()
    assert live.root.status is Status.RUNNING
    assert live.context.end_tick(TickInput("start", (), 0.0)).visited == ()
    ticked = [node.path for node in live.root.tick()]
    assert ticked[-1] == "finally"
    assert "finally/sequence/parallel/inverter" not in ticked
    live.root.stop(Status.INVALID)
    assert {node.status for node in live.nodes} == {Status.INVALID}


def test_a_py_trees_behaviour_tree_accepts_a_root():
    live = built()
    tree_of_py_trees = BehaviourTree(live.root)
    tree_of_py_trees.setup()
    for _ in range(5):
        tree_of_py_trees.tick()
    assert live.root.status is Status.SUCCESS
    assert live.blackboard["count"] == 2
    tree_of_py_trees.shutdown()


def test_identifiers_are_stable_over_reloads_and_differ_within_a_tree():
    one, other = built(), built()
    assert [node.id for node in one.nodes] == [node.id for node in other.nodes]
    assert len({node.id for node in one.nodes}) == len(one.nodes)
    assert one.root.qualified_name == "Finally/finally"


def test_a_second_halt_changes_nothing():
    live = built("sequence: [{scripted: [RUNNING]}]")
    live.root.tick_once()
    live.root.stop(Status.INVALID)
    live.root.stop(Status.INVALID)
    assert live.nodes[1].halts == 1
