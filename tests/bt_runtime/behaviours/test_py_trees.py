"""Behaviours of py_trees in our trees: their life cycle, their blackboard, and what is refused."""

import pytest
from py_trees.behaviour import Behaviour
from py_trees.behaviours import TickCounter
from py_trees.blackboard import Blackboard
from py_trees.blackboard import Client as GlobalClient
from py_trees.common import Access
from py_trees.composites import Sequence
from py_trees.timers import Timer

from bt_runtime import (
    BUILTIN_KEYS,
    BUILTIN_KINDS,
    KindError,
    Recording,
    Registry,
    RunLoop,
    Status,
    TreeFileError,
    build,
    node,
)
from bt_runtime import replay as replay_run
from bt_runtime.behaviours.adapting import behaviour_name
from bt_runtime.behaviours.kind import py_trees_kind
from bt_runtime.library.named import read_tree
from bt_runtime.testing import FakeClock, run_text

LIFE = []


class Greets(Behaviour):
    """Writes a greeting for whoever is on the blackboard."""

    def __init__(self, name: str, whom: str, polite: bool = False):
        super().__init__(name)
        self.key = whom
        self.polite = polite
        self.client = self.attach_blackboard_client(namespace="greets")
        self.client.register_key("whom", Access.READ)
        self.client.register_key("said", Access.WRITE)

    def setup(self, **kwargs):
        LIFE.append("setup")

    def initialise(self):
        LIFE.append("initialise")

    def update(self):
        LIFE.append("update")
        self.client.said = f"{'Good day' if self.polite else 'Hello'}, {self.client.whom}."
        return Status.SUCCESS

    def terminate(self, new_status):
        LIFE.append(f"terminate {new_status.name}")


class Waits(Behaviour):
    """RUNNING without end."""

    def update(self):
        return Status.RUNNING

    def terminate(self, new_status):
        LIFE.append(f"terminate {new_status.name}")


class Counts(Sequence):
    """A whole subtree of py_trees."""

    def __init__(self, name: str):
        super().__init__(name, memory=True, children=[TickCounter(f"{n}", n, Status.SUCCESS) for n in (1, 2)])


class Raises(Behaviour):
    """Raises at once."""

    def update(self):
        raise RuntimeError("no hope")


class CannotBeMade(Waits):
    """Needs what is not there."""

    def __init__(self):
        raise OSError("no camera")


class UsesTheGlobalBlackboard(Waits):
    """Makes a client of its own."""

    def __init__(self):
        super().__init__("global")
        self.client = GlobalClient(name="mine")


class HidesATimer(Sequence):
    """A child of it reads the clock."""

    def __init__(self):
        super().__init__("hides", memory=True, children=[Timer("timer", 1.0)])


OWN = (Greets, Waits, Counts, Raises, CannotBeMade, UsesTheGlobalBlackboard, HidesATimer)
KIND = py_trees_kind({behaviour_name(each): each for each in OWN})
REGISTRY = Registry(BUILTIN_KINDS, BUILTIN_KEYS).with_kind(KIND)
HERE = __name__
STOCK = "py_trees.behaviours"
SEEN = "{variable_name: seen, variable_value: %s, overwrite: true}"
SET = f"py_trees: {{behaviour: {STOCK}.SetBlackboardVariable, with: {SEEN}}}"
CHECK = f"py_trees: {{behaviour: {STOCK}.CheckBlackboardVariableExists, with: {{variable_name: seen}}}}"
UNSET = f"py_trees: {{behaviour: {STOCK}.UnsetBlackboardVariable, with: {{key: seen}}}}"


@pytest.fixture(autouse=True)
def nothing_has_happened():
    LIFE.clear()


def tree_of(root, head=""):
    return read_tree(f"tree: t\n{head}root:\n  {root}\n", file="t.yaml", registry=REGISTRY)


def mistake_of(root, head=""):
    with pytest.raises(TreeFileError) as wrong:
        tree_of(root, head)
    (mistake,) = wrong.value.mistakes
    return mistake


async def run(root, head="", clock=None):
    tree, recording = build(tree_of(root, head), registry=REGISTRY), Recording()
    result = await RunLoop(tree, clock=clock or FakeClock(), observers=[recording]).run()
    return tree, result, recording


COUNTER = "{behaviour: py_trees.behaviours.TickCounter, with: {duration: 3, completion_status: %s}, every_s: 0.5}"


@pytest.mark.parametrize("status", ["SUCCESS", "FAILURE"])
async def test_a_stock_behaviour_is_ticked_until_it_ends(status):
    clock = FakeClock()
    _, result, recording = await run(f"py_trees: {COUNTER % status}", clock=clock)
    assert result.status.name == status
    assert len(recording) == 4
    assert clock.now() == 1.5


async def test_a_behaviour_has_the_life_cycle_of_py_trees():
    greets = f"{{behaviour: {HERE}.Greets, with: {{whom: x}}, keys: {{greets/whom: user, greets/said: said}}}}"
    root = f"repeat: {{times: 2, child: {{py_trees: {greets}}}}}"
    tree, result, _ = await run(root, "blackboard: {user: {type: str, default: Ada}, said: str}\n")
    assert result.status is Status.SUCCESS
    assert tree.blackboard["said"] == "Hello, Ada."
    assert ["setup", *["initialise", "update", "terminate SUCCESS"] * 2] == LIFE


async def test_a_halt_reaches_the_behaviour():
    root = f"timeout: {{seconds: 1, child: {{py_trees: {HERE}.Waits}}}}"
    _, result, _ = await run(root)
    assert result.status is Status.FAILURE
    assert LIFE == ["terminate INVALID"]


async def test_a_behaviour_that_raises_fails_with_the_error_in_the_record():
    _, result, recording = await run(f"py_trees: {HERE}.Raises")
    assert result.status is Status.FAILURE
    assert [error.error for record in recording for error in record.errors] == ["RuntimeError: no hope"]


async def test_a_whole_subtree_of_py_trees_can_be_used():
    _, result, recording = await run(f"py_trees: {HERE}.Counts")
    assert result.status is Status.SUCCESS
    assert len(recording) == 4


async def test_runs_do_not_see_each_others_values_nor_the_blackboard_of_the_process():
    head = "blackboard: {seen: int}\n"
    before = set(Blackboard.storage)
    first, result, _ = await run(SET % 7, head)
    assert (result.status, first.blackboard["seen"]) == (Status.SUCCESS, 7)
    _, result, _ = await run(CHECK, head)
    assert result.status is Status.FAILURE
    assert set(Blackboard.storage) == before
    both = f"sequence: [{{{SET % 7}}}, {{{CHECK}}}, {{{UNSET}}}, {{inverter: {{{CHECK}}}}}]"
    assert (await run(both, head))[1].status is Status.SUCCESS


async def test_a_private_key_of_a_tree_is_mapped_as_well():
    head = "blackboard: {seen: {type: int, private: true}}\n"
    tree, result, _ = await run(
        "py_trees: {behaviour: py_trees.behaviours.SetBlackboardVariable, keys: {x: seen},"
        " with: {variable_name: x, variable_value: 7, overwrite: true}}",
        head,
    )
    assert result.status is Status.SUCCESS
    assert 7 in dict(tree.blackboard).values()


async def test_a_replay_repeats_a_stock_behaviour_tick_by_tick():
    root = f"sequence: [{{py_trees: {COUNTER % 'SUCCESS'}}}, {{py_trees: {HERE}.Counts}}]"
    tree, _, recording = await run(root)
    again = replay_run(build(tree.definition, registry=REGISTRY), list(recording))
    assert again.diverged_at is None


async def test_a_value_of_another_type_than_the_keys_fails_the_node():
    root = SET % "text"
    _, result, recording = await run(root, "blackboard: {seen: int}\n")
    assert result.status is Status.FAILURE
    assert "'seen' must be a whole number" in list(recording)[-1].errors[0].error


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("py_trees.behaviours.TickCouter", "did you mean 'py_trees.behaviours.TickCounter'?"),
        (
            "os.system",
            "there is no behaviour 'os.system'; there are: py_trees.behaviours.CheckBlackboardVariableExists",
        ),
        ("py_trees.timers.Timer", "it reads the machine's clock, which a replay cannot repeat; write 'wait'"),
        ("py_trees.decorators.Timeout", "write 'timeout'"),
        ("py_trees.composites.Sequence", "it has children, which only kinds of tree files can have"),
        ("py_trees.behaviours.ProbabilisticBehaviour", "it draws random numbers"),
        ("py_trees.behaviours.CheckBlackboardVariableValue", "write a 'condition'"),
        ("py_trees.behaviours.TickCounter", "missing a required argument: 'duration'"),
        ("{behaviour: py_trees.behaviours.SuccessEveryN, with: {m: 1}}", "its arguments: n"),
        ("{behaviour: py_trees.behaviours.SuccessEveryN, with: {n: many}}", "'n' must be a whole number, not 'many'"),
        ("{behaviour: py_trees.behaviours.TickCounter, with: {duration: 1, completion_status: DONE}}", "not 'DONE'"),
        (f"{HERE}.CannotBeMade", "CannotBeMade cannot be made: OSError: no camera"),
        (f"{HERE}.UsesTheGlobalBlackboard", "uses py_trees' process-wide blackboard"),
        (f"{HERE}.HidesATimer", "of Timer, it reads the machine's clock"),
        ("{behaviour: py_trees.behaviours.Success, every_s: 0}", "'every_s' must be at least 0.001"),
    ],
)
def test_what_cannot_work_is_a_mistake_with_the_reason(settings, said):
    mistake = mistake_of(f"py_trees: {settings}")
    assert said in mistake.message
    assert mistake.place.line == 3


def test_a_key_that_is_not_declared_is_a_mistake_that_names_it():
    root = f"py_trees: {{behaviour: {HERE}.Greets, with: {{whom: x}}, keys: {{greets/whom: usr, greets/said: said}}}}"
    mistake = mistake_of(root, "blackboard: {user: str, said: str}\n")
    assert (mistake.message, mistake.hint) == ("there is no blackboard key 'usr'", "did you mean 'user'?")
    root = "py_trees: {behaviour: py_trees.behaviours.UnsetBlackboardVariable, with: {key: cancel_requested}}"
    assert "'cancel_requested' can only be read" in mistake_of(root).message


def test_a_stock_behaviour_with_node_is_refused_with_the_way_to_use_it():
    with pytest.raises(KindError, match=r"py_trees: py_trees\.behaviours\.TickCounter") as refused:
        node("counter")(TickCounter)
    assert "is a py_trees behaviour" in str(refused.value)
    with pytest.raises(KindError, match="is no node"):
        node("text")(str)


async def test_the_built_in_kind_knows_the_behaviours_of_py_trees():
    result = await run_text("tree: t\nroot: {py_trees: py_trees.behaviours.Success}", kinds=[])
    assert result.status is Status.SUCCESS
