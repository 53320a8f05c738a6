"""Checks open texts, the changed one first; a newer change takes the place of older ones that are not answered yet."""

import asyncio
from collections.abc import Callable

import structlog

from oracle.authoring.editing.diagnosing import Diagnosis, diagnose
from oracle.cli.language_server.open_files import OpenFile, OpenFiles

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
