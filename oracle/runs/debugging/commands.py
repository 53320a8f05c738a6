"""The commands of operators to a run, breakpoints, and the reasons for refusing them."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, cast, get_args

from bt_runtime import ExpressionError, ForcedResult, Key, TreeDefinition
from bt_runtime.language.expressions.compiler import Expression, compile_expression
from bt_runtime.language.kind import has_type, in_words, is_in_range, range_in_words
from bt_runtime.text import brief, did_you_mean, listing
from bt_runtime.text.data import dataclass
from oracle.core.encoding import from_json, to_json
from oracle.core.errors import UserError
from oracle.runs.storage.breakpoints import Breakpoint


class DebugRefusedError(UserError):
    """The state of the run does not allow this debugging command."""

    status = 409


class WrongCommandError(UserError):
    """A part of a command or of a breakpoint is wrong.

    Args:
        message: what is wrong, and what would be right.
        field: the part.
        column: of the mistake in an expression, from 1; `None` elsewhere.
    """

    def __init__(self, message: str, *, field: str, value: object = None, column: int | None = None) -> None:
        super().__init__(message)
        self.loc = ("body", field)
        self.value = value
        self.column = column


CommandKind = Literal["pause", "resume", "step", "set", "force", "renew"]
"""Pause after the next tick; go on; go on for one tick; change a value; force a node's result; stay paused."""

LARGEST_VALUE_BYTES = 100_000


@dataclass(frozen=True, slots=True)
class DebugCommand:
    """A command to a run.

    Args:
        kind: what to do with the run.
        by: the operator.
        key: the blackboard key that `set` writes.
        value: the JSON data that `set` writes.
        path: the node whose next result `force` decides.
        result: the status that `force` makes the node return; `None` for other commands.
    """

    kind: CommandKind
    by: str
    key: str = ""
    value: Any = None
    path: str = ""
    result: ForcedResult = "success"

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "DebugCommand":
        """The command behind the data of one to another worker, which are its fields.

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
    with suppress(TypeError, ValueError, RecursionError):
        data = to_json(value)
        if from_json(data) == value:
            return len(data)
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
            f"{name!r} shows the state of the run and cannot be changed; trees may write {listing(writable)}",
            field="key",
            value=name,
        )
    return key


def check_breakpoint(new: Breakpoint, *, definition: TreeDefinition | None, keys: Mapping[str, Key]) -> None:
    """Check a breakpoint.

    Args:
        new: the breakpoint.
        definition: the tree whose runs it means; `None`: any tree.
        keys: the blackboard keys that every tree has.

    Raises:
        WrongCommandError: a part of it is wrong, or it misses one.
    """
    if new.kind == "node" and new.path is None:
        raise WrongCommandError("a breakpoint on a node needs its 'path'", field="path")
    if new.kind == "condition" and new.expression is None:
        raise WrongCommandError("a breakpoint on a condition needs an 'expression'", field="expression")
    if new.path is not None:
        if new.kind not in ("node", "error"):
            raise WrongCommandError(f"a breakpoint of the kind {new.kind!r} has no 'path'", field="path")
        if definition is None:
            raise WrongCommandError("a path needs the 'tree' or the 'run_id' that it belongs to", field="path")
        check_path(new.path, definition)
    if new.expression is not None:
        if new.kind not in ("node", "condition"):
            raise WrongCommandError(
                f"a breakpoint of the kind {new.kind!r} has no 'expression'; make one of the kind 'condition'",
                field="expression",
            )
        compile_condition(new.expression, definition.keys if definition is not None else keys)


def compile_condition(text: str, keys: Mapping[str, Key]) -> Expression:
    """The expression of a breakpoint; private keys of subtrees have no name there.

    Raises:
        WrongCommandError: it is invalid.
    """
    try:
        return compile_expression(text, names=[name for name in keys if name.isidentifier()])
    except ExpressionError as error:
        raise WrongCommandError(str(error), field="expression", value=text, column=error.column) from None
