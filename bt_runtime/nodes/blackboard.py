"""The typed blackboard of one run.

py_trees keeps one blackboard for the whole process, where one session can read another's values; here each run has its
own. Its keys are declared before the run, by the tree's file and by the host; a write is checked and recorded for the
tick record. Values are JSON data and are replaced, not mutated.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from bt_runtime.language.errors import BlackboardError
from bt_runtime.language.kind import Key, has_type, in_words
from bt_runtime.text import brief, did_you_mean

SourceT = TypeVar("SourceT")

_SCALARS = frozenset({bool, int, float, str})  # `[1] == [True]`, so only these are compared


class _UnknownKeyError(BlackboardError, KeyError):
    """An undeclared key; a `KeyError` too, so that `in` and `get` work as for every mapping."""


class Blackboard(Mapping[str, Any]):
    """Declared keys and their values.

    Args:
        keys: what may be read and written.
        values: first values that differ from the declared defaults.

    Attributes:
        writes: those since the last tick, in order.
        read_of: the objects from which the host last refreshed its own keys; empty: all keys must be read.

    Raises:
        BlackboardError: a value for an undeclared key, or of the wrong type.
    """

    __slots__ = ("_keys", "_values", "read_of", "writes")

    def __init__(self, keys: Mapping[str, Key], values: Mapping[str, Any] | None = None) -> None:
        self._keys = keys
        self._values = {name: _own(key.default) for name, key in keys.items()}
        self.writes: list[tuple[str, Any]] = []
        self.read_of: tuple[Any, ...] = ()
        for name, value in (values or {}).items():
            self.set(name, value)
        self.writes.clear()

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  JSON data of the declared type
        try:
            return self._values[name]
        except KeyError:
            raise self._unknown(name) from None

    def __setitem__(self, name: str, value: object) -> None:
        raise TypeError(f"the blackboard takes no assignment: call board.set({name!r}, …)")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def reader(self) -> Callable[[str], Any]:
        """A faster `__getitem__`, for code that reads declared keys often.

        It stays valid for the whole run, also after `put_back`.
        """
        return self._values.__getitem__ if type(self).__getitem__ is Blackboard.__getitem__ else self.__getitem__

    def is_deliverable(self, name: str) -> bool:
        """Whether the key is declared, and its value may come from outside."""
        key = self._keys.get(name)
        return key is not None and key.deliverable

    def check(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Check that the key may hold the value, as `set` does.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        key = self._keys.get(name)
        if key is None:
            raise self._unknown(name)
        if not has_type(value, key.type):
            raise BlackboardError(f"{name!r} must be {in_words(key.type)}, not {brief(value)}", name)

    def set(self, name: str, value: Any) -> None:  # noqa: ANN401  the check is the point
        """Replace a value; the write is part of the next tick record, unless nothing changed.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        before = self._values.get(name, self)  # the blackboard itself stands for "no such key"
        if before is value:
            return  # most writes repeat the present value, which has been checked
        self.check(name, value)
        if type(value) in _SCALARS and type(before) is type(value) and before == value:
            return
        self._values[name] = value
        self.writes.append((name, value))

    def refresh(self, source: SourceT, readers: Iterable[tuple[str, Callable[[SourceT], Any]]]) -> None:
        """Set the keys whose readers return another value than the blackboard has.

        Args:
            source: what the values are read from.
            readers: key and reader, in the order of the writes.

        Raises:
            BlackboardError: a key is not declared, or a value is not of its type.
        """
        values = self._values
        for name, read in readers:
            value = read(source)
            if values.get(name, self) is not value:
                self.set(name, value)

    def take_writes(self) -> tuple[tuple[str, Any], ...]:
        """The writes since the last call, in order."""
        if not self.writes:
            return ()
        taken = tuple(self.writes)
        self.writes.clear()
        return taken

    def snapshot(self) -> tuple[Any, ...]:
        """The values, and the writes since the last tick, for `put_back`."""
        return dict(self._values), tuple(self.writes)

    def put_back(self, snapshot: tuple[Any, ...]) -> None:
        """Return to the values of a snapshot."""
        values, writes = snapshot
        self._values.update(values)  # keys do not come and go
        self.writes[:] = writes
        self.read_of = ()

    def _unknown(self, name: str) -> BlackboardError:
        return _UnknownKeyError(f"there is no blackboard key {name!r}", name, did_you_mean(name, self._keys))


class PrivateView(Mapping[str, Any]):
    """A blackboard as the nodes of a tree with private keys see it.

    Args:
        private: the names of the private keys on the board, by their names in the tree.
    """

    __slots__ = ("_board", "_private")

    def __init__(self, board: Blackboard, private: Mapping[str, str]) -> None:
        self._board = board
        self._private = private

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  JSON data of the declared type
        return self._board[self._private.get(name, name)]

    __setitem__ = Blackboard.__setitem__

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._board), **self._private})

    def __len__(self) -> int:
        return len({*self._board, *self._private})

    def set(self, name: str, value: Any) -> None:  # noqa: ANN401
        """Replace a value, as `Blackboard.set` does.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        self._board.set(self._private.get(name, name), value)


def _own(default: Any) -> Any:  # noqa: ANN401
    """A default for one run: a list that a node mutates by mistake must not affect the next run."""
    return deepcopy(default) if isinstance(default, list | dict) else default
