"""What the user had read by a tick."""

from collections.abc import Iterator

from rich.cells import cell_len

from bt_runtime.text import visible
from oracle.cli.run_view.spans import Line, Span, line, wrapped
from oracle.histories import History
from oracle.histories.model import TickFacts

_MOST_CHARS = 1_000_000


def answer(history: History, tick: TickFacts, width: int) -> Iterator[Line]:
    """The text by the tick, its line breaks kept, and a note of what was still to come."""
    pieces = [text for text in history.texts if text.type == "content"]
    read = "".join(text.text for text in pieces if text.tick <= tick.tick)
    later = sum(len(text.text) for text in pieces if text.tick > tick.tick)
    yield line(Span(f"read by tick {tick.tick}", "strong"))
    if not read.strip():
        yield line(Span("  nothing yet" if history.run.kept == "whole" else "  (its texts were deleted)", "dim"))
    for paragraph in read[:_MOST_CHARS].replace("\r\n", "\n").strip("\n").split("\n"):
        flat = visible(paragraph.expandtabs(4))
        indent = len(flat) - len(flat.lstrip(" "))
        lines = list(wrapped(flat, max(20, width - 2 - indent))) if cell_len(flat) > width - 2 else [flat.strip()]
        for part in lines or [""]:
            yield line(f"  {' ' * min(indent, width // 2)}{part}").fitted(width)
    if later:
        yield line(Span(f"  … {later:,} more characters after it", "dim"))
