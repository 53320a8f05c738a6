"""The rows of a tree, and beside each the row of the matrix."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len

from oracle.cli.run_view.marks import symbol
from oracle.cli.run_view.matrix import Matrix
from oracle.cli.run_view.spans import Ground, Line, Span, Style, shortened
from oracle.cli.run_view.tree_rows import Row

_BANDS: Mapping[str | None, Ground] = {"success": "ok", "failure": "fail", "running": "run", "error": "err"}


def tree_block(rows: Sequence[Row], matrix: Matrix, width: int, *, title: str, aside: str) -> Iterator[Line]:
    """The block of lines.

    Args:
        rows: of the tree.
        matrix: of the ticks.
        width: of both, in cells.
        title: above the rows.
        aside: about the matrix; may be empty.
    """
    digits = max([3, *(len(str(row.number)) for row in rows)])
    left = width - matrix.width - 1
    heading = Line((Span(f"{'line':>{digits + 2}}   {title}", "dim"),)).fitted(left - 2 - cell_len(aside))
    yield _joined(Line((*heading.spans, Span(aside, "dim"))), matrix.numbers(), left)
    yield _joined(Line(), matrix.pointer(), left)
    for row in rows:
        yield from _row(row, matrix, left, digits)


def _joined(row: Line, cells: list[Span], left: int, *, ground: Ground = "") -> Line:
    bar = Span("│", "dim")
    return Line((*row.fitted(left - 1, ground=ground).spans, Span(" "), bar, *cells))


def _row(row: Row, matrix: Matrix, left: int, digits: int) -> Iterator[Line]:
    """The line of a node, and what stands below it."""
    number = "" if row.number is None else str(row.number)
    indent = digits + 5 + min(row.depth, left // 3)
    style: Style = "strong" if row.is_decision else "dim"
    start = (
        Span("▸ " if row.is_decision else "  ", "strong"),
        Span(f"{number:>{digits}} ", style),
        symbol(row.mark),
        Span(" " * (indent - digits - 4)),
    )
    room = left - 1 - indent
    behind, below = _placed(row, room)
    ground = _BANDS.get("error" if row.errors else row.mark, "") if row.is_decision or row.errors else ""
    words_room = room - sum(cell_len(span.text) for span in behind)
    words = Line(row.words)
    if words.width > words_room:
        words = words.fitted(words_room)
    yield _joined(Line((*start, *words.spans, *behind)), matrix.cells(row.node), left, ground=ground)
    for spans in below:
        line_below = Line((Span(" " * (indent + 2)), *spans))
        yield _joined(line_below, matrix.cells(None), left, ground=ground if row.errors else "")


def _placed(row: Row, room: int) -> tuple[list[Span], list[list[Span]]]:
    """What stands behind the text of a row, and the lines below it."""
    below = [[Span("◆ ", "err"), Span(error, "err")] for error in row.errors]
    words, verdict = row.note
    if not words and verdict is None:
        return [], below
    end = [Span(f" {verdict.text}" if words else verdict.text, verdict.style)] if verdict else []
    end_width = sum(cell_len(span.text) for span in end)
    text_width = Line(row.words).width
    fits = text_width + 2 + cell_len(words) + end_width <= room
    if row.matters and not fits:
        return [], [[Span(shortened(words, room - 2 - end_width), "dim"), *end], *below]
    least = min(text_width, max(room // 2, room - 2 - cell_len(words) - end_width))
    return [Span("  "), Span(shortened(words, room - least - 2 - end_width), "dim"), *end], below
