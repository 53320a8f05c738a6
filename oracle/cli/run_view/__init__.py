"""Runs as the terminal shows them: a list, one run at one tick, why the tick ended as it did, and two runs compared.

Pure functions make lines of rich's `Text` from a `History`; `Screen` alone writes to a terminal.
"""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.cli.run_view.difference import difference_lines
    from oracle.cli.run_view.listing import run_list
    from oracle.cli.run_view.page import Page, Sections, deciding_tick, run_page, tick_line
    from oracle.cli.run_view.screen import ColorChoice, Screen

__all__ = [
    "ColorChoice",
    "Page",
    "Screen",
    "Sections",
    "deciding_tick",
    "difference_lines",
    "run_list",
    "run_page",
    "tick_line",
]

__getattr__ = lazy_door(
    __name__,
    {
        "oracle.cli.run_view.difference": "difference_lines",
        "oracle.cli.run_view.listing": "run_list",
        "oracle.cli.run_view.page": "Page Sections deciding_tick run_page tick_line",
        "oracle.cli.run_view.screen": "ColorChoice Screen",
    },
)
