"""Suggestions in the results of tools."""

from collections.abc import Collection
from pathlib import PurePosixPath

from bt_runtime.text import near

_COUNT = 3


def near_paths(path: str, options: Collection[str]) -> tuple[str, ...]:
    """The paths that `path` may stand for: the same file name elsewhere, then similar names."""
    wanted = PurePosixPath(path.replace("\\", "/").casefold())
    same_name = [option for option in options if PurePosixPath(option.casefold()).name == wanted.name]
    same_stem = [option for option in options if PurePosixPath(option.casefold()).stem == wanted.stem]
    names: dict[str, list[str]] = {}
    for option in options:
        names.setdefault(PurePosixPath(option).name.casefold(), []).append(option)
    similar = [option for name in near(wanted.name, names, most=_COUNT) for option in names[name]]
    found = dict.fromkeys([*sorted(same_name, key=len), *sorted(same_stem, key=len), *similar])
    return tuple(found)[:_COUNT]


def did_you_mean(names: Collection[str]) -> str:
    """` Did you mean 'a' or 'b'?`, or an empty string without names."""
    return f" Did you mean {' or '.join(repr(name) for name in names)}?" if names else ""
