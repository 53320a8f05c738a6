"""`dataclass`, as in the standard library, with methods that are written when they are first used.

The standard library writes and compiles up to six methods of each dataclass where it is defined: a fifth of the start
of a service, and most of them are never called by the process that has paid for them. Here a class has its fields at
once, and `__init__`, `__repr__`, `__eq__` and `__hash__` are made at the first look-up of each. A method that the class
defines itself is kept. `fields`, `replace`, `copy`, `pickle` and `inspect.signature` find what they expect, and type
checkers see the decorator of the standard library.

`order`, `InitVar` and `weakref_slot` are not supported, and a field cannot be named `self`.
"""

import dataclasses
from collections.abc import Callable
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

_Method = Callable[..., Any]
_Class = Any
"""A class whose fields are known."""


class _NotGiven:
    """The default of a parameter whose value a factory makes, also in signatures."""

    def __repr__(self) -> str:
        return "<factory>"


class _Deferred:
    """A method that is made when it is first looked up, and is then an attribute of its class.

    Args:
        home: the class that has it.
        name: its name there.
        make: makes it for the class.
    """

    __slots__ = ("_home", "_make", "_name")

    def __init__(self, home: _Class, name: str, make: Callable[[_Class], _Method]) -> None:
        self._home = home
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type | None = None) -> _Method:
        method = self._make(self._home)
        method.__qualname__ = f"{self._home.__qualname__}.{self._name}"
        setattr(self._home, self._name, method)
        found: _Method = method.__get__(instance, owner)
        return found


def _written(cls: _Class, name: str, source: str, scope: dict[str, Any] | None = None) -> _Method:
    """The function `name` that `source` defines. Of the class, only names of fields are in its text."""
    names = {"__name__": cls.__module__, **(scope or {})}
    exec(source, names)  # noqa: S102  as the standard library does
    method: _Method = names[name]
    return method


def _make_init(cls: _Class) -> _Method:
    scope: dict[str, Any] = {"__set": object.__setattr__, "__not_given": _NotGiven()}
    positional, keywords, lines = ["self"], list[str](), []
    hints = {}
    for each in dataclasses.fields(cls):
        name = parameter = value = each.name
        if each.default is not dataclasses.MISSING:
            scope[f"__default_{name}"] = each.default
            parameter = f"{name}=__default_{name}"
            value = name if each.init else f"__default_{name}"
        elif each.default_factory is not dataclasses.MISSING:
            scope[f"__make_{name}"] = each.default_factory
            parameter = f"{name}=__not_given"
            value = f"__make_{name}()" + (f" if {name} is __not_given else {name}" if each.init else "")
        elif not each.init:
            continue
        if each.init:
            (keywords if each.kw_only else positional).append(parameter)
            hints[name] = each.type
        is_frozen = cls.__dataclass_params__.frozen
        lines.append(f"__set(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*positional, "*", *keywords] if keywords else positional)
    body = "\n ".join(lines or ["pass"])
    init = _written(cls, "__init__", f"def __init__({parameters}):\n {body}", scope)
    init.__annotations__ = {**hints, "return": None}
    return init


def _make_repr(cls: _Class) -> _Method:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in dataclasses.fields(cls) if each.repr)
    source = f"def __repr__(self):\n return f'{{self.__class__.__qualname__}}({shown})'"
    return recursive_repr()(_written(cls, "__repr__", source))


def _make_eq(cls: _Class) -> _Method:
    names = [each.name for each in dataclasses.fields(cls) if each.compare]
    own, other = (f"({''.join(f'{of}.{name},' for name in names)})" for of in ("self", "other"))
    source = f"def __eq__(self, other):\n if other.__class__ is self.__class__:\n  return {own} == {other}\n"
    return _written(cls, "__eq__", f"{source} return NotImplemented")


def _make_hash(cls: _Class) -> _Method:
    counted = [each for each in dataclasses.fields(cls) if (each.compare if each.hash is None else each.hash)]
    values = "".join(f"self.{each.name}," for each in counted)
    return _written(cls, "__hash__", f"def __hash__(self):\n return hash(({values}))")


def _freeze(cls: _Class) -> None:
    """Refuse changes of attributes; an instance of a subclass that is no dataclass may have further ones."""
    names = frozenset(each.name for each in dataclasses.fields(cls))

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


def _state(self: Any) -> list[object]:  # noqa: ANN401  a dataclass
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:  # noqa: ANN401  a dataclass
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _with_methods(
    cls: _Class,
    *,
    init: bool = True,
    repr: bool = True,  # noqa: A002  the names of the standard library
    eq: bool = True,
    frozen: bool = False,
    unsafe_hash: bool = False,
    kw_only: bool = False,
    slots: bool = False,
) -> _Class:
    own_hash = cls.__dict__.get("__hash__", dataclasses.MISSING)
    # Python sets `__hash__` to None where a class defines `__eq__` alone.
    has_hash = own_hash is not dataclasses.MISSING and not (own_hash is None and "__eq__" in cls.__dict__)
    if unsafe_hash and has_hash:
        raise TypeError(f"{cls.__qualname__} has a __hash__ of its own")
    deferred = {"__init__": (init, _make_init), "__repr__": (repr, _make_repr), "__eq__": (eq, _make_eq)}
    wanted = {name: make for name, (is_wanted, make) in deferred.items() if is_wanted and name not in cls.__dict__}
    # Whoever inherits from a frozen class has to be frozen for the standard library too, which writes these methods.
    bases = [vars(base)["__dataclass_params__"] for base in cls.__mro__[1:] if "__dataclass_params__" in vars(base)]
    is_heir = any(each.frozen for each in bases)
    cls = dataclasses.dataclass(  # noqa: TID251  what this is made of
        init=False, repr=False, eq=False, frozen=frozen and is_heir, kw_only=kw_only, slots=slots
    )(cls)
    about = cls.__dataclass_params__
    about.init, about.repr, about.eq, about.frozen, about.unsafe_hash = init, repr, eq, frozen, unsafe_hash
    if unsafe_hash or (eq and frozen and not has_hash):
        wanted["__hash__"] = _make_hash
    elif eq and not has_hash:
        cls.__hash__ = None
    for name, make in wanted.items():
        setattr(cls, name, _Deferred(cls, name, make))
    if frozen and not is_heir:
        _freeze(cls)
        if slots:
            cls.__getstate__, cls.__setstate__ = _state, _set_state
    return cls


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414, TID251  passed on
else:

    def dataclass(cls=None, /, **options):  # noqa: ANN001, ANN003, ANN201  the type checker's is that above
        """Make a class a dataclass; the options are those of the standard library."""
        return (lambda cls: _with_methods(cls, **options)) if cls is None else _with_methods(cls, **options)
