import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import Blackboard, BlackboardError, Key

KEYS = {
    key.name: key
    for key in (
        Key("turn", "int", 0),
        Key("ratio", "float", 0.0),
        Key("hint", "str", ""),
        Key("failed", "bool", default=False),
        Key("sources", "list", []),
        Key("signal", "map"),
        Key("found", "any"),
    )
}


def board(**values):
    return Blackboard(KEYS, values)


def test_keys_have_their_defaults_or_the_given_values():
    assert dict(board(turn=3)) == {
        "turn": 3, "ratio": 0.0, "hint": "", "failed": False, "sources": [], "signal": None, "found": None,
    }  # fmt: skip
    assert len(board()) == len(KEYS)


def test_an_assignment_is_refused_with_the_method_that_writes():
    with pytest.raises(TypeError, match="board\\.set\\('turn', …\\)"):
        board()["turn"] = 3


def test_initial_values_are_not_writes():
    assert board(turn=3).take_writes() == ()


RIGHT = [
    ("turn", 7), ("ratio", 7), ("ratio", 0.5), ("hint", "x"), ("failed", True), ("sources", [1]), ("sources", (1,)),
    ("signal", {"a": 1}), ("found", [1]), ("turn", None),
]  # fmt: skip
WRONG = [
    ("turn", True), ("turn", 1.0), ("turn", "1"), ("ratio", float("nan")), ("ratio", float("inf")), ("hint", 3),
    ("failed", 1), ("failed", "yes"), ("sources", "ab"), ("signal", [1]),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), RIGHT)
def test_a_value_of_the_type_can_be_set(key, value):
    written = board()
    written.set(key, value)
    assert written[key] == value


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_value_of_another_type_is_an_error_and_changes_nothing(key, value):
    written = board()
    before = dict(written)
    with pytest.raises(BlackboardError, match=f"'{key}' must be"):
        written.set(key, value)
    with pytest.raises(BlackboardError, match=f"'{key}' must be"):
        Blackboard(KEYS, {key: value})
    assert dict(written) == before
    assert written.take_writes() == ()


def test_an_unknown_key_is_an_error_with_the_nearest_name():
    for use in (lambda b: b["trun"], lambda b: b.set("trun", 1), lambda b: b.check("trun", 1)):
        with pytest.raises(BlackboardError, match=r"no blackboard key 'trun'.*'turn'"):
            use(board())


def test_a_blackboard_is_a_mapping():
    assert "turn" in board()
    assert "trun" not in board()
    assert board().get("trun", 5) == 5
    assert board().get("turn", 5) == 0


def test_writes_are_reported_once_in_order_and_only_if_something_changed():
    written = board()
    written.set("turn", 0)
    written.set("turn", 1)
    written.set("hint", "x")
    written.set("turn", 2)
    assert written.take_writes() == (("turn", 1), ("hint", "x"), ("turn", 2))
    assert written.take_writes() == ()


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [("ratio", 1, 1.0), ("found", [1], [True]), ("found", 0, False), ("found", {"a": 1}, {"a": 1.0})],
)
def test_values_that_are_equal_in_python_but_not_in_json_are_a_change(key, before, after):
    written = board(**{key: before})
    written.set(key, after)
    assert written.take_writes() == ((key, after),)
    assert repr(written[key]) == repr(after)


def test_a_mutated_default_affects_only_its_run():
    board()["sources"].append("leak")
    assert board()["sources"] == []


VALUES = st.none() | st.booleans() | st.floats() | st.text() | st.lists(st.integers())


@given(st.dictionaries(st.sampled_from([*KEYS, "trun"]), VALUES))
def test_a_write_is_accepted_whole_or_refused(values):
    written = board()
    for key, value in values.items():
        try:
            written.set(key, value)
        except BlackboardError:
            assert key not in written or written[key] == KEYS[key].default
        else:
            assert written[key] is value or written[key] == value


def test_the_reader_is_good_for_the_whole_run():
    run = board(turn=3)
    read, before = run.reader, run.snapshot()
    run.set("turn", 4)
    assert read("turn") == 4
    run.put_back(before)
    assert (read("turn"), run["turn"], run.take_writes()) == (3, 3, ())
    run.set("hint", "x")
    assert read("hint") == "x"
    with pytest.raises(KeyError):
        read("nothing")


def test_a_blackboard_that_notes_what_is_read_notes_it_of_the_reader():
    noted = []

    class Noting(Blackboard):
        def __getitem__(self, name):
            noted.append(name)
            return super().__getitem__(name)

    assert Noting(KEYS, {"turn": 3}).reader("turn") == 3
    assert noted == ["turn"]
