"""py_trees behaviours that were not written for this runtime: which of them can be used, and the blackboard they see.

- A behaviour gets a stand-in for py_trees' blackboard client. py_trees keeps one blackboard for the whole process; the
  stand-in reads and writes that of the run, so that runs stay apart and every write is recorded.
- Behaviours that a replay could not repeat are refused: those that read the machine's clock or draw random numbers.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypeGuard

from py_trees import behaviours as stock
from py_trees.behaviour import Behaviour
from py_trees.blackboard import Blackboard as GlobalBlackboard
from py_trees.common import Access
from py_trees.composites import Composite
from py_trees.decorators import Decorator, Timeout
from py_trees.timers import Timer

from bt_runtime.language.errors import KindError
from bt_runtime.language.kind import KeyType, has_type, in_words
from bt_runtime.record.status import Status
from bt_runtime.text import brief, did_you_mean, listing
from bt_runtime.text.data import dataclass

Behaviours = Mapping[str, type[Behaviour]]
"""Classes by the name under which trees use them: `module.Class`."""

_COMPARES = "it takes a comparison in Python; write a 'condition', or 'wait: {until: ...}'"
_HAS_CHILDREN = "it has children, which only kinds of tree files can have; docs/nodes.md lists them"
_REFUSED: Final[tuple[tuple[type, str], ...]] = (
    (Timer, "it reads the machine's clock, which a replay cannot repeat; write 'wait'"),
    (Timeout, "it reads the machine's clock, which a replay cannot repeat; write 'timeout'"),
    (stock.ProbabilisticBehaviour, "it draws random numbers, which a replay cannot repeat"),
    (stock.BlackboardToStatus, "it reads a status of Python from the blackboard, which has JSON data"),
    (stock.CheckBlackboardVariableValue, _COMPARES),
    (stock.CheckBlackboardVariableValues, _COMPARES),
    (stock.CompareBlackboardVariables, _COMPARES),
)
_USABLE = (
    *("Success", "Failure", "Running", "Dummy", "Periodic", "StatusQueue", "SuccessEveryN", "TickCounter"),
    *("CheckBlackboardVariableExists", "WaitForBlackboardVariable", "SetBlackboardVariable", "UnsetBlackboardVariable"),
)
STOCK: Final[Behaviours] = MappingProxyType({f"py_trees.behaviours.{name}": getattr(stock, name) for name in _USABLE})
"""The behaviours of py_trees that can be used."""

_TYPES: Final[Mapping[object, KeyType]] = {int: "int", float: "float", str: "str", bool: "bool"}


class BehaviourError(KindError, ValueError):
    """A behaviour that cannot be used; a `ValueError` too, as validators of settings raise it."""


class Board(Protocol):
    """Of a run."""

    def __getitem__(self, name: str, /) -> Any:  # noqa: ANN401  JSON data
        """The value of a declared key."""
        ...

    def set(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Replace a value."""
        ...


@dataclass(slots=True)
class Port:
    """Joins a behaviour to the blackboard of a run.

    Args:
        keys: the keys of the blackboard, by the names that the behaviour has for them; others are called the same.
        board: `None` while the behaviour is only tried.
        used: what the behaviour has registered, by its names.
    """

    keys: Mapping[str, str]
    board: Board | None = None
    used: dict[str, Literal["read", "write"]] = field(default_factory=dict)

    def register(self, name: str, access: Access) -> None:
        """Note what the behaviour uses."""
        if access is not Access.READ or name not in self.used:
            self.used[name] = "read" if access is Access.READ else "write"

    def key(self, name: str) -> str:
        """The key of the blackboard."""
        return self.keys.get(name, name)

    def read(self, name: str) -> Any:  # noqa: ANN401
        """A value; null for a behaviour that is only tried.

        Raises:
            KeyError: the behaviour has not registered the key.
        """
        if name not in self.used:
            raise KeyError(f"the behaviour has not registered the key {name!r}")
        return None if self.board is None else self.board[self.key(name)]

    def write(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Replace a value.

        Raises:
            AttributeError: the behaviour has not registered the key for writing.
        """
        if self.used.get(name) != "write":
            raise AttributeError(f"the behaviour has not registered the key {name!r} for writing")
        if self.board is not None:
            self.board.set(self.key(name), value)


class Client:
    """Stands in for `py_trees.blackboard.Client`; a key that has no value (null) does not exist.

    Names are relative to the namespace, or begin with `/`; parts after a dot are entries of a map.
    """

    def __init__(self, port: Port, namespace: str | None) -> None:
        object.__setattr__(self, "_port", port)
        object.__setattr__(self, "namespace", f"/{(namespace or '').strip('/')}")

    def _split(self, name: str) -> tuple[str, list[str]]:
        key, *parts = name.split(".")
        return self.absolute_name(key).strip("/"), parts

    def absolute_name(self, key: str) -> str:
        """The name with its namespace."""
        return key if key.startswith("/") else f"{self.namespace.rstrip('/')}/{key}"

    def register_key(self, key: str, access: Access, required: bool = False, remap_to: str | None = None) -> None:  # noqa: ARG002, FBT001, FBT002  py_trees' signature
        """Declare that the behaviour uses the key."""
        self._port.register(self._split(remap_to or key)[0], access)

    def is_registered(self, key: str, access: Access | None = None) -> bool:
        """Whether the behaviour uses the key, in that way."""
        used = self._port.used.get(self._split(key)[0])
        return used is not None and access in (None, Access.READ if used == "read" else Access.WRITE)

    def get(self, name: str) -> Any:  # noqa: ANN401
        """A value.

        Raises:
            KeyError: it does not exist.
        """
        key, parts = self._split(name)
        value = self._port.read(key)
        for part in parts:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            raise KeyError(f"the key {name!r} has no value")
        return value

    def exists(self, name: str) -> bool:
        """Whether there is a value."""
        try:
            self.get(name)
        except KeyError:
            return False
        return True

    def set(self, name: str, value: Any, overwrite: bool = True) -> bool:  # noqa: ANN401, FBT001, FBT002  py_trees' signature
        """Replace a value; `False` if it exists and must not be overwritten.

        Raises:
            AttributeError: a part of a value cannot be replaced.
        """
        key, parts = self._split(name)
        if parts:
            raise AttributeError(f"{name!r}: values are replaced as a whole")
        if not overwrite and self._port.read(key) is not None:
            return False
        self._port.write(key, value)
        return True

    def unset(self, key: str) -> bool:
        """Remove a value; whether there was one."""
        name = self._split(key)[0]
        existed = self._port.read(name) is not None
        self._port.write(name, None)
        return existed

    def unregister(self, clear: bool = True) -> None:  # noqa: FBT001, FBT002  py_trees' signature
        """Do nothing: the blackboard ends with its run."""

    def verify_required_keys_exist(self) -> None:
        """Do nothing: the keys are declared before the run."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name.startswith("_"):
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401
        self.set(name, value)


def is_behaviour(found: object) -> TypeGuard[type[Behaviour]]:
    """Whether it is a class of py_trees behaviours."""
    return inspect.isclass(found) and issubclass(found, Behaviour)


def behaviour_name(found: type[Behaviour]) -> str:
    """The name under which trees use a class."""
    return f"{found.__module__}.{found.__qualname__}"


def refusal(found: type[Behaviour]) -> str | None:
    """Why behaviours of a class cannot be used; `None` if no reason is known."""
    return next((why for cls, why in _REFUSED if issubclass(found, cls)), None)


def check_known(name: str, known: Behaviours) -> type[Behaviour]:
    """The class of that name.

    Raises:
        BehaviourError: it cannot be used, or is not among the known ones.
    """
    if name in known:
        return known[name]
    module, _, last = name.rpartition(".")
    if module.partition(".")[0] == "py_trees":
        for cls in (*(cls for cls, _ in _REFUSED), *Composite.__subclasses__(), *Decorator.__subclasses__()):
            if cls.__name__ == last:
                raise BehaviourError(f"{name} cannot be used: {refusal(cls) or _HAS_CHILDREN}")
    hint = did_you_mean(name, known)
    words = hint or f"there are: {listing(known, most=20)}; packages add others (docs/extending.md)"
    raise BehaviourError(f"there is no behaviour {brief(name)}; {words}")


def make(found: type[Behaviour], arguments: Mapping[str, Any], *, name: str, port: Port) -> Behaviour:
    """Make a behaviour that uses the blackboard of the port.

    Args:
        port: the keys of the blackboard that its clients may use.
        found: its class.
        arguments: of its constructor; texts such as `SUCCESS` become a `Status` where one is wanted.
        name: passed as `name`, if there is such an argument and it is not given.

    Raises:
        BehaviourError: its constructor does not accept the arguments, or raises, or what it makes cannot be used.
    """
    given = _fitted(found, arguments, name)
    before = set(GlobalBlackboard.clients)
    try:
        made: Behaviour = _adapted(found).__new__(_adapted(found))
        made.__dict__["bt_runtime_port"] = port
        made.__init__(**given)  # type: ignore[misc]  # the port must be there before
    except Exception as error:  # noqa: BLE001  another package's constructor can raise anything
        raise BehaviourError(f"{found.__name__} cannot be made: {type(error).__name__}: {error}") from None
    finally:
        foreign = [GlobalBlackboard.clients[each] for each in set(GlobalBlackboard.clients).difference(before)]
    if foreign:
        problem = f"{found.__name__} cannot be used: it, or a child of it, uses py_trees' process-wide blackboard"
        raise BehaviourError(
            f"{problem}; call the behaviour's own attach_blackboard_client() to use the blackboard of the run"
        )
    for each in made.iterate():
        why = refusal(type(each))
        if why is not None:
            raise BehaviourError(f"{found.__name__} cannot be used: of {type(each).__name__}, {why}")
    return made


@cache
def _adapted(found: type[Behaviour]) -> type[Behaviour]:
    """The class with a blackboard client of the port."""

    def attach(self: Any, name: str | None = None, namespace: str | None = None) -> Client:  # noqa: ANN401, ARG001  py_trees' signature
        return Client(self.bt_runtime_port, namespace)

    return type(found.__name__, (found,), {"attach_blackboard_client": attach, "__module__": found.__module__})


def _fitted(found: type[Behaviour], arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The arguments for the constructor, checked against its signature."""
    parameters = _signature(found).parameters
    given = dict(arguments)
    if "name" in parameters:
        given.setdefault("name", name)
    try:
        _signature(found).bind(**given)
    except TypeError as error:
        takes = listing([each for each in parameters if each != "name"]) or "none"
        raise BehaviourError(f"{found.__name__}: {error}; its arguments: {takes}") from None
    for each, value in given.items():
        if each in parameters:
            given[each] = _converted(found, each, value, parameters[each].annotation)
    return given


def _converted(found: type[Behaviour], name: str, value: Any, annotation: object) -> Any:  # noqa: ANN401
    if "Status" in str(annotation):
        return [_status(each) for each in value] if isinstance(value, list) else _status(value)
    wanted = _TYPES.get(annotation)
    if wanted is not None and (value is None or not has_type(value, wanted)):
        raise BehaviourError(f"{found.__name__}: {name!r} must be {in_words(wanted)}, not {brief(value)}")
    return value


def _status(value: Any) -> Any:  # noqa: ANN401
    if value is None:
        return None
    if not isinstance(value, str) or value not in Status.__members__:
        raise BehaviourError(f"a status is SUCCESS, FAILURE or RUNNING, not {brief(value)}")
    return Status[value]


def _signature(found: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(found, eval_str=True)
    except NameError:  # annotations that only a type checker can resolve
        return inspect.signature(found)
