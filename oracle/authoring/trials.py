"""What a text of a tree would change, found out before it is saved, as the command line finds it out.

Rules:

- Each trial is a process of its own, with a bound on its time, its memory and its output: an operator's trial delays no
  user's query, and one that explodes takes nothing with it. One runs at a time; the others wait.
- It sees copies: the present files of all trees, and the same with the text in place. Nothing is written elsewhere.
- The process (`oracle.server.wiring.trial_worker`) gets a request on its standard input, and answers with what it has
  found, both as JSON.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import Field, TypeAdapter

from bt_runtime import ReloadingTrees
from bt_runtime.language.reading.loading import TreeSource
from oracle.authoring.editor import NO_TREE
from oracle.authoring.results import ScenarioFile, TreeVerification
from oracle.authoring.saving import TreeFolderError
from oracle.core.errors import NotFoundError, UserError
from oracle.replay.comparing import Comparison

T = TypeVar("T")

LONGEST_S = 60.0
"""Seconds that a trial may take."""
MOST_MEGABYTES = 500
"""Of a verification: it shares the machine with the service."""

_WORKER: Final = "oracle.server.wiring.trial_worker"
_OF_CALLERS: Final = frozenset(
    {"ORACLE_JWT_SECRET", "ORACLE_TOKENS", "ORACLE_OPERATORS", "ORACLE_OPENWEBUI_JWT_SECRET"}
)
_MOST_BYTES = 10_000_000
_PART_BYTES = 65_536
_MOST_WORDS = 1_000
_SHARE = 0.6  # of a trial's time, for the exploration: the process has to start, and to tell its stories

OLD: Final = "old"
"""The folder of the present trees, below that of the copies."""
NEW: Final = "new"
"""The folder of the trees with the text in place, and of the scenarios."""
SCENARIOS: Final = "scenarios"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """Replay recorded queries that named the tree `of`: the latest `runs`, or the one alone whose id is given."""

    kind: Literal["replay"] = "replay"
    folder: Path
    of: str
    runs: int
    run_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenariosRequest:
    """Play the scenarios."""

    kind: Literal["scenarios"] = "scenarios"
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """Explore the tree `of` for up to `turns` turns, until there are too many states, seconds or megabytes."""

    kind: Literal["verify"] = "verify"
    folder: Path
    of: str
    turns: int
    states: int
    seconds: float
    megabytes: int


TrialRequest = Annotated[ReplayRequest | ScenariosRequest | VerifyRequest, Field(discriminator="kind")]
REQUEST: Final[TypeAdapter[TrialRequest]] = TypeAdapter(TrialRequest)

_REPLAYED: TypeAdapter[tuple[Comparison, ...]] = TypeAdapter(tuple[Comparison, ...])
_SCENARIO_FILES: TypeAdapter[tuple[ScenarioFile, ...]] = TypeAdapter(tuple[ScenarioFile, ...])
_VERIFICATION: TypeAdapter[TreeVerification] = TypeAdapter(TreeVerification)


@dataclass(eq=False)
class Trials:
    """Compares trees on recorded runs, plays their scenarios, and verifies them.

    Args:
        trees: the served trees, whose present files are copied for a trial.
        environment: settings of the process, added to the environment of this one.
        longest_s: seconds after which a trial is ended.
        most_megabytes: how much memory the process of a verification may have when it stops exploring.
    """

    trees: ReloadingTrees
    _: KW_ONLY
    environment: Mapping[str, str]
    longest_s: float = LONGEST_S
    most_megabytes: int = MOST_MEGABYTES
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
        async with self._copies(name, text) as folder:
            return await self._answer(ReplayRequest(folder=folder, of=of, runs=runs, run_id=run_id), _REPLAYED)

    async def test(self, name: str, text: str) -> tuple[ScenarioFile, ...]:
        """Play all scenarios with this text in place.

        Raises:
            NotFoundError: there is none of this name.
            UserError: there are no scenarios, or it took too long.
        """
        if not any((folder / SCENARIOS).is_dir() for folder in self.trees.library.folders):
            raise UserError(f"there are no scenarios; put them into {SCENARIOS!r} in the folder of trees", status=409)
        async with self._copies(name, text) as folder:
            return await self._answer(ScenariosRequest(folder=folder), _SCENARIO_FILES)

    async def verify(self, name: str, text: str, *, of: str, turns: int, states: int) -> TreeVerification:
        """Explore all behaviours of a tree with this text in place.

        Args:
            name: of the tree whose text it would be.
            text: the whole text of the tree's file.
            of: the tree that is explored: the same, or one that includes it.
            turns: the most LLM turns of a run.
            states: where the exploration stops. It also stops in time for an answer.

        Raises:
            NotFoundError: there is none of this name.
            UserError: the text has mistakes, or it took too long.
        """
        seconds, megabytes = self.longest_s * _SHARE, self.most_megabytes
        async with self._copies(name, text) as folder:
            request = VerifyRequest(
                folder=folder, of=of, turns=turns, states=states, seconds=seconds, megabytes=megabytes
            )
            return await self._answer(request, _VERIFICATION)

    @asynccontextmanager
    async def _copies(self, name: str, text: str) -> AsyncIterator[Path]:
        """A folder of copies, for one trial at a time."""
        async with self._one:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="oracle-trial-"))
            try:
                await asyncio.to_thread(self._furnish, folder, name, text)
                yield folder
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _furnish(self, folder: Path, name: str, text: str) -> None:
        """Copy the trees to `OLD`, and to `NEW` with the text in place and the scenarios next to them."""
        try:
            found = self.trees.read_files().found
        except OSError as error:
            raise TreeFolderError(f"the folder of trees cannot be read: {error}") from None
        if name not in found:
            raise NotFoundError(NO_TREE)
        texts = {each: source.text for each, source in found.items() if isinstance(source, TreeSource)}
        for place, changed in ((OLD, texts), (NEW, {**texts, name: text})):
            (folder / place).mkdir()
            for each, content in changed.items():
                data = content.encode() if isinstance(content, str) else content
                (folder / place / f"{each}.yaml").write_bytes(data)
        for source in reversed(self.trees.library.folders):  # the operator's files last: they take precedence
            if (source / SCENARIOS).is_dir():
                shutil.copytree(source / SCENARIOS, folder / NEW / SCENARIOS, dirs_exist_ok=True)

    async def _answer(self, request: TrialRequest, results: TypeAdapter[T]) -> T:
        """What the process of a trial has found."""
        folder = request.folder
        process = await asyncio.create_subprocess_exec(
            # -P: a folder `oracle` where the service was started must not take the package's place.
            *(sys.executable, "-P", "-m", _WORKER),
            env={**_harmless(), **self.environment, "ORACLE_TREES_DIR": str(folder / NEW)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self.longest_s):
                output, problems = await _both(process, REQUEST.dump_json(request))
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
    for copy in (OLD, NEW):
        text = text.replace(f"{folder / copy}{os.sep}", "")
    return text
