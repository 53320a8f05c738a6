"""Reads folders and regular files for lists and indices; what cannot be read is skipped.

The content that a tool shows is read through `Root`, which checks more strictly.
"""

import os
import stat
from pathlib import Path

from oracle.core.search.file_index import Stamp, stamp_of


def entries_of(folder: str | Path) -> list["os.DirEntry[str]"]:
    """The entries of a folder by name; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def regular_stamp(entry: "os.DirEntry[str]") -> Stamp | None:
    """The stamp of a regular file; `None` for anything else, and for a name that JSON cannot carry."""
    try:
        entry.name.encode()
        status = entry.stat(follow_symlinks=False)
    except (OSError, ValueError):
        return None
    return stamp_of(status) if stat.S_ISREG(status.st_mode) else None


def read_regular(path: Path, *, max_bytes: int, follow_link: bool = True) -> bytes | None:
    """The beginning of a regular file; `None` for anything else. Never blocks."""
    try:
        if not stat.S_ISREG(path.stat(follow_symlinks=follow_link).st_mode):
            return None
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        handle = os.open(path, flags if follow_link else flags | os.O_NOFOLLOW)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            return file.read(max_bytes)
    except (OSError, ValueError):
        return None
