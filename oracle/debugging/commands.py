"""What an operator can ask of a run, and whether it can be asked of a run of this tree."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from bt_runtime import ForcedResult, Key, TreeDefinition
from bt_runtime.kind import has_type, in_words, is_in_range, range_in_words
from bt_runtime.text import brief, did_you_mean, listing
from oracle.debugging.errors import WrongCommandError
from oracle.encoding import from_json, to_json

CommandKind = Literal["pause", "resume", "step", "set", "force", "renew"]
"""Pause after the next tick; go on; go on for one tick; change a value; force a node's result; stay paused."""

LARGEST_VALUE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class DebugCommand:
    """A command to a run.

    Args:
        kind: what the run is to do, or what is to be done with it.
        by: the operator.
        key: the blackboard key that `set` writes.
        value: the JSON data that `set` writes.
        path: the node whose next result `force` decides.
        result: what `force` makes it return.
    """

    kind: CommandKind
    by: str
    key: str = ""
    value: Any = None
    path: str = ""
    result: ForcedResult = "success"

    def to_data(self) -> Mapping[str, Any]:
        """The data of a command to another worker."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "DebugCommand":
        """What `to_data` has written.

        Raises:
            ValueError: it is something else.
        """
        try:
            command = cls(**data)
        except TypeError as error:
            raise ValueError(f"this is no command of a debugger: {error}") from None
        if command.kind not in get_args(CommandKind):
            raise ValueError(f"there is no command {command.kind!r}")
        return command


def check_command(command: DebugCommand, definition: TreeDefinition) -> None:
    """Check that a run of this tree can have the command.

    Raises:
        WrongCommandError: a part of it is wrong.
    """
    if command.kind == "set":
        _check_value(command, definition)
    elif command.kind == "force":
        check_path(command.path, definition)
        if command.result not in get_args(ForcedResult):
            wanted = " or ".join(map(repr, get_args(ForcedResult)))
            raise WrongCommandError(f"a result is {wanted}", field="result", value=command.result)


def check_path(path: str, definition: TreeDefinition) -> None:
    """Check that the tree has a node.

    Raises:
        WrongCommandError: it has none of this path.
    """
    if path not in definition.paths:
        hint = did_you_mean(path, definition.paths) or f"the root is {definition.root.path!r}"
        raise WrongCommandError(
            f"the tree {definition.name!r} has no node {brief(path)}; {hint}", field="path", value=path
        )


def _check_value(command: DebugCommand, definition: TreeDefinition) -> None:
    key = _writable(command.key, definition)
    value = cast("object", command.value)
    if not has_type(value, key.type):
        raise WrongCommandError(
            f"{key.name!r} must be {in_words(key.type)}, not {brief(value)}", field="value", value=value
        )
    if not is_in_range(value, key):
        raise WrongCommandError(f"{key.name!r} must be {range_in_words(key)}", field="value", value=value)
    size = _recorded_bytes(value)
    if size > LARGEST_VALUE_BYTES:
        raise WrongCommandError(
            f"a value has {LARGEST_VALUE_BYTES:,} bytes at most, and this one has {size:,}", field="value"
        )


def _recorded_bytes(value: object) -> int:
    """The size of a value in the record, which must give back the same value, or a replay would not repeat the run."""
    try:
        data = to_json(value)
        if from_json(data) == value:
            return len(data)
    except (TypeError, ValueError, RecursionError):
        pass
    raise WrongCommandError(
        "the value must be JSON data that can be recorded: numbers of 64 bits, whole characters, not nested too deeply",
        field="value",
    )


def _writable(name: str, definition: TreeDefinition) -> Key:
    writable = [key.name for key in definition.keys.values() if not key.read_only]
    key = definition.keys.get(name)
    if key is None:
        hint = did_you_mean(name, writable) or f"trees may write {listing(writable)}"
        raise WrongCommandError(f"there is no blackboard key {brief(name)}; {hint}", field="key", value=name)
    if key.read_only:
        raise WrongCommandError(
            f"{name!r} shows the state of the query and cannot be changed; trees may write {listing(writable)}",
            field="key",
            value=name,
        )
    return key
