import re

import pytest
from pydantic import BaseModel

from bt_runtime.language.errors import (
    BlackboardError,
    BTError,
    HotLoopError,
    KindError,
    StalledError,
    TreeNotFoundError,
)
from bt_runtime.language.kind import Key, Kind, NodeSettings, Slot
from bt_runtime.language.registry import Registry
from tests.bt_runtime.sample_kinds import KINDS, REGISTRY, NoSettings


class Named(NodeSettings):
    name: str = ""


class Childish(NodeSettings):
    child: str = ""


def kind(name="x", settings=NoSettings, **more):
    return Kind(name, "action", settings, **more)


@pytest.mark.parametrize(
    ("kinds", "keys", "message"),
    [
        ([kind(), kind()], [], "registered twice"),
        ([kind("Big")], [], "cannot name a node kind"),
        ([kind("")], [], "cannot name a node kind"),
        ([kind(settings=Named)], [], "'name', which every node has"),
        ([kind(settings=Childish, slots=(Slot("child", many=False),))], [], "beside a setting"),
        ([kind(slots=(Slot("a", many=False), Slot("a", many=True)))], [], "beside a setting or slot"),
        ([kind(shorthand="when")], [], "shorthand 'when'"),
        ([], [Key("a", "int"), Key("a", "int")], "declared twice"),
        ([], [Key("true", "bool")], "cannot name a blackboard key"),
        ([], [Key("a b", "int")], "cannot name a blackboard key"),
        ([], [Key("a", "number")], "unknown type 'number'"),
        ([], [Key("a", "int", "x")], "must be a whole number, not 'x'"),
        ([], [Key("a", "int", True)], "must be a whole number, not true"),
    ],
)
def test_kinds_and_keys_that_contradict_each_other_are_refused(kinds, keys, message):
    with pytest.raises(KindError, match=message):
        Registry(kinds, keys)


def test_a_registry_is_extended_into_a_new_one():
    extended = REGISTRY.extended([kind("greet")], [Key("greeted", "bool", default=False)])

    assert extended.kind("greet").name == "greet"
    assert "greet" not in REGISTRY.kinds
    assert list(extended.kinds)[: len(KINDS)] == [each.name for each in KINDS]
    with pytest.raises(KindError, match="twice"):
        extended.extended([kind("greet")])


def test_a_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        REGISTRY.kinds["x"] = kind()


def test_an_unknown_kind_is_an_error_with_the_nearest_name():
    with pytest.raises(KindError, match="did you mean 'sequence'"):
        REGISTRY.kind("sequense")


def test_errors_have_clear_messages():
    assert str(HotLoopError("a/b", 1000)) == "'a/b' went on for 1000 ticks in a row without waiting for anything"
    assert str(StalledError(["a", "b"])) == "nothing is pending that could wake 'a', 'b'"
    assert str(BlackboardError("no key 'x'", "x", "did you mean 'y'?")) == "no key 'x'; did you mean 'y'?"
    assert str(TreeNotFoundError("orcle", ["oracle"], [])) == "there is no tree 'orcle'; did you mean 'oracle'?"
    assert all(issubclass(error, BTError) for error in (HotLoopError, KindError, TreeNotFoundError))


def test_settings_models_are_strict_frozen_and_closed():
    assert issubclass(NodeSettings, BaseModel)
    assert NodeSettings.model_config["extra"] == "forbid"


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (Key("level", "str", "low", values=("", "high")), """'level' must be "" or "high", not 'low'"""),
        (Key("share", "float", 1.5, least=0, most=1), "'share' must be at least 0, at most 1, not 1.5"),
        (Key("count", "int", -1, least=0), "'count' must be at least 0, not -1"),
    ],
)
def test_a_default_outside_of_the_range_of_its_key_is_refused(key, message):
    with pytest.raises(KindError, match=re.escape(message)):
        Registry([], [key])


def test_a_default_inside_of_the_range_of_its_key_or_null_is_accepted():
    keys = [
        Key("level", "str", "", values=("", "high")),
        Key("share", "float", 1, most=1),
        Key("count", "int", least=0),
    ]
    assert list(Registry([], keys).keys) == ["level", "share", "count"]
