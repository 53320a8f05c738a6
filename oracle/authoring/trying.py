"""What a text of a tree would change, found out by the commands that the command line has, before it is saved.

Rules:

- Each trial is a process of its own, with a bound on its time and its output: an operator's trial delays no user's
  query, and one that explodes takes nothing with it. One runs at a time; the others wait.
- It sees copies: the present files of all trees, and the same with the text in place. Nothing is written elsewhere.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bt_runtime import ReloadingTrees
from bt_runtime.reading.loading import Source
from oracle.authoring.errors import NoSuchTreeError, TreeFolderError, TrialError

LONGEST_S = 60.0
"""Seconds that a trial may take."""
MOST_MEGABYTES = 500
"""Of a verification: it shares the machine with the service."""

_MOST_BYTES = 10_000_000
_PART_BYTES = 65_536
_MOST_WORDS = 1_000
_SCENARIOS = "scenarios"
_SHARE = 0.6  # of a trial's time, for the exploration: the process has to start, and to tell its stories


class Trials:
    """Compares trees on recorded runs, plays their scenarios, and verifies them.

    Args:
        trees: what the service uses.
        environment: settings of the commands, beside the environment of this process.
        longest_s: how long one may take.
        most_megabytes: how much memory the process of a verification may have when it stops exploring.
    """

    def __init__(
        self,
        trees: ReloadingTrees,
        *,
        environment: Mapping[str, str],
        longest_s: float = LONGEST_S,
        most_megabytes: int = MOST_MEGABYTES,
    ) -> None:
        self._trees = trees
        self._environment = environment
        self._longest_s = longest_s
        self._most_megabytes = most_megabytes
        self._one = asyncio.Semaphore(1)

    async def compare(self, name: str, text: str, *, of: str, runs: int, run_id: str | None = None) -> dict[str, Any]:
        """Replay recorded queries on the present trees, and with a text in place; the JSON of `oracle trees compare`.

        Args:
            name: of the tree whose text it would be.
            text: the text.
            of: the tree that the queries named: the same, or one that includes it.
            runs: the latest N queries.
            run_id: this query alone.

        Raises:
            NoSuchTreeError: there is none of this name.
            TrialError: the text has mistakes, nothing is recorded, or it took too long.
        """
        which = ["--runs", str(runs)] if run_id is None else ["--run", run_id]
        command: Sequence[str | Path] = [
            "compare",
            Path("old", f"{of}.yaml"),
            Path("new", f"{of}.yaml"),
            *which,
            "--json",
        ]
        return await self._run(name, text, command)

    async def test(self, name: str, text: str) -> dict[str, Any]:
        """Play all scenarios with this text in place; the JSON of `oracle trees test`.

        Raises:
            NoSuchTreeError: there is none of this name.
            TrialError: there are no scenarios, or it took too long.
        """
        return await self._run(name, text, ["test", Path("new", _SCENARIOS), "--json"])

    async def verify(self, name: str, text: str, *, of: str, turns: int, states: int) -> dict[str, Any]:
        """Explore all behaviours of a tree with this text in place; what `oracle trees verify` says of it, as JSON.

        Args:
            name: of the tree whose text it would be.
            text: the text.
            of: the tree that is explored: the same, or one that includes it.
            turns: the most LLM turns of a run.
            states: where the exploration stops. It also stops in time for an answer.

        Raises:
            NoSuchTreeError: there is none of this name.
            TrialError: the text has mistakes, or it took too long.
        """
        bounds = ["--turns", str(turns), "--states", str(states), "--seconds", f"{self._longest_s * _SHARE:g}"]
        bounds += ["--megabytes", str(self._most_megabytes)]
        found = await self._run(name, text, ["verify", Path("new", f"{of}.yaml"), *bounds, "--json"])
        report: dict[str, Any] = found["trees"][0]
        return report

    async def _run(self, name: str, text: str, command: Sequence[str | Path]) -> dict[str, Any]:
        """Run a command on copies of the trees; its paths are relative to the folder of the copies."""
        if command[0] == "test" and not any((folder / _SCENARIOS).is_dir() for folder in self._trees.library.folders):
            raise TrialError(f"there are no scenarios; put them into {_SCENARIOS!r} in the folder of trees")
        async with self._one:
            folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="oracle-trial-"))
            try:
                await asyncio.to_thread(self._furnish, folder, name, text)
                arguments = [str(folder / word) if isinstance(word, Path) else word for word in command]
                return await self._output(arguments, folder)
            finally:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _furnish(self, folder: Path, name: str, text: str) -> None:
        """Copy the trees to `old`, and to `new` with the text in place and the scenarios beside them."""
        try:
            found = self._trees.read_files().found
        except OSError as error:
            raise TreeFolderError(f"the folder of trees cannot be read: {error}") from None
        if name not in found:
            raise NoSuchTreeError(name)
        texts = {each: source.text for each, source in found.items() if isinstance(source, Source)}
        for place, changed in (("old", texts), ("new", {**texts, name: text})):
            (folder / place).mkdir()
            for each, content in changed.items():
                data = content.encode() if isinstance(content, str) else content
                (folder / place / f"{each}.yaml").write_bytes(data)
        for source in reversed(self._trees.library.folders):  # the operator's files last: they take precedence
            if (source / _SCENARIOS).is_dir():
                shutil.copytree(source / _SCENARIOS, folder / "new" / _SCENARIOS, dirs_exist_ok=True)

    async def _output(self, arguments: list[str], folder: Path) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            # -P: a folder `oracle` where the service was started must not take the package's place.
            *(sys.executable, "-P", "-m", "oracle", "trees", *arguments),
            env={**_harmless(), **self._environment, "ORACLE_TREES_DIR": str(folder / "new"), "NO_COLOR": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._longest_s):
                output, problems = await _both(process)
        except TimeoutError:
            raise TrialError(f"this took longer than {self._longest_s:g} s; try fewer runs") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):  # macOS refuses where it has ended already
                os.killpg(process.pid, signal.SIGKILL)  # with what it has started: it leads a session
            await process.wait()
        try:
            result: dict[str, Any] = json.loads(_without(folder, output))
        except ValueError:
            words = _without(folder, problems).strip().removeprefix("Error: ")
            raise TrialError(words[:_MOST_WORDS] or "the command failed") from None
        return result


async def _both(process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
    """What a process prints to its output and to its standard error, neither kept beyond the bound."""
    assert process.stdout is not None  # noqa: S101  both are pipes
    assert process.stderr is not None  # noqa: S101
    output, problems = await asyncio.gather(_read(process.stdout), _read(process.stderr))
    return output, problems


async def _read(stream: asyncio.StreamReader) -> bytes:
    found = bytearray()
    while part := await stream.read(_PART_BYTES):
        found += part
        if len(found) > _MOST_BYTES:
            raise TrialError("there is more to say than an answer holds; try fewer runs")
    return bytes(found)


def _harmless() -> dict[str, str]:
    """The environment of this process without what signs requests, to the provider or to the service."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ANTHROPIC_") and name not in ("ORACLE_JWT_SECRET", "ORACLE_TOKENS", "ORACLE_OPERATORS")
    }


def _without(folder: Path, output: bytes) -> str:
    """The output with the names of the copies as they are in the operator's folder."""
    text = output.decode(errors="replace")
    for copy in ("old", "new"):
        text = text.replace(f"{folder / copy}{os.sep}", "")
    return text
