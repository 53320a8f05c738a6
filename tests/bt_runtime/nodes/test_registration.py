import pytest

from bt_runtime import (
    Action,
    Condition,
    Decorator,
    Guard,
    KindError,
    Node,
    NoSettings,
    Status,
    action_kind,
    condition_kind,
    node,
)  # fmt: skip
from bt_runtime.testing import run_text
from tests.bt_runtime.running import F, S


class Leaf(Node[NoSettings]):
    """A leaf."""

    def update(self):
        return Status.SUCCESS


class Slow(Action[NoSettings]):
    """An action."""

    async def start(self):
        return None


class Asks(Condition[NoSettings]):
    """A condition."""

    def holds(self):
        return True


class Stops(Guard[NoSettings]):
    """A guard."""

    def trips(self):
        return None


class Around(Decorator[NoSettings]):
    """A decorator."""

    def update(self):
        return self.child.step()


@pytest.mark.parametrize(
    ("cls", "category", "waits", "acts", "slots"),
    [
        (Leaf, "action", False, True, 0),
        (Slow, "action", True, True, 0),
        (Asks, "condition", False, False, 0),
        (Stops, "guard", False, False, 0),
        (Around, "decorator", False, False, 1),
    ],
)
def test_the_category_of_a_kind_follows_from_its_base_class(cls, category, waits, acts, slots):
    kind = node("each")(cls).kind
    assert (kind.category, kind.waits, kind.acts, len(kind.slots)) == (category, waits, acts, slots)
    assert kind.summary == cls.__doc__


def test_a_class_without_a_docstring_is_refused():
    class Silent(Leaf):
        pass

    with pytest.raises(KindError, match="class Silent of node kind 'silent' has no docstring"):
        node("silent")(Silent)


def test_a_class_that_lacks_a_method_is_refused_when_it_is_made_a_kind():
    class Half(Condition[NoSettings]):
        """Half."""

    with pytest.raises(KindError, match="does not define holds"):
        node("half")(Half)


def knows(board):
    """SUCCESS when something is known."""
    return bool(board["termination_reason"])


async def says_no(host):
    """FAILURE, unless the host is kind."""
    return host == "kind"


async def test_functions_become_conditions_and_actions():
    text = "tree: demo\nroot: {sequence: [{inverter: knows}, says_no]}"
    kinds = [condition_kind("knows", knows), action_kind("says_no", says_no)]
    assert (await run_text(text, kinds=kinds, host="strict")).status is F
    assert (await run_text(text, kinds=kinds, host="kind")).status is S


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: condition_kind("x", says_no), "is async"),
        (lambda: action_kind("x", knows), "is not async"),
        (lambda: condition_kind("x", lambda board: True), "no docstring"),
    ],
)
def test_sync_actions_and_async_conditions_are_refused(make, message):
    with pytest.raises(KindError, match=message):
        make()


class TripsOnce(Guard[NoSettings]):
    """Trips."""

    def trips(self):
        return "enough"


class TripsToo(Guard[NoSettings]):
    """Trips."""

    def trips(self):
        return "too late"


async def test_the_first_guard_that_trips_writes_the_reason():
    run = await run_text(
        "tree: demo\nroot: {parallel: [trips, trips_too]}",
        kinds=[node("trips")(TripsOnce).kind, node("trips_too")(TripsToo).kind],
    )
    assert (run.status, run.value("termination_reason")) == (F, "enough")


class Counted(Node[NoSettings]):
    """A base without an `update` of its own."""

    began = 0

    def initialise(self):
        self.began += 1


class Twice(Counted, Slow):
    """An action whose `update` is that of a base behind another base."""

    def update(self):
        return super().update()


def test_nodes_of_a_kind_have_code_of_their_own_and_the_methods_of_their_class():
    kinds = [node(name)(cls).kind for name, cls in (("leaf", Leaf), ("slow", Slow), ("asks", Asks), ("twice", Twice))]
    for kind in kinds:
        assert kind.factory.__qualname__ in {"Leaf", "Slow", "Asks", "Twice"}
        assert kind.factory.step.__code__ is not Node.step.__code__
        assert kind.factory.step.__doc__ == Node.step.__doc__
    assert len({kind.factory.step for kind in kinds}) == len(kinds)
    assert kinds[1].factory.update.__code__ == Action.update.__code__
    assert kinds[3].factory.update is Twice.update
    assert "step" not in vars(Leaf)


async def test_what_a_class_gets_after_it_was_made_counts():
    class Late(Leaf):
        """A leaf that fails when it ends."""

    def terminate(_self, _status):
        raise ValueError("too late")

    Late.terminate = terminate
    run = await run_text(
        "tree: t\nroot: {selector: [late, twice]}", kinds=[node("late")(Late).kind, node("twice")(Twice).kind]
    )
    assert run.status is S
    assert [error.error for error in run.result.errors] == ["ValueError: too late"]
    assert run.tree.nodes[2].began == 1
