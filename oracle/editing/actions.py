"""What an editor offers to do about a mistake: its fixes, and silencing a warning with a reason."""

import re
from collections.abc import Iterable

from bt_runtime.text import Edit, Fix, Mistake, Place
from oracle.editing.lines import Lines

REASON = "why this is right here"
"""Stands in a new silence until the author has written the reason."""
_BLOCK = re.compile(r"(?:^|[:-])\s+[|>][-+0-9]*(?:\s+#.*)?\s*$|(?:^|\s)-\s+[|>][-+0-9]*\s*$")


def fixes_for(mistakes: Iterable[Mistake], text: str) -> list[tuple[Mistake, Fix]]:
    """The fixes of each mistake, and for a warning the silence."""
    found: list[tuple[Mistake, Fix]] = []
    for mistake in mistakes:
        found += [(mistake, fix) for fix in mistake.fixes]
        if not mistake.is_error:
            found.append((mistake, silence(mistake, Lines(text, file=mistake.place.file))))
    return found


def silence(mistake: Mistake, lines: Lines) -> Fix:
    """A comment that silences a warning, at the end of its line, or above a line that cannot have a comment."""
    number, text = mistake.place.line, f"# silence {mistake.code}: {REASON}"
    title = f"Silence {mistake.code} with a reason"
    head = _block_head(lines, number)
    if head is None:
        end = Place(lines.file, number, len(lines[number].rstrip()) + 1)
        return Fix(title, (Edit(end, end, f"  {text}" if lines[number].strip() else text),))
    start = Place(lines.file, head, 1)
    indent = " " * (len(lines[head]) - len(lines[head].lstrip(" ")))
    return Fix(title, (Edit(start, start, f"{indent}{text}\n"),))


def _block_head(lines: Lines, number: int) -> int | None:
    """The line that begins the block scalar in which a line is; `None` if it is in none."""
    indent = _indent(lines[number])
    for above in range(number - 1, 0, -1):
        line = lines[above]
        if not line.strip() or _indent(line) >= indent:
            continue
        return above if _BLOCK.search(line) else None
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
