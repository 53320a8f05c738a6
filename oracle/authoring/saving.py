"""Puts a file in place: whole or not at all, also if the process or the machine stops in the middle.

The text is written to a new file next to the old one and synced; then it takes the old one's name. A link of that name
is replaced, never followed.
"""

import contextlib
import fcntl
import logging
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oracle.core.errors import OperatorError


class TreeFolderError(OperatorError):
    """The folder of trees cannot be read or written."""

    status = 409
    detail = None
    log_event = "tree.not_saved"
    log_level = logging.WARNING


class PreparedFile:
    """A new text of a file, written and synced, that has not taken the file's place yet."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path = path
        self._new: Path | None = _written(path, data)

    def publish(self) -> None:
        """Give it the file's name; the second time nothing is done.

        Raises:
            TreeFolderError: it cannot be put in place.
        """
        if self._new is None:
            return
        try:
            self._new.replace(self._path)
        except OSError as error:
            raise _failed(self._path, error) from None
        self._new = None

    def close(self) -> None:
        """Sync the folder; remove what has not been published."""
        if self._new is not None:
            self._new.unlink(missing_ok=True)
            return
        with contextlib.suppress(OSError):
            folder = _opened(self._path.parent)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from saving into this folder, as far as its file system has locks.

    Raises:
        TreeFolderError: it cannot be made or opened.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = _opened(folder)
    except OSError as error:
        raise _failed(folder, error) from None
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _written(path: Path, data: bytes) -> Path:
    new = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.new")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with open(handle, "wb") as file:  # noqa: PTH123  a handle
            # The new file gets the rights of the one that it replaces.
            with contextlib.suppress(OSError):
                mode = path.lstat().st_mode
                if stat.S_ISREG(mode):
                    os.fchmod(handle, stat.S_IMODE(mode))
            file.write(data)
            file.flush()
            os.fsync(handle)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise _failed(path, error) from None
    return new


def _failed(path: Path, error: OSError) -> TreeFolderError:
    reason = error.strerror or str(error)
    return TreeFolderError(
        f"{str(path)!r} cannot be written: {reason}; set ORACLE_TREES_DIR (or serve --trees) to a folder that the "
        "service may write"
    )
