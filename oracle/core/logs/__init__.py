"""How log events are written: to standard error, a JSON object a line unless that is a terminal.

`configuring` formats lines, `lines` writes them, also where the reader of standard error has stopped.
"""

from oracle.core.logs.configuring import (
    configure_logging,
    configure_unless_configured,
    is_interactive,
    quiet,
    wants_colour,
)
from oracle.core.logs.lines import dropped_lines, written_in_background

__all__ = [
    "configure_logging",
    "configure_unless_configured",
    "dropped_lines",
    "is_interactive",
    "quiet",
    "wants_colour",
    "written_in_background",
]
