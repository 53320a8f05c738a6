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


class _WrongFormatError(ValueError):
    """The bytes do not follow the format."""


def tracked_names(index: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The paths of tracked files and of submodules, relative to the top of the work tree."""
    try:
        signature, version, count = _HEADER.unpack_from(index)
    except error:
        return frozenset(), frozenset()
    if signature != b"DIRC" or version not in {2, 3, 4} or count > _MAX_ENTRIES:
        return frozenset(), frozenset()
    read = _compressed_entries if version == 4 else _padded_entries
    for hash_bytes in _HASH_BYTES:
        try:
            entries = list(read(index, count, _STAT_BYTES + hash_bytes))
        except (_WrongFormatError, error):
            continue
        files = frozenset(os.fsdecode(name) for mode, name in entries if mode != _GITLINK)
        return files, frozenset(os.fsdecode(name) for mode, name in entries if mode == _GITLINK)
    return frozenset(), frozenset()


def _padded_entries(index: bytes, count: int, flags_at: int) -> Iterator[tuple[int, bytes]]:
    """Entries of versions 2 and 3: the name, padded with NULs to a multiple of eight bytes."""
    at = _HEADER.size
    for _ in range(count):
        (flags,) = _FLAGS.unpack_from(index, at + flags_at)
        start = at + flags_at + (4 if flags & _EXTENDED else 2)
        length = flags & _NAME_MASK
        end = start + length if length < _NAME_MASK else index.find(b"\0", start)
        name = index[start:end]
        if index[end : end + 1] != b"\0" or not 0 <= end - start <= _MAX_NAME_BYTES or b"\0" in name:
            raise _WrongFormatError
        yield _MODE.unpack_from(index, at + _MODE_AT)[0], name
        at += (end - at + 8) & ~7


def _compressed_entries(index: bytes, count: int, flags_at: int) -> Iterator[tuple[int, bytes]]:
    """Entries of version 4: how much to cut off the previous name, and the suffix to append."""
    at = _HEADER.size
    name = b""
    for _ in range(count):
        (flags,) = _FLAGS.unpack_from(index, at + flags_at)
        cut, start = _offset(index, at + flags_at + (4 if flags & _EXTENDED else 2))
        end = index.find(b"\0", start)
        if end < 0 or cut > len(name) or len(name) - cut + end - start > _MAX_NAME_BYTES:
            raise _WrongFormatError
        name = name[: len(name) - cut] + index[start:end]
        yield _MODE.unpack_from(index, at + _MODE_AT)[0], name
        at = end + 1


def _offset(index: bytes, at: int) -> tuple[int, int]:
    """A number in the encoding of pack offsets, and the position after it."""
    value = -1
    while True:
        if at >= len(index) or value > _MAX_NAME_BYTES:
            raise _WrongFormatError
        byte = index[at]
        at += 1
        value = ((value + 1) << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at
