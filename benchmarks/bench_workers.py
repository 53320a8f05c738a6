"""Workers: questions a second that `oracle serve --workers 2` answers on PostgreSQL, over one worker.

Both services have the embedded model and a database of their own, and are asked in turns, by as many clients at once as
keep them busy; each client goes on with the next question when it has the whole answer, on a connection that it keeps.
Clients and database are on the same machine and take their share of its cores, so on two cores the ratio says how much
of them the second worker gets. Processor time, of parent and workers, says what an answer costs more where workers
tell each other of it: 1.0 is nothing.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import ServiceClient
from tests.support.stores import NoServerError, postgresql, server

ROUNDS = 5
ROUND_S = 3.0
CLIENTS = 24
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Measured:
    """What a service has done in all rounds."""

    answers: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0

    @property
    def rate(self) -> float:
        return self.answers / self.wall_s

    @property
    def cpu_ms(self) -> float:
        """Of an answer."""
        return self.cpu_s / self.answers * 1000


def cpu_s(parent: int) -> float:
    """The processor time of a process and of its children that live."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    used = 0
    for pid in (parent, *children):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += int(fields[11]) + int(fields[12])
    return used / _TICKS_PER_S


async def ask_on(address: str, *, until_s: float) -> int:
    """One client; returns how many whole answers it got."""
    client, count = await ServiceClient.connect(address), 0
    while time.monotonic() < until_s:
        client.send("POST", "/api/oracle", body={"question": "Where is the function check_password?"})
        assert await client.headers_came() == 200, client.status
        await client.ended()
        count += 1
    client.close()
    return count


async def load(process: ServerProcess, into: Measured, *, seconds: float) -> None:
    """Keep the service busy, and add what it did."""
    began, used = time.monotonic(), cpu_s(process.pid)
    clients = (ask_on(process.address, until_s=began + seconds) for _ in range(CLIENTS))
    into.answers += sum(await asyncio.gather(*clients))
    into.wall_s += time.monotonic() - began
    into.cpu_s += cpu_s(process.pid) - used


async def measure(urls: Sequence[str], folder: Path) -> Sequence[Measured]:
    """One worker and two, in turns."""
    (folder / "login.py").write_text("def check_password(user, password):\n    return True\n")
    async with AsyncExitStack() as stack:
        services = [
            await stack.enter_async_context(
                ServerProcess(
                    python("-m", "oracle", "serve", "--port", "0", "--workers", str(number), "--project", str(folder)),
                    log=folder / f"{number}.log",
                    env={"ORACLE_DATABASE_URL": url, "ORACLE_LLM": "offline", "ORACLE_LOG": "warning"},
                    cwd=folder,
                )
            )
            for number, url in enumerate(urls, 1)
        ]
        found = [Measured() for _ in services]
        for service in services:
            await load(service, Measured(), seconds=1.0)
        for _ in range(ROUNDS):
            for service, measured in zip(services, found, strict=True):
                await load(service, measured, seconds=ROUND_S)
        return found


def main() -> None:
    try:
        with server() as base, postgresql(base) as one, postgresql(base) as two, folder_for() as folder:
            found = uvloop.run(measure((one, two), folder))
    except NoServerError as error:
        print(f"  not measured without PostgreSQL: {error}")
        return
    for number, measured in enumerate(found, 1):
        print(f"  {number} of them: {measured.rate:6.1f} answers/s, {measured.cpu_ms:6.2f} ms CPU an answer")
    one_worker, two_workers = found
    rate, cost = two_workers.rate / one_worker.rate, two_workers.cpu_ms / one_worker.cpu_ms
    print(f"  ratio for 2: {rate:.2f} of the answers, {cost:.2f} of the CPU an answer; {os.cpu_count()} cores")


@contextmanager
def folder_for():
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


if __name__ == "__main__":
    sys.exit(main())
