"""Runs that others have exported, kept in a folder of their own: they never mix with the runs of the database."""

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final, Literal

from bt_runtime.text.data import dataclass
from oracle.core.errors import OperatorError
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import DamagedHistoryError, history_from_json
from oracle.replay.histories.model import History
from oracle.runs.storage.errors import UnclearRunError

LARGEST_BYTES: Final = 256 * 1024 * 1024
"""Of a file that is imported: a run of 100 000 ticks has less."""

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_MOST_LIKE_IT: Final = 5


@dataclass(frozen=True, slots=True)
class Kept:
    """What has become of a file that was imported.

    Args:
        history: the run that the file holds.
        path: where the file is kept.
        what: `new`, or `same`: it had been imported before.
    """

    history: History
    path: Path
    what: Literal["new", "same"]


class ImportedRuns:
    """The runs that were imported, a file each, named by the run's id.

    Args:
        folder: need not exist before the first import.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, data: bytes) -> Kept:
        """Check an export, and keep it.

        Raises:
            DamagedHistoryError: it is no export of a run, or damaged.
            OperatorError: another export of the run is there already, or the folder cannot be written.
        """
        history = history_from_json(data)
        if not _ID.fullmatch(history.run.id):
            raise DamagedHistoryError(f"the export is damaged at run.id: {history.run.id[:80]!r} is no id of a run")
        path, data = self._path(history.run.id), history_to_json(history)
        try:
            for folder in (self._folder.parent, self._folder):  # conversations lie in both
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.exists():
                if path.read_bytes() != data:
                    message = f"another export of the run {history.run.id} was imported; delete {str(path)!r} first"
                    raise OperatorError(message)
                return Kept(history, path, "same")
            _write(path, data)
        except OSError as error:
            raise OperatorError(f"{str(path)!r} cannot be written: {error.strerror or error}") from None
        return Kept(history, path, "new")

    def find(self, beginning: str) -> History | None:
        """The imported run with that id, or the only one whose id begins so; `None` if there is none.

        Raises:
            UnclearRunError: more than one begins so.
            DamagedHistoryError: its file was changed since.
            OperatorError: its file cannot be read.
        """
        alike = [each for each in self.ids() if each.startswith(beginning)] if _ID.fullmatch(beginning) else []
        if beginning in alike:
            alike = [beginning]
        if len(alike) > 1:
            raise UnclearRunError(beginning, alike[: _MOST_LIKE_IT + 1])
        return history_from_json(read_export(self._path(alike[0]))) if alike else None

    def ids(self) -> Sequence[str]:
        """The ids of all imported runs, in order."""
        return sorted(path.stem for path in self._folder.glob("*.json") if _ID.fullmatch(path.stem))

    def _path(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.json"


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all; only its user can read it, and no link is followed."""
    with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".partial", delete=False) as file:
        partial = Path(file.name)
        try:
            file.write(data)
            file.flush()
            partial.replace(path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def read_export(path: Path) -> bytes:
    """The bytes of an exported file.

    Raises:
        OperatorError: it cannot be read, or is too large to be an export.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise OperatorError(f"{str(path)!r} cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST_BYTES:
        limit = LARGEST_BYTES // 1024 // 1024
        raise OperatorError(f"{str(path)!r} has more than {limit} MiB; no export of a run is that large")
    return data
