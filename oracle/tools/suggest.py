"""Suggestions in the results of tools."""

import re
from collections.abc import Collection
from pathlib import PurePosixPath

from bt_runtime.text import near

_COUNT = 3
_WORD = re.compile(r"[^\W_]+")


def near_paths(path: str, options: Collection[str]) -> tuple[str, ...]:
    """The paths that `path` may stand for: the same name elsewhere, then names with all its words, then similar ones.

    For `login cache` that is `2025-09-04-login-cache`.
    """
    wanted = PurePosixPath(path.replace("\\", "/").casefold())
    known = {option: PurePosixPath(option.casefold()) for option in options}
    words = set(_WORD.findall(wanted.stem))
    same_name = [option for option, each in known.items() if each.name == wanted.name]
    same_stem = [option for option, each in known.items() if each.stem == wanted.stem]
    same_words = [option for option, each in known.items() if words and words <= set(_WORD.findall(each.stem))]
    names: dict[str, list[str]] = {}
    for option, each in known.items():
        names.setdefault(each.name, []).append(option)
    similar = [option for name in near(wanted.name, names, most=_COUNT) for option in names[name]]
    same = [option for found in (same_name, same_stem, same_words) for option in sorted(found, key=len)]
    return tuple(dict.fromkeys([*same, *similar]))[:_COUNT]


def did_you_mean(names: Collection[str]) -> str:
    """` Did you mean 'a' or 'b'?`, or an empty string without names."""
    return f" Did you mean {' or '.join(repr(name) for name in names)}?" if names else ""
