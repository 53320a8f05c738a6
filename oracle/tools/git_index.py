"""The names of the files that a git repository tracks, read from its index without git (gitformat-index(5)).

The file is untrusted: it is read up to a limit, no path in it is opened, and names are no longer than a path may be. A
malformed index tracks nothing. Of a split index only its own entries count, not the shared ones.
"""

import os
from collections.abc import Iterator
from struct import Struct, error

MAX_BYTES = 64 * 1024 * 1024
_MAX_ENTRIES = 1_000_000
_MAX_NAME_BYTES = 4_096
_HEADER = Struct(">4sII")
_MODE_AT = 24
_FLAGS = Struct(">H")
_MODE = Struct(">I")
_STAT_BYTES = 40
_HASH_BYTES = (20, 32)
"""SHA-1 and SHA-256; which one is used is in the repository's configuration, which is not read."""
_EXTENDED = 0x4000
_NAME_MASK = 0x0FFF
_GITLINK = 0o160000


def tracked_names(index: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The paths of tracked files and of submodules, relative to the top of the work tree."""
    try:
        signature, version, count = _HEADER.unpack_from(index)
    except error:
        return frozenset(), frozenset()
    if signature != b"DIRC" or version not in {2, 3, 4} or count > _MAX_ENTRIES:
        return frozenset(), frozenset()
    for hash_bytes in _HASH_BYTES:
        try:
            entries = list(_entries(index, count, _STAT_BYTES + hash_bytes, is_compressed=version == 4))
        except (ValueError, error):  # the bytes do not follow the format
            continue
        files = frozenset(os.fsdecode(name) for mode, name in entries if mode != _GITLINK)
        return files, frozenset(os.fsdecode(name) for mode, name in entries if mode == _GITLINK)
    return frozenset(), frozenset()


def _entries(index: bytes, count: int, flags_at: int, *, is_compressed: bool) -> Iterator[tuple[int, bytes]]:
    """The entries with their modes.

    In versions 2 and 3 the flags have a name's length, and NULs pad it to a multiple of eight bytes. Version 4 gives
    how much to cut off the previous name, and the suffix to append.
    """
    at, name = _HEADER.size, b""
    for _ in range(count):
        (flags,) = _FLAGS.unpack_from(index, at + flags_at)
        cut, start = len(name), at + flags_at + (4 if flags & _EXTENDED else 2)
        if is_compressed:
            cut, start = _offset(index, start)
        end = index.find(b"\0", start)
        if end < 0 or cut > len(name) or len(name) - cut + end - start > _MAX_NAME_BYTES:
            raise ValueError
        name = name[: len(name) - cut] + index[start:end]
        if not is_compressed and min(len(name), _NAME_MASK) != flags & _NAME_MASK:
            raise ValueError
        yield _MODE.unpack_from(index, at + _MODE_AT)[0], name
        at = end + 1 if is_compressed else at + (end - at + 8 & ~7)


def _offset(index: bytes, at: int) -> tuple[int, int]:
    """A number in the encoding of pack offsets, and the position after it."""
    value = -1
    while True:
        if at >= len(index) or value > _MAX_NAME_BYTES:
            raise ValueError
        byte = index[at]
        at += 1
        value = ((value + 1) << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at
