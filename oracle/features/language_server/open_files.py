"""The texts that an editor has open, the desk that they are edited at, and their checks."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

import structlog
from pygls.uris import to_fs_path

from bt_runtime import TreeLibrary
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES
from oracle.features.editing.desk import Desk
from oracle.features.editing.diagnosing import Diagnosis, diagnose
from trees import FOLDER

_TREE: Final = re.compile(r"^(?:tree|root)[ \t]*:|tree\.schema\.json", re.MULTILINE)
_SCENARIOS: Final = "scenarios"


@dataclass(frozen=True, slots=True)
class OpenFile:
    """One open text.

    Args:
        file: its path as the editor writes it.
        version: the editor's number of the text.
    """

    uri: str
    file: Path
    text: str
    version: int | None

    @property
    def is_bounded(self) -> bool:
        """Whether it is small enough for more than the mistake that it is too large."""
        return len(self.text) <= LARGEST_FILE_BYTES


class OpenFiles:
    """All open texts of one editor.

    Args:
        desk: over the trees of the settings.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._folders: tuple[Path, ...] = ()
        self._open: dict[str, OpenFile] = {}

    def open_folders(self, uris: Iterable[str]) -> None:
        """The folders that the editor has opened; their trees are found after the operator's."""
        paths = (to_fs_path(uri) for uri in uris)
        self._folders = tuple(Path(path) for path in paths if path is not None)

    def put(self, uri: str, text: str, version: int | None) -> None:
        """A text was opened or changed; one that is no file is left out."""
        path = to_fs_path(uri)
        if path is not None and "\0" not in path:
            self._open[uri] = OpenFile(uri, Path(path), text.removeprefix("\ufeff"), version)

    def close(self, uri: str) -> None:
        """A text was closed: its file counts again."""
        self._open.pop(uri, None)

    def get(self, uri: str) -> OpenFile | None:
        """An open text."""
        return self._open.get(uri)

    def trees(self) -> list[OpenFile]:
        """The open texts that are trees."""
        return [each for each in self._open.values() if self.is_tree(each)]

    def is_tree(self, each: OpenFile) -> bool:
        """Whether an open text is a tree: an editor may send every YAML file."""
        if each.file.parent.name == _SCENARIOS:
            return False
        return each.file.parent in self._desk.library.folders or _TREE.search(each.text) is not None

    def desk(self) -> Desk:
        """The desk with the texts as they are now; later changes do not change it."""
        library = self._desk.library
        texts: Mapping[Path, str] = {each.file.resolve(): each.text for each in self._open.values()}
        own = [folder for folder in library.folders if folder != FOLDER]
        folders = dict.fromkeys((*own, *self._folders, FOLDER))
        overlaid = TreeLibrary(tuple(folders), registry=library.registry, texts=MappingProxyType(dict(texts)))
        return replace(self._desk, library=overlaid)


log = structlog.get_logger(__name__)

Publish = Callable[[OpenFile, Diagnosis | None], None]
"""Shows the mistakes of a text; `None` for one that is no tree."""


class Checks:
    """The checks of one editor's texts; they run in a thread, one at a time.

    Args:
        files: the open texts.
        publish: is given each result, in the event loop.
    """

    def __init__(self, files: OpenFiles, publish: Publish) -> None:
        self._files = files
        self._publish = publish
        self._waiting: list[str] = []
        self._generation = 0
        self._task: asyncio.Task[None] | None = None

    def changed(self, uri: str | None = None) -> None:
        """A text has changed, or `None`: some file has; what includes it is checked as well."""
        self._generation += 1
        others = [each.uri for each in self._files.trees() if each.uri != uri]
        self._waiting = [uri, *others] if uri is not None else others
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            generation = self._generation
            each = self._files.get(self._waiting.pop(0))
            if each is None:
                continue
            try:
                found = await self._check(each)
                if generation == self._generation:
                    self._publish(each, found)
            except Exception as error:  # a defect of a check must not end the server
                log.exception("check.failed", file=str(each.file), error=type(error).__name__)

    async def _check(self, each: OpenFile) -> Diagnosis | None:
        if not self._files.is_tree(each):
            return None
        return await asyncio.to_thread(diagnose, self._files.desk(), each.text, each.file)
