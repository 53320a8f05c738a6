"""Live debugging of runs: pause, step, breakpoints, changed values and forced results, for operators.

`debugger` has the sessions of a process; `session` holds one run between its ticks; `watching` finds which breakpoint a
tick hits; `commands` is what an operator can ask for; `breakpoints` checks new ones; `events` is what the log keeps.
"""

from typing import TYPE_CHECKING

from oracle.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.debugging.breakpoints import check_breakpoint
    from oracle.debugging.commands import CommandKind, DebugCommand
    from oracle.debugging.debugger import DEBUG_COMMANDS, Debugger
    from oracle.debugging.errors import DebugRefusedError, WrongCommandError
    from oracle.debugging.events import DebugState, Hit, state_of
    from oracle.debugging.session import DebugSession

__all__ = [
    "DEBUG_COMMANDS",
    "CommandKind",
    "DebugCommand",
    "DebugRefusedError",
    "DebugSession",
    "DebugState",
    "Debugger",
    "Hit",
    "WrongCommandError",
    "check_breakpoint",
    "state_of",
]

__getattr__ = lazy_door(
    __name__,
    {
        "oracle.debugging.breakpoints": "check_breakpoint",
        "oracle.debugging.commands": "CommandKind DebugCommand",
        "oracle.debugging.debugger": "DEBUG_COMMANDS Debugger",
        "oracle.debugging.errors": "DebugRefusedError WrongCommandError",
        "oracle.debugging.events": "DebugState Hit state_of",
        "oracle.debugging.session": "DebugSession",
    },
)
