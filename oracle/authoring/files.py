"""The files of trees: saved whole or not at all, under a lock, and watched for changes.

The text is written to a new file next to the old one and synced; then it takes the old one's name. A link of that name
is replaced, never followed.

Rules:

- Changes that come together are one: a batch ends when nothing has changed for a tenth of a second.
- A folder is watched itself, not below it. Where it is reached by a link, the link is watched too; while it does not
  exist, the nearest folder above it is.
- Where watching is impossible, the trees look at their files before each use instead; the log says so.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import secrets
import stat
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from bt_runtime.text.data import dataclass
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


log = structlog.get_logger(__name__)

_STEP_MS = 100
_LONGEST_BATCH_MS = 400
_INSTEAD = "tree files are looked at before each question; /proc/sys/fs/inotify has the limits"
_NEVER_MS = 3_600_000  # how long a wait for changes lasts before it is begun again


@dataclass(frozen=True, slots=True)
class _Watched:
    """What is watched for some folders, and which folders they are, so that another in their place is noticed."""

    folders: tuple[Path, ...]
    paths: tuple[Path, ...]
    identities: tuple[tuple[int, int] | None, ...]

    @classmethod
    def of(cls, folders: Sequence[Path]) -> "_Watched":
        absolute = tuple(dict.fromkeys(Path(os.path.abspath(folder)) for folder in folders))  # noqa: PTH100  keeps links
        paths: dict[Path, None] = {}
        for folder in absolute:
            paths[next(each for each in (folder, *folder.parents) if each.is_dir())] = None
            paths |= {each.parent: None for each in (folder, *folder.parents) if each.is_symlink()}
        return cls(absolute, tuple(paths), tuple(map(_identity, absolute)))

    def is_current(self) -> bool:
        """Whether the same folders are still in their places."""
        return self == _Watched.of(self.folders)

    def concerns(self, _change: Change, path: str) -> bool:
        """Whether a change may be one of a tree file, or of a folder in its place."""
        changed = Path(path)
        return changed.parent in self.folders or any(folder.is_relative_to(changed) for folder in self.folders)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        state = folder.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


async def watch(
    folders: Sequence[Path], *, on_change: Callable[[], Awaitable[None]], set_watched: Callable[[bool], None]
) -> None:
    """Call `on_change` after each batch of changes, and once when watching has begun; runs until it is cancelled.

    Args:
        folders: the folders that have tree files.
        on_change: reads what has changed.
        set_watched: called with `True` when changes are reported from now on, and `False` when no longer.
    """
    try:
        while True:
            watched = _Watched.of(folders)
            try:
                await _watch_once(watched, on_change, set_watched)
            except (OSError, RuntimeError) as error:  # no inotify, or none of its watches left
                if watched.is_current():
                    log.warning("trees.not_watched", problem=str(error)[:500], instead=_INSTEAD)
                    return
    finally:
        set_watched(False)


async def _watch_once(
    watched: _Watched, on_change: Callable[[], Awaitable[None]], set_watched: Callable[[bool], None]
) -> None:
    """Watch until another folder is in the place of one."""
    changes = awatch(
        *watched.paths,
        watch_filter=watched.concerns,
        debounce=_LONGEST_BATCH_MS,
        step=_STEP_MS,
        rust_timeout=_NEVER_MS,
        recursive=False,
    )
    async with aclosing(changes):
        batch = asyncio.ensure_future(anext(changes))
        try:
            await asyncio.sleep(
                0
            )  # the task begins to watch before it first waits: what changes from here on is reported
            if not batch.done():
                set_watched(True)
                await _told(on_change)
            while watched.is_current():
                await batch
                await _told(on_change)
                batch = asyncio.ensure_future(anext(changes))
        finally:
            batch.cancel()
            await asyncio.wait({batch})


async def _told(on_change: Callable[[], Awaitable[None]]) -> None:
    try:
        await on_change()
    except Exception as error:  # noqa: BLE001  the next change is read all the same
        log.error("trees.not_read", problem=repr(error)[:500])  # noqa: TRY400  the cause is one of the files
