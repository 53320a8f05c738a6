"""Server processes of load and fault tests: start, wait for the address, measure, end."""

import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

_ADDRESS = re.compile(r"https?://[\w.\[\]:-]+:\d+")
_PATIENCE_S = 60.0
_OF_SCHEDULER = 2  # CPUCLOCK_SCHED of Linux, in the id of a clock of a process


class ProcessEndedError(RuntimeError):
    """The process ended before it printed its address.

    Args:
        code: its exit code.
        said: its output.
    """

    def __init__(self, code: int, said: str) -> None:
        super().__init__(f"exit {code}: {said}")
        self.code = code
        self.said = said


class ServerProcess:
    """A server in its own process. As a context manager it is ended at the end, by force if necessary.

    Args:
        command: the command; the first address on its standard output is the server's address.
        env: additional environment variables; a value of `None` removes one.
        log: the file for its standard error.
        cwd: its working directory.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._command = command
        # Without cached bytecode a server takes seconds longer to start, and it is started often here.
        given = os.environ | {"PYTHONDONTWRITEBYTECODE": None} | dict(env or {})
        self._env = {name: value for name, value in given.items() if value is not None}
        self._log = log
        self._cwd = cwd
        self._process: asyncio.subprocess.Process | None = None
        self._listening: asyncio.Task[None] | None = None
        self.address = ""
        self.said: list[str] = []
        """The lines of its standard output, over all starts."""

    async def start(self) -> Self:
        """Start the process, and wait until it prints its address.

        Raises:
            ProcessEndedError: it ended before.
        """
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self._env,
                cwd=self._cwd,
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(_PATIENCE_S):
            while line := (await self._process.stdout.readline()).decode():
                self.said.append(line.rstrip())
                if found := _ADDRESS.search(line):
                    self.address = found[0]
                    self._listening = asyncio.create_task(self._listen(self._process.stdout))
                    return self
        code = await self.exited()
        raise ProcessEndedError(code, f"{' / '.join(self.said)} {self.errors}")

    async def _listen(self, output: asyncio.StreamReader) -> None:
        """Keep reading, because a process blocks if its output is not read."""
        async for line in output:
            self.said.append(line.decode(errors="replace").rstrip())

    @property
    def errors(self) -> str:
        """Its standard error, over all starts."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @property
    def pid(self) -> int:
        assert self._process is not None, "not started"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    async def exited(self, *, within_s: float = _PATIENCE_S) -> int:
        """Wait for the end of the process; returns its exit code."""
        process = self._process
        assert process is not None, "not started"
        async with asyncio.timeout(within_s):
            code = await process.wait()
            if self._listening is not None:
                await self._listening
        return code

    async def stop(self, number: signal.Signals = signal.SIGTERM, *, within_s: float = _PATIENCE_S) -> int:
        """Signal it, and wait for its exit code."""
        self.send(number)
        return await self.exited(within_s=within_s)

    async def kill(self) -> None:
        """As a crash would."""
        await self.stop(signal.SIGKILL)

    @property
    def cpu_s(self) -> float:
        """Processor time that it has used, by the kernel's clock of the process, which counts nanoseconds."""
        return time.clock_gettime(~self.pid << 3 | _OF_SCHEDULER)

    @property
    def rss_bytes(self) -> int:
        """Its resident memory."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        if self.is_running:
            with suppress(ProcessLookupError):
                await self.kill()


def python(*arguments: str) -> list[str]:
    """A command that runs a module of this environment."""
    return [sys.executable, *arguments]
