"""The dataclasses of the product are those of the standard library, whose methods are made later."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import KW_ONLY, FrozenInstanceError, field, fields, replace
from typing import Any

import pytest
from pydantic import TypeAdapter

from bt_runtime.text.data import dataclass

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "slots": {"slots": True},
    "frozen": {"frozen": True},
    "frozen with slots": {"frozen": True, "slots": True},
    "compared by identity": {"frozen": True, "slots": True, "eq": False},
    "without repr": {"repr": False},
    "hashed": {"slots": True, "unsafe_hash": True},
    "by name": {"frozen": True, "kw_only": True},
}


def shape(decorator: Any, options: dict[str, Any]) -> Any:
    class Shape:
        name: str
        size: int = 3
        parts: list[str] = field(default_factory=list, hash=False)
        seen: int = field(default=7, init=False, compare=False, repr=False)
        made: list[int] = field(default_factory=lambda: [1], init=False, hash=False)
        _: KW_ONLY
        unit: str = field(default="m", repr=False)

    return decorator(**options)(Shape)


@pytest.fixture(params=OPTIONS.values(), ids=OPTIONS)
def both(request):
    """The same class, by the product and by the standard library."""
    return shape(dataclass, request.param), shape(dataclasses.dataclass, request.param)


def behaviour(cls: Any) -> dict[str, Any]:
    """What a caller can see of a class."""
    first, same, other = cls(name="a"), cls(name="a"), cls(name="a", size=4, parts=["b"], unit="km")
    found = {
        "values": [[getattr(each, one.name) for one in fields(cls)] for each in (first, other)],
        "repr": [repr(each).partition(" at 0x")[0] for each in (first, other)],
        "equal": [first == same, first == other, first == 3, first == first],  # noqa: PLR0124
        "replaced": replace(other, size=9).size,
        "copied": [copy.copy(other).size, copy.deepcopy(other).parts],
        "match": cls.__match_args__,
        "signature": str(inspect.signature(cls)),
        "parameters": [(each.kind, each.annotation) for each in inspect.signature(cls).parameters.values()],
        "slots": hasattr(first, "__dict__"),
        "fresh": first.parts is not same.parts and first.made is not same.made,
        "params": [getattr(cls.__dataclass_params__, name) for name in ("init", "repr", "eq", "frozen", "unsafe_hash")],
        "read": TypeAdapter(cls).validate_json(b'{"name": "a", "size": "4"}').size,
        "init": (cls.__init__.__qualname__, cls.__init__.__annotations__),
    }
    for name, act in {
        "hash": lambda: hash(first) == hash(same),
        "set": lambda: setattr(first, "size", 5),
        "deleted": lambda: delattr(first, "size"),
        "missing": cls,
        "unknown": lambda: cls(name="a", colour=1),
    }.items():
        try:
            found[name] = act()
        except (TypeError, AttributeError) as error:
            found[name] = (type(error), str(error))
    return found


def test_a_class_behaves_as_one_of_the_standard_library(both):
    ours, theirs = both
    assert behaviour(ours) == behaviour(theirs)


def test_methods_are_made_when_they_are_first_looked_up():
    cls = shape(dataclass, OPTIONS["frozen with slots"])
    assert not inspect.isfunction(vars(cls)["__init__"])
    cls(name="a")
    assert inspect.isfunction(vars(cls)["__init__"])
    assert not inspect.isfunction(vars(cls)["__eq__"])


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    inner: object = None

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True)
class Dot(Point):
    colour: str = "red"


class Named(Point):
    """Plain: it may have attributes of its own."""


def test_a_frozen_class_with_slots_is_pickled():
    assert pickle.loads(pickle.dumps(Dot(1, colour="blue"))) == Dot(1, colour="blue")


def test_post_init_is_called():
    with pytest.raises(ValueError, match="negative"):
        Point(-1)


def test_an_heir_of_a_frozen_class_is_frozen():
    with pytest.raises(FrozenInstanceError):
        Dot(1).colour = "blue"
    assert Dot(1) != Point(1)
    assert hash(Dot(1)) == hash(Dot(1))


def test_a_host_may_inherit_with_the_decorator_of_the_standard_library():
    heir = dataclasses.dataclass(frozen=True)(type("Heir", (Point,), {"__annotations__": {"y": int}, "y": 2}))
    assert repr(heir(1)) == "Heir(x=1, inner=None, y=2)"
    with pytest.raises(TypeError, match="non-frozen"):
        dataclass(slots=True)(type("Heir", (Point,), {}))


def test_a_plain_subclass_may_set_what_is_no_field():
    named = Named(1)
    named.label = "a"
    assert named.label == "a"
    with pytest.raises(FrozenInstanceError):
        named.x = 2


def test_a_value_that_contains_itself_has_a_repr():
    outer = Point(1, [])
    outer.inner.append(outer)
    assert repr(outer) == "Point(x=1, inner=[...])"


def test_methods_of_the_class_itself_are_kept():
    @dataclass(frozen=True)
    class Own:
        x: int

        def __init__(self) -> None:
            object.__setattr__(self, "x", 1)

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Own()), Own() == 3, hash(Own())) == ("own", True, 5)
    with pytest.raises(TypeError, match="__hash__"):
        dataclass(unsafe_hash=True)(type("Own", (), {"__annotations__": {}, "__hash__": lambda _: 1}))
