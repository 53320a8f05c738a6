"""Whether a breakpoint can ever be hit."""

from collections.abc import Mapping

from bt_runtime import ExpressionError, Key, TreeDefinition
from bt_runtime.expressions import Expression, compile_expression
from oracle.debugging.commands import check_path
from oracle.debugging.errors import WrongCommandError
from oracle.storage import Breakpoint


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
        if new.kind != "condition":
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
