"""An index of files that is kept in a file, so that the next process reads only what has changed.

Rules:

- The file is hostile until it has been checked. It is JSON and numbers, of bounded size. It is taken only if it is a
  regular file of this user that nobody else may read or write, and if its digest and all of its parts fit.
- It decides nothing but the order of results: an update compares each file with its stamp and forgets what is not
  listed, and what is shown is read anew. So one that is forged can rank badly, but not show what must not be shown.
- It is made anew for another root, and when the modules that read files have changed.
- A failure is not an error: all files are read instead.
"""

import os
import stat
import sys
from array import array
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson

from oracle.core.search.file_index import FileIndex, KeptFile
from oracle.core.search.ranking import KeptRanking

MAX_BYTES: Final = 64_000_000
"""Of the file. A thousand source files take about 3 MB."""
WORTH_KEEPING: Final = 100
"""Files; fewer are read again in no time."""
_MAGIC: Final = b"oracle-index"
_DIGEST_BYTES: Final = 32
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class IndexFile:
    """The file that an index is kept in; its methods are called under the lock of the index.

    Args:
        path: of the file; its folder is made when there is something to keep.
        root: the folder that the index is over.
        modules: the files of the modules that read and split what is indexed.
    """

    def __init__(self, path: Path, *, root: Path, modules: Iterable[str]) -> None:
        self._path = path
        self._root = root
        self._modules = tuple(modules)
        self._is_loaded = False
        self._kept = 0

    def load(self, index: FileIndex) -> None:
        """Fill an index, once, with what was kept of it."""
        if self._is_loaded:
            return
        self._is_loaded = True
        with suppress(OSError, ValueError, TypeError, KeyError, OverflowError):
            index.restore(*_parsed(_read(self._path), origin=self._origin()))

    def save(self, index: FileIndex) -> None:
        """Keep an index for which at least `WORTH_KEEPING` files were read since it was kept."""
        if index.files_read - self._kept < WORTH_KEEPING:
            return
        self._kept = index.files_read
        with suppress(OSError, orjson.JSONEncodeError):  # no room, or a name that JSON cannot carry
            body = _packed(*index.kept(), origin=self._origin())
            if len(body) < MAX_BYTES - 100:
                _write(self._path, body)

    def _origin(self) -> list[Any]:
        """What the index depends on besides the files."""
        statuses = [Path(module).stat() for module in self._modules]
        return [str(self._root), sys.byteorder, *([each.st_mtime_ns, each.st_size] for each in statuses)]


def _packed(files: list[KeptFile], ranking: KeptRanking, *, origin: list[Any]) -> bytes:
    lengths = [*ranking.lengths.items()]
    plain = [(*each,) for each in files]
    parts = {"origin": origin, "files": plain, "tokens": ranking.tokens, "keys": ranking.keys, "lengths": lengths}
    head = orjson.dumps(parts)
    return b"".join((len(head).to_bytes(8), head, ranking.counts.tobytes(), ranking.postings.tobytes()))


def _parsed(data: bytes, *, origin: list[Any]) -> tuple[list[KeptFile], KeptRanking]:
    """What was packed; raises `ValueError`, `TypeError` or `KeyError` if it is anything else."""
    body = memoryview(data)[len(_MAGIC) + _DIGEST_BYTES :]
    if not data.startswith(_MAGIC + sha256(body).digest()):
        raise ValueError("it is damaged, or no index")
    end = 8 + int.from_bytes(body[:8])
    head = orjson.loads(body[8:end])
    if head["origin"] != origin:
        raise ValueError("it is the index of another folder, or made by another version")
    counts, postings = array("Q"), array("Q")
    numbers = body[end:]
    after_counts = counts.itemsize * len(head["tokens"])
    counts.frombytes(numbers[:after_counts])
    postings.frombytes(numbers[after_counts:])
    lengths = {_whole(number): _whole(length) for number, length in head["lengths"]}
    ranking = KeptRanking(_texts(head["tokens"]), _texts(head["keys"]), counts, postings, lengths)
    return [_file(each) for each in head["files"]], ranking


def _write(path: Path, body: bytes) -> None:
    """Replace the file; whoever reads it meanwhile sees the old one or the new one.

    What a process that was killed has left is replaced too. Two that write at the same time may spoil the file for each
    other, which its digest shows.
    """
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700, parents=True)
        (path.parent / ".gitignore").write_text(f"/{path.name}*\n/.gitignore\n", encoding="utf-8")
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.writelines((_MAGIC, sha256(body).digest(), body))
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _read(file: Path) -> bytes:
    """The content of a private regular file.

    Raises:
        OSError: it is missing, a link, or cannot be read.
        ValueError: it is not private, or too large.
    """
    with os.fdopen(os.open(file, os.O_RDONLY | _FLAGS), "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise ValueError("the file is not private")
        data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("the file is too large")
    return data


def _file(value: Any) -> KeptFile:  # noqa: ANN401  JSON data
    path, title, stamp, documents = value
    modified, changed, size, inode = map(_integer, stamp)
    _texts([path, *([] if title is None else [title]), *(heading for *_, heading in documents)])
    places = [(_whole(number), _whole(line), _whole(end), heading) for number, line, end, heading in documents]
    return KeptFile(path, title, (modified, changed, size, inode), places)


def _integer(value: Any) -> int:  # noqa: ANN401  JSON data
    if type(value) is not int:
        raise TypeError("not an integer")
    return value


def _whole(value: Any) -> int:  # noqa: ANN401  JSON data
    if _integer(value) < 0:
        raise ValueError("not a whole number")
    return int(value)


def _texts(values: Any) -> list[str]:  # noqa: ANN401  JSON data
    if type(values) is not list or not all(type(each) is str for each in values):
        raise TypeError("not a list of texts")
    return values
