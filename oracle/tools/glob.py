"""File name patterns: `*` and `?` within a name, `**` for any folders, `{a,b}` for either."""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache

from oracle.tools.errors import ToolError

_MAX_PATTERN_CHARS = 200
_MAX_ALTERNATIVES = 32
_BRACES = re.compile(r"\{([^{}]*)\}")


def matcher(pattern: str) -> Callable[[str], bool]:
    """A predicate for paths with `/`; a pattern without `/` is matched against the name only.

    Raises:
        ToolError: it is too long or has too many alternatives.
    """
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ToolError(f"pattern has {len(pattern):,} characters; at most {_MAX_PATTERN_CHARS} are allowed.")
    alternatives = [tuple(alternative.removeprefix("./").split("/")) for alternative in _expanded(pattern)]

    def matches(path: str) -> bool:
        names = tuple(path.split("/"))
        return any(_match(parts, names[-1:] if len(parts) == 1 else names) for parts in alternatives)

    return matches


def _expanded(pattern: str) -> list[str]:
    patterns = [pattern]
    while any(_BRACES.search(text) for text in patterns):
        expanded = []
        for text in patterns:
            found = _BRACES.search(text)
            choices = found[1].split(",") if found else [""]
            before, after = (text[: found.start()], text[found.end() :]) if found else (text, "")
            expanded += [before + choice + after for choice in choices]
        patterns = expanded
        if len(patterns) > _MAX_ALTERNATIVES:
            raise ToolError(f"pattern {pattern!r} has more than {_MAX_ALTERNATIVES} alternatives; use fewer braces.")
    return patterns


def _match(parts: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether the parts of a pattern match the names of a path, in time proportional to their product."""

    @cache
    def rest(part: int, name: int) -> bool:
        if part == len(parts):
            return name == len(names)
        if parts[part] == "**":
            return rest(part + 1, name) or (name < len(names) and rest(part, name + 1))
        return name < len(names) and fnmatchcase(names[name], parts[part]) and rest(part + 1, name + 1)

    return rest(0, 0)
