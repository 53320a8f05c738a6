"""How log events are written: to standard error, a JSON object a line unless that is a terminal.

`configuring` says what a line looks like, `lines` where it goes, and how a service keeps on when nobody takes it.
"""

from oracle.logs.configuring import configure_logging, configure_unless_configured, is_interactive, wants_colour
from oracle.logs.lines import dropped_lines, written_in_background

__all__ = [
    "configure_logging",
    "configure_unless_configured",
    "dropped_lines",
    "is_interactive",
    "wants_colour",
    "written_in_background",
]
