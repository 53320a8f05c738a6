"""Runs as the terminal shows them: a list, one run at one tick, and why the tick ended as it did.

Pure functions make `Line`s of styled `Span`s from a `History`; `painting` alone writes to a terminal.
"""

from typing import TYPE_CHECKING

from oracle.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.cli.run_view.choosing import deciding_tick
    from oracle.cli.run_view.following import cropped, tick_line
    from oracle.cli.run_view.listing import run_list
    from oracle.cli.run_view.page import Sections, run_page
    from oracle.cli.run_view.painting import ColorChoice, Screen
    from oracle.cli.run_view.spans import Line, Span

__all__ = [
    "ColorChoice",
    "Line",
    "Screen",
    "Sections",
    "Span",
    "cropped",
    "deciding_tick",
    "run_list",
    "run_page",
    "tick_line",
]

__getattr__ = lazy_door(
    __name__,
    {
        "oracle.cli.run_view.choosing": "deciding_tick",
        "oracle.cli.run_view.following": "cropped tick_line",
        "oracle.cli.run_view.listing": "run_list",
        "oracle.cli.run_view.page": "Sections run_page",
        "oracle.cli.run_view.painting": "ColorChoice Screen",
        "oracle.cli.run_view.spans": "Line Span",
    },
)
