"""Live debugging of runs: pause, step, breakpoints, changed values and forced results, for operators.

`debugger` has the sessions of a process; `session` holds one run between its ticks; `watching` finds which breakpoint a
tick hits; `commands` is what an operator can ask for; `breakpoints` checks new ones; `events` is what the log keeps.
"""

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
