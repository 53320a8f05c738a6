"""From a hint that says what to write to a change that an editor can make."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from bt_runtime.text import Edit, Fix, Mistake, Place, Suggestion, brief
from bt_runtime.text.mistakes import LINE_BREAK

_WORD_GOES_ON = re.compile(r"(?<=\w)\w")


def with_fixes(mistakes: Iterable[Mistake], sources: Mapping[str, str]) -> list[Mistake]:
    """The mistakes with a fix for each hint that can be followed without thought.

    A hint has no fix where something else stands at the place than it says, because the text was folded, escaped or
    comes from an argument.

    Args:
        mistakes: the mistakes of one file or of several.
        sources: the text of each file by its name.
    """
    lines: dict[str, list[str]] = {}
    fixed: list[Mistake] = []
    for mistake in mistakes:
        file = mistake.place.file
        if not mistake.fixes and isinstance(mistake.hint, Suggestion) and file in sources:
            if file not in lines:
                lines[file] = LINE_BREAK.split(sources[file])
            fix = _fix(mistake.place, mistake.hint, lines[file])
            fixed.append(replace(mistake, fixes=(fix,), end=fix.edits[0].end) if fix else mistake)
        else:
            fixed.append(mistake)
    return fixed


def _fix(place: Place, hint: Suggestion, lines: list[str]) -> Fix | None:
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    at = place.column - 1
    quote = line[at : at + 1]
    written = hint.written
    if quote in {"'", '"'} and line.startswith(f"{written}{quote}", at + 1):
        written = f"{quote}{written}{quote}"
    elif not line.startswith(written, at) or _WORD_GOES_ON.match(line, at + len(written)):
        return None
    end = Place(place.file, place.line, place.column + len(written))
    title = f"Replace {brief(hint.written)} by {brief(hint.instead)}"
    return Fix(title, (Edit(place, end, hint.instead),))
