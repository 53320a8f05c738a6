"""Workers on one database that may die at any time, the two doubles beside them, and what the ledger says."""

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import call

ROOT = Path(__file__).parents[2]
TREES = Path(__file__).parent / "trees"

_FOREIGN = ("ORACLE_", "ANTHROPIC_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "COV_", "PYTEST_", "DURABLE_")


class Provider(ServerProcess):
    """The provider double.

    Args:
        folder: where its log goes.
    """

    def __init__(self, folder: Path) -> None:
        command = python("-m", "tests.durable.double")
        super().__init__(command, log=folder / "double.log", cwd=ROOT, env={"PYTHONPATH": str(ROOT)})

    async def seen(self) -> dict[str, Any]:
        """What it has counted."""
        return dict((await call(self.address, "GET", "/seen"))[2])

    async def forget(self) -> None:
        """Begin to count anew."""
        await call(self.address, "POST", "/forget", body={})

    async def pace(self, *, pieces: int, gap_s: float) -> None:
        """How it speaks from now on."""
        await call(self.address, "POST", "/pace", body={"pieces": pieces, "gap_s": gap_s})


class Worker(ServerProcess):
    """One `oracle serve`.

    Args:
        folder: of the fleet.
        name: of its data folder and its log.
        provider: who answers.
        database: its address.
        settings: variables.
        trees: the folder of trees.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        provider: str,
        database: str,
        *,
        settings: Mapping[str, str] | None = None,
        trees: Path = TREES,
    ) -> None:
        foreign = dict.fromkeys(name for name in os.environ if name.upper().startswith(_FOREIGN))
        own = {
            "ANTHROPIC_API_KEY": "test",
            "ANTHROPIC_BASE_URL": provider,
            "ORACLE_DATABASE_URL": database,
            "ORACLE_ENCODER": "off",
            "ORACLE_LOG": "info",
            "ORACLE_PLUGINS": "tests.durable.plugin",
            "ORACLE_THINKING_TOKENS": "0",
            "ORACLE_TREES_DIR": str(trees),
            "PYTHONPATH": str(ROOT),
            "DURABLE_LEDGER": str(folder / "ledger"),
        }
        (folder / "project").mkdir(exist_ok=True)
        command = python("-m", "oracle", "serve", "--port", "0", "--data-dir", str(folder / name))
        command += ["--project", str(folder / "project")]
        super().__init__(command, log=folder / f"{name}.log", env=foreign | own | dict(settings or {}), cwd=folder)
        self.name = name

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it has logged, over all starts."""
        return [json.loads(line) for line in self.errors.splitlines() if line.startswith("{")]


class Fleet:
    """Several workers on one database.

    Args:
        folder: of the test.
        provider: who answers.
        database: its address.
        workers: those that it has.
    """

    def __init__(self, folder: Path, provider: Provider, database: str, workers: Sequence[Worker]) -> None:
        self.folder = folder
        self.provider = provider
        self.database = database
        self.workers = list(workers)
        self.kills = 0
        self.starts_s: list[float] = []
        """How long the workers that were killed took to start again."""
        self._starting: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def running(
        cls, folder: Path, database: str, *, workers: int = 1, settings: Mapping[str, str] | None = None
    ) -> AsyncIterator[Self]:
        """The doubles and so many workers, until the end of the context."""
        async with AsyncExitStack() as stack:
            provider = await stack.enter_async_context(Provider(folder))
            made = [Worker(folder, f"w{n}", provider.address, database, settings=settings) for n in range(workers)]
            await stack.enter_async_context(made[0])  # it makes the tables
            await asyncio.gather(*(stack.enter_async_context(worker) for worker in made[1:]))
            fleet = cls(folder, provider, database, made)
            try:
                yield fleet
            finally:
                await fleet.settled()

    @property
    def live(self) -> list[Worker]:
        """The workers that are reached now."""
        return [worker for worker in self.workers if worker.is_running and worker.address]

    def any_address(self, dice: random.Random) -> str:
        """Of one of the live workers; of one that starts, if none lives."""
        return dice.choice(self.live or self.workers).address

    async def kill(self, worker: Worker, *, restart: bool = True) -> None:
        """kill -9, and a new start beside all else."""
        self.kills += 1
        worker.address = ""
        await worker.kill()
        if restart:
            self._starting.add(asyncio.create_task(self._start(worker)))

    async def _start(self, worker: Worker) -> None:
        began_s = time.monotonic()
        await worker.start()
        self.starts_s.append(time.monotonic() - began_s)

    @asynccontextmanager
    async def kept_alive(self) -> AsyncIterator[None]:
        """Workers that die by themselves are started again at once."""

        async def keep(worker: Worker) -> None:
            while True:
                await worker.exited(within_s=3600)
                worker.address = ""
                await self._start(worker)

        keeping = [asyncio.create_task(keep(worker)) for worker in self.workers]
        try:
            yield
        finally:
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)

    async def settled(self) -> None:
        """All that were killed have started again."""
        while self._starting:
            started, self._starting = self._starting, set()
            await asyncio.gather(*started)

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """What the tools did, in order."""
        with suppress(FileNotFoundError):
            return [json.loads(line) for line in (self.folder / "ledger").read_text().splitlines()]
        return []

    def forget_ledger(self) -> None:
        """Begin a new one."""
        (self.folder / "ledger").unlink(missing_ok=True)

    def effects(self) -> Counter[str]:
        """How often each key was written."""
        return Counter(entry["key"] for entry in self.ledger if entry["did"] == "effect")
