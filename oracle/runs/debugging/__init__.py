"""Live debugging of runs: pause, step, breakpoints, changed values and forced results, for operators.

`debugger` has the sessions of a process; `session` holds one run between its ticks; `watching` finds which breakpoint a
tick hits; `commands` is what an operator can ask for. What the log keeps of it is `oracle.runs.record.debug`.
"""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.runs.debugging.commands import (
        CommandKind,
        DebugCommand,
        DebugRefusedError,
        WrongCommandError,
        check_breakpoint,
    )
    from oracle.runs.debugging.debugger import DEBUG_COMMANDS, Debugger
    from oracle.runs.debugging.session import DebugSession
    from oracle.runs.record.debug import DebugState

__all__ = [
    "DEBUG_COMMANDS",
    "CommandKind",
    "DebugCommand",
    "DebugRefusedError",
    "DebugSession",
    "DebugState",
    "Debugger",
    "WrongCommandError",
    "check_breakpoint",
]

__getattr__ = lazy_door(
    __name__,
    {
        "oracle.runs.debugging.commands": "CommandKind DebugCommand DebugRefusedError WrongCommandError "
        "check_breakpoint",
        "oracle.runs.debugging.debugger": "DEBUG_COMMANDS Debugger",
        "oracle.runs.record.debug": "DebugState",
        "oracle.runs.debugging.session": "DebugSession",
    },
)
