"""A run that is under way: a page that fits the screen, and a line for each tick."""

from collections.abc import Sequence

from oracle.cli.run_view.headline import cause_of, sentence_of
from oracle.cli.run_view.spans import Line, Span, line, safe
from oracle.cli.run_view.words import seconds
from oracle.histories import History
from oracle.histories.debugged import debug_words
from oracle.histories.model import TickFacts

_BAR = "│"
_FOOT = 3  # an empty line, what changed, the legend


def cropped(lines: Sequence[Line], height: int) -> list[Line]:
    """As many lines as the screen has: head and foot, and the rows around the node that decided."""
    if len(lines) <= height:
        return list(lines)
    rows = [position for position, each in enumerate(lines) if any(span.text == _BAR for span in each.spans)]
    if not rows or (room := height - rows[0] - 2 - _FOOT) < 1:
        return list(lines[:height])
    first, last = rows[0] + 2, rows[-1] + 1
    focus = next((at for at in rows if lines[at].spans[0].text == "▸ "), first)
    start = max(first, min(focus - room // 2, last - room))
    return [*lines[:first], *lines[start : min(last, start + room)], *lines[len(lines) - _FOOT :]]


def tick_line(history: History, tick: TickFacts) -> Line:
    """A tick on one line: its number, time and turn, its cause, and what was decided."""
    said = sentence_of(history, tick)
    start = f"tick {tick.tick:<4} {seconds(tick.at_s, places=2):>9}  turn {tick.turn:<3} {cause_of(tick)}"
    done = "; ".join(safe(debug_words(history, each)) for each in history.debug if each.tick == tick.tick)
    return line(Span(start, "dim"), Span(f": {said}" if said else ""), Span(f" ({done})" if done else "", "warn"))
