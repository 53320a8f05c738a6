"""What a text of a tree would change, found out before it is saved, as the command line finds it out.

Rules:

- Each trial is a process of its own, with a bound on its time, its memory and its output: an operator's trial delays no
  user's query, and one that explodes takes nothing with it. One runs at a time; the others wait.
- It sees copies (`TrialGround`): the present files of all trees, and the same with the text in place. Nothing is
  written elsewhere.
- The process (`oracle.server.wiring.trial_worker`) gets on its standard input which function it calls, and
  answers with what that has found, both as JSON.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, field
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

from bt_runtime import ReloadingTrees, TreeDefinition, TreeLibrary
from bt_runtime.language.reading.loading import TreeSource
from bt_runtime.library.named import read_source
from bt_runtime.text.data import dataclass
from oracle.authoring.editor import NO_TREE
from oracle.authoring.files import TreeFolderError
from oracle.core.errors import NotFoundError, UserError
from oracle.replay.comparing import Comparison, queries_of, replay_query
from oracle.runs.storage.archive import open_archive

T = TypeVar("T")

LONGEST_S = 60.0
"""Seconds that a trial may take."""
_WORKER: Final = "oracle.server.wiring.trial_worker"
_OF_CALLERS: Final = frozenset(
    {"ORACLE_JWT_SECRET", "ORACLE_TOKENS", "ORACLE_OPERATORS", "ORACLE_OPENWEBUI_JWT_SECRET"}
)
_MOST_BYTES = 10_000_000
_PART_BYTES = 65_536
_MOST_WORDS = 1_000

_OLD: Final = "old"  # the folder of the present trees, below that of the copies
_NEW: Final = "new"  # the folder of the trees with the text in place
_COMPARED: Final[TypeAdapter[tuple[Comparison, ...]]] = TypeAdapter(tuple[Comparison, ...])


@dataclass(frozen=True, slots=True)
class TrialGround:
    """What the function of a trial works on.

    Args:
        copies: the folder of the copies.
        library: the operator's trees, with the text in place.
        database: the address of the recorded runs.
    """

    copies: Path
    library: TreeLibrary
    database: str

    @property
    def folder(self) -> Path:
        """The folder of the trees with the text in place."""
        return self.copies / _NEW

    def tree(self, name: str, *, is_old: bool = False, samples: bool = False) -> TreeDefinition:
        """A tree with the text in place, or as it is at present.

        Raises:
            TreeFileError: it has mistakes.
        """
        folder = self.copies / _OLD if is_old else self.folder
        source = read_source(folder / f"{name}.yaml", name=name)
        return self.library.beside(folder).load_source(source, samples=samples)


@dataclass(eq=False)
class Trials:
    """Tries texts of trees: on recorded runs, or as a feature does, such as by playing scenarios.

    Args:
        trees: the served trees, whose present files are copied for a trial.
        environment: settings of the process, added to the environment of this one.
        longest_s: seconds after which a trial is ended.
    """

    trees: ReloadingTrees
    _: KW_ONLY
    environment: Mapping[str, str]
    longest_s: float = LONGEST_S
    _one: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1), init=False)

    async def compare(
        self, name: str, text: str, *, of: str, runs: int, run_id: str | None = None
    ) -> tuple[Comparison, ...]:
        """Replay recorded queries on the present trees, and with a text in place.

        Args:
            name: of the tree whose text it would be.
            text: the whole text of the tree's file.
            of: the tree that the queries named: the same, or one that includes it.
            runs: the latest N queries.
            run_id: this query alone.

        Raises:
            NotFoundError: there is none of this name.
            UserError: the text has mistakes, nothing is recorded, or it took too long.
        """
        place = f"{__name__}:replay_recorded"
        return await self.find(name, text, place, _COMPARED, of=of, runs=runs, run_id=run_id)

    async def find(
        self,
        name: str,
        text: str,
        place: str,
        results: TypeAdapter[T],
        *,
        beside: str = "",
        **given: Any,  # noqa: ANN401  JSON data
    ) -> T:
        """What a function finds out in a process of its own, with a text of a tree in place.

        Args:
            name: of the tree whose text it would be.
            text: the whole text of the tree's file.
            place: the function (`module:name`); it is called with a `TrialGround` and `given`, and returns what can be
                written as JSON. What is wrong it raises as a `UserError`.
            results: reads that.
            beside: the name of folders beside the trees that are copied too.
            **given: JSON data.

        Raises:
            NotFoundError: there is no tree of this name.
            UserError: the text has mistakes, the function has refused it, or it took too long.
        """
        async with self._copies(name, text, beside) as folder:
            return await self._answer(folder, {"copies": str(folder), "place": place, "given": given}, results)

    @asynccontextmanager
    async def _copies(self, name: str, text: str, beside: str) -> AsyncIterator[Path]:
        """A folder of copies, for one trial at a time."""
        async with self._one:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="oracle-trial-"))
            try:
                await asyncio.to_thread(self._furnish, folder, name, text, beside)
                yield folder
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _furnish(self, folder: Path, name: str, text: str, beside: str) -> None:
        """Copy the trees to `_OLD`, and to `_NEW` with the text in place and what lies beside them."""
        try:
            found = self.trees.read_files().found
        except OSError as error:
            raise TreeFolderError(f"the folder of trees cannot be read: {error}") from None
        if name not in found:
            raise NotFoundError(NO_TREE)
        texts = {each: source.text for each, source in found.items() if isinstance(source, TreeSource)}
        for place, changed in ((_OLD, texts), (_NEW, {**texts, name: text})):
            (folder / place).mkdir()
            for each, content in changed.items():
                data = content.encode() if isinstance(content, str) else content
                (folder / place / f"{each}.yaml").write_bytes(data)
        for source in reversed(self.trees.library.folders):  # the operator's files last: they take precedence
            if beside and (source / beside).is_dir():
                shutil.copytree(source / beside, folder / _NEW / beside, dirs_exist_ok=True)

    async def _answer(self, folder: Path, request: Mapping[str, Any], results: TypeAdapter[T]) -> T:
        """What the process of a trial has found."""
        process = await asyncio.create_subprocess_exec(
            # -P: a folder `oracle` where the service was started must not take the package's place.
            *(sys.executable, "-P", "-m", _WORKER),
            env={**_harmless(), **self.environment, "ORACLE_TREES_DIR": str(folder / _NEW)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.longest_s):
                output, problems = await _both(process, json.dumps(request).encode())
        except TimeoutError:
            raise UserError(f"this took longer than {self.longest_s:g} s; try fewer runs", status=409) from None
        finally:
            with suppress(ProcessLookupError, PermissionError):  # macOS refuses where it has ended already
                os.killpg(process.pid, signal.SIGKILL)  # with what it has started: it leads a session
            await process.wait()
        if process.returncode != 0:
            raise UserError(_without(folder, problems).strip()[:_MOST_WORDS] or "the trial failed", status=409)
        return results.validate_json(_without(folder, output))


async def _both(process: asyncio.subprocess.Process, request: bytes) -> tuple[bytes, bytes]:
    """What a process prints to its output and to its standard error, neither kept beyond the bound."""
    assert process.stdin is not None  # noqa: S101  all three are pipes
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    process.stdin.write(request)
    process.stdin.close()
    output, problems = await asyncio.gather(_read(process.stdout), _read(process.stderr))
    await process.wait()
    return output, problems


async def _read(stream: asyncio.StreamReader) -> bytes:
    found = bytearray()
    while part := await stream.read(_PART_BYTES):
        found += part
        if len(found) > _MOST_BYTES:
            raise UserError("there is more to say than an answer holds; try fewer runs", status=409)
    return bytes(found)


def _harmless() -> dict[str, str]:
    """The environment of this process without what signs requests, to the provider or to the service."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ANTHROPIC_") and name not in _OF_CALLERS
    }


def _without(folder: Path, output: bytes) -> str:
    """The output with the names of the copies as they are in the operator's folder."""
    text = output.decode(errors="replace")
    for copy in (_OLD, _NEW):
        text = text.replace(f"{folder / copy}{os.sep}", "")
    return text


async def replay_recorded(ground: TrialGround, of: str, runs: int, run_id: str | None) -> list[Comparison]:
    """Replay recorded queries on the present tree `of`, and with the text of a trial in place."""
    old, new = ground.tree(of, is_old=True), ground.tree(of)
    async with open_archive(ground.database) as archive:
        records = await queries_of(archive, old.name, runs=runs, run_id=run_id)
        return [await replay_query(each, archive, old, new, registry=ground.library.registry) for each in records]
