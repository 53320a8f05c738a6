"""Runs as the terminal shows them: a list, one run at one tick, and why the tick ended as it did.

Pure functions make `Line`s of styled `Span`s from a `History`; `painting` alone writes to a terminal.
"""

from oracle.cli.run_view.choosing import deciding_tick
from oracle.cli.run_view.following import cropped, tick_line
from oracle.cli.run_view.listing import run_list
from oracle.cli.run_view.page import Sections, page
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
    "page",
    "run_list",
    "tick_line",
]
