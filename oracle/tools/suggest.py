"""Near names for a name that does not exist."""

import difflib
from collections.abc import Collection, Iterable
from pathlib import PurePosixPath

_COMPARED = 5_000
"""difflib compares letter by letter; that many names take some 50 ms."""


def near(name: str, options: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """The options most like a name, best first."""
    by_folded = {option.casefold(): option for option in list(options)[:_COMPARED]}
    found = difflib.get_close_matches(name.casefold()[:200], by_folded, n=count, cutoff=0.6)
    return tuple(by_folded[folded] for folded in found)


def near_paths(path: str, options: Collection[str], *, count: int = 3) -> tuple[str, ...]:
    """The paths that somebody who wrote `path` may have meant: the same file elsewhere, then similar names."""
    wanted = PurePosixPath(path.replace("\\", "/").casefold())
    same_name = [option for option in options if PurePosixPath(option.casefold()).name == wanted.name]
    same_stem = [option for option in options if PurePosixPath(option.casefold()).stem == wanted.stem]
    names: dict[str, list[str]] = {}
    for option in options:
        names.setdefault(PurePosixPath(option).name.casefold(), []).append(option)
    similar = [option for name in near(wanted.name, names, count=count) for option in names[name]]
    found = dict.fromkeys([*sorted(same_name, key=len), *sorted(same_stem, key=len), *similar])
    return tuple(found)[:count]


def did_you_mean(names: Collection[str]) -> str:
    """` Did you mean 'a' or 'b'?`, or nothing without names."""
    return f" Did you mean {' or '.join(repr(name) for name in names)}?" if names else ""
