"""Live debugging of runs: pause, step, breakpoints, changed values and forced results, for operators.

`debugger` has the sessions of a process; `session` holds one run between its ticks; `watching` finds which breakpoint a
tick hits; `commands` is what an operator can ask for. What the log keeps of it is `oracle.record.debug`.
"""

from typing import TYPE_CHECKING

from oracle.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.debugging.commands import (
        CommandKind,
        DebugCommand,
        DebugRefusedError,
        WrongCommandError,
        check_breakpoint,
    )
    from oracle.debugging.debugger import DEBUG_COMMANDS, Debugger
    from oracle.debugging.session import DebugSession
    from oracle.record.debug import DebugState

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
        "oracle.debugging.commands": "CommandKind DebugCommand DebugRefusedError WrongCommandError check_breakpoint",
        "oracle.debugging.debugger": "DEBUG_COMMANDS Debugger",
        "oracle.record.debug": "DebugState",
        "oracle.debugging.session": "DebugSession",
    },
)
