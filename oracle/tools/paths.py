"""Resolves paths from a model to files below a root; no other module does.

Rules:

- A path is relative, with `/`, and stays inside its root: no `..`, no drive, no NUL, and no symbolic link out.
- The file that is opened is the one that was checked. After links are resolved, every folder of the path is opened
  without following links (`O_NOFOLLOW`, relative to its parent), so that a folder replaced by a link in between is an
  error.
- Only regular files are opened: a pipe or a device could block or never end.
- A file is written under a temporary name and renamed, so that a reader sees the old text or the new one.
- A write with a key (`oracle.tools.keys`) has one effect, however many processes make it: under a lock it checks
  whether the effect is there, and confirms that it may write. Locks reach as far as the file system has them.

Hard links to files outside cannot be distinguished from files inside.
"""

import errno
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from oracle.tools.errors import ToolError, ToolSetupError
from oracle.tools.keys import call_key, check_cancelled
from oracle.tools.text import shorten

_MAX_PATH_CHARS = 1_024
_MAX_NAME_BYTES = 255
_FORBIDDEN = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_DRIVE = re.compile("^[A-Za-z]:")
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK_LOOK_S = 0.01
_LINK_IN_THE_WAY = {errno.ELOOP, errno.ENOTDIR}


class Root:
    """A folder that tools may not leave.

    Args:
        path: the folder; may be a link.
        label: its name in messages: `the project`, `the vault`.
    """

    def __init__(self, path: Path, *, label: str) -> None:
        self.path = Path(os.path.realpath(path))
        self.label = label

    def require(self, *, setting: str) -> None:
        """Check that the folder can be listed.

        Args:
            setting: the operator's setting for it, for the message.

        Raises:
            ToolSetupError: it does not exist, is not a folder, or cannot be read.
        """
        if not self.path.exists():
            raise ToolSetupError(
                f"{self.label}'s folder {str(self.path)!r} does not exist; set {setting} to one that does"
            )
        if not self.path.is_dir():
            raise ToolSetupError(f"{self.label}'s folder {str(self.path)!r} is a file; set {setting} to a folder")
        try:
            with os.scandir(self.path):
                pass
        except OSError as error:
            raise ToolSetupError(
                f"{self.label}'s folder {str(self.path)!r} cannot be read ({error.strerror}); "
                f"give this user the right to, or set {setting} to another folder"
            ) from error

    def resolve(self, relative: str) -> Path:
        """The absolute path, links resolved; it need not exist.

        Raises:
            ToolError: the path is malformed or leaves the root.
        """
        candidate = self.path.joinpath(*self.parts(relative))
        try:
            real = Path(os.path.realpath(candidate))
        except (OSError, ValueError) as error:
            raise ToolError(f"path {_shown(relative)} cannot be used: {error}.") from None
        if not real.is_relative_to(self.path):
            raise ToolError(f"path {_shown(relative)} leads out of {self.label} through a link.")
        return real

    def relative(self, relative: str) -> str:
        """The normalized path: `./a//b` is `a/b`, the root itself is `.`; raises as `parts` does."""
        return "/".join(self.parts(relative)) or "."

    def parts(self, relative: str) -> list[str]:
        """The names of the path from the root.

        Raises:
            ToolError: the path is malformed.
        """
        problem = _problem(relative)
        if problem:
            raise ToolError(
                f"path {_shown(relative)} {problem}; give a path relative to {self.label}, such as 'folder/name.md'."
            )
        return [part for part in relative.split("/") if part not in {"", "."}]

    def read(self, relative: str, *, max_bytes: int) -> tuple[bytes, int]:
        """The beginning of a file, and the size of the whole in bytes.

        Raises:
            FileNotFoundError: there is no such file.
            IsADirectoryError: it is a folder.
            ToolError: the path leaves the root, is not a regular file, or cannot be read.
        """
        with self._opened(relative, os.O_RDONLY) as handle, os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(max_bytes), os.fstat(handle).st_size

    def write(self, relative: str, data: bytes, *, overwrite: bool) -> bool:
        """Write a file and create its folders; returns whether it replaced a file.

        Raises:
            FileExistsError: it exists, and `overwrite` is false.
            IsADirectoryError: it is a folder.
            ToolError: the path leaves the root, or cannot be written; or a repeated call finds a later text.
        """
        key = call_key()
        with self._parent(relative, create=True) as (folder, name):
            _lock(folder)
            mode = _existing_mode(folder, name)
            if mode is not None and key is not None and key.is_repeat:
                if self.read(relative, max_bytes=len(data) + 1)[0] == data:
                    return overwrite
                if overwrite and os.stat(name, dir_fd=folder).st_ctime > key.at.timestamp():
                    raise ToolError(
                        f"{_shown(relative)} has another text since this call was made first, and was not written "
                        "again. Read it; then write the whole new text if that is still wanted."
                    )
            if mode is not None and not overwrite:
                raise FileExistsError(relative)
            temporary = f".{secrets.token_hex(8)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(temporary, flags, 0o666, dir_fd=folder), "wb") as file:
                try:
                    file.write(data)
                    file.flush()
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    os.fsync(file.fileno())
                    if key is not None:
                        key.confirm_blocking()
                    check_cancelled()  # from here on the write takes effect
                    _move(temporary, name, folder=folder, overwrite=overwrite)
                finally:
                    with suppress(FileNotFoundError):
                        os.unlink(temporary, dir_fd=folder)
            return mode is not None

    def append(self, relative: str, data: bytes, *, header: bytes) -> None:
        """Add to the end of a file in one write; `header` comes first if the file is new or empty.

        A repeated call adds nothing if the file has the data.

        Raises:
            ToolError: the path leaves the root, is not a regular file, or cannot be written.
        """
        key = call_key()
        with self._opened(relative, os.O_RDWR | os.O_APPEND | os.O_CREAT, create=True) as handle:
            _lock(handle)
            if key is not None:
                if key.is_repeat and data in os.pread(handle, os.fstat(handle).st_size, 0):
                    return
                key.confirm_blocking()
            check_cancelled()
            rest = memoryview(data if os.fstat(handle).st_size else header + data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)

    @contextmanager
    def _opened(self, relative: str, flags: int, *, create: bool = False) -> Iterator[int]:
        with self._parent(relative, create=create) as (folder, name):
            extra = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            handle = os.open(name, flags | extra, 0o666, dir_fd=folder)
            try:
                kind = os.fstat(handle).st_mode
                if stat.S_ISDIR(kind):
                    raise IsADirectoryError(relative)
                if not stat.S_ISREG(kind):
                    raise ToolError(f"{_shown(relative)} is a device or a pipe, not a file.")
                yield handle
            finally:
                os.close(handle)

    @contextmanager
    def _parent(self, relative: str, *, create: bool) -> Iterator[tuple[int, str]]:
        """The open parent folder of a file and the file's name; `OSError` in the block becomes `ToolError`."""
        names = self.resolve(relative).relative_to(self.path).parts
        if not names:
            raise IsADirectoryError(relative)
        try:
            if create:
                self.path.mkdir(parents=True, exist_ok=True)
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for name in names[:-1]:
                    if create:
                        with suppress(FileExistsError):
                            os.mkdir(name, dir_fd=folder)
                    inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
                    os.close(folder)
                    folder = inner
                yield folder, names[-1]
            finally:
                os.close(folder)
        except (FileNotFoundError, FileExistsError, IsADirectoryError):
            raise
        except OSError as error:
            if error.errno in _LINK_IN_THE_WAY:
                raise ToolError(f"path {_shown(relative)} leads through a file or a link that is no folder.") from None
            raise ToolError(f"{_shown(relative)} cannot be used: {error.strerror or error}.") from None


def _problem(text: str) -> str | None:
    """The first problem of a path as text."""
    parts = text.split("/")
    found = {
        "is empty": not text.strip(),
        f"has {len(text):,} characters, more than {_MAX_PATH_CHARS:,}": len(text) > _MAX_PATH_CHARS,
        "has control characters": _FORBIDDEN.search(text),
        "has backslashes instead of slashes": "\\" in text,
        "is absolute": text.startswith(("/", "~")) or _DRIVE.match(text),
        "has '..' in it": ".." in parts,
    }
    for problem, is_so in found.items():
        if is_so:
            return problem
    for part in parts:
        if part != "." and part != part.rstrip(". "):
            return f"has a name that ends with a dot or a space ({part!r})"
        if len(part.encode()) > _MAX_NAME_BYTES:
            return f"has a name of more than {_MAX_NAME_BYTES} bytes"
    return None


def _lock(handle: int) -> None:
    """Keep other writers from a file or folder until it is closed, as far as its file system has locks."""
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # not waited for in the kernel, where the call could not be cancelled
            check_cancelled()
            time.sleep(_LOCK_LOOK_S)
        except OSError:
            return None


def _existing_mode(folder: int, name: str) -> int | None:
    """The permissions of an existing file, `None` if there is none."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(name)
    return stat.S_IMODE(status.st_mode)


def _move(temporary: str, name: str, *, folder: int, overwrite: bool) -> None:
    """Rename a finished file; without `overwrite`, concurrent writers cannot replace each other's file."""
    if not overwrite:
        try:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK}:
                raise
            if _existing_mode(folder, name) is not None:  # a file system without hard links
                raise FileExistsError(name) from None
        else:
            return
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _shown(path: str) -> str:
    return repr(shorten(path, limit=120))
