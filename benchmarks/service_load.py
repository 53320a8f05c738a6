"""A load of streams on one server process: the clients, what they hear, and the servers that they ask.

Each piece carries the time at which it was due, and a client in another process tells how long after that it came.
Every stream is checked: its numbers have no gap, its text is the answer to its own question, and `done` comes once and
last.
"""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from benchmarks.paced import Pace, make_project, pieces_in, question
from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import ServiceClient

RAMP_S = 2.0
"""Over which the streams begin: users do not all ask in the same millisecond."""
NATIVE = "/api/oracle/stream"


@dataclass(slots=True)
class Heard:
    """What one client heard of its query."""

    tag: str
    numbers: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)
    run_id: str = ""
    status: int = 0

    def take(self, number: int, data: bytes) -> None:
        chunk = orjson.loads(data)
        if chunk["type"] == "content":
            self.hear(chunk["content"])
            self.numbers[-1] = number
        else:
            self.numbers.append(number)
            self.types.append(chunk["type"])

    def hear(self, text: str) -> None:
        """A piece of the answer has come."""
        now = time.monotonic()
        self.numbers.append(len(self.numbers) + 1)
        self.types.append("content")
        self.texts.append(text)
        self.late_s += [now - piece.sent_at for piece in pieces_in(text)]

    def mistakes(self, pace: Pace) -> list[str]:
        """Everything that is not as it must be."""
        found = []
        if self.status != 200:
            return [f"{self.tag}: status {self.status}"]
        if self.numbers != list(range(1, len(self.numbers) + 1)):
            found.append(f"{self.tag}: the numbers have gaps")
        if [piece.place for piece in pieces_in("".join(self.texts))] != pace.expected(self.tag):
            found.append(f"{self.tag}: the text is not the answer to its question")
        if self.types.count("done") != 1 or self.types[-1] != "done":
            found.append(f"{self.tag}: it ended with {self.types[-3:]}")
        return found


@dataclass(frozen=True, slots=True)
class Load:
    """What came of many streams at once."""

    heard: Sequence[Heard]
    cpu_s: float
    wall_s: float
    run_kb: float

    def late_ms(self, share: float) -> float:
        late = sorted(each for heard in self.heard for each in heard.late_s)
        return late[min(len(late) - 1, math.ceil(len(late) * share) - 1)] * 1000

    @property
    def pieces(self) -> int:
        return sum(len(heard.late_s) for heard in self.heard)

    @property
    def cpu_us(self) -> float:
        """Of a piece."""
        return self.cpu_s / self.pieces * 1e6

    @property
    def chunks_of_a_piece(self) -> float:
        """Below 1 where pieces were joined."""
        return sum(heard.types.count("content") for heard in self.heard) / self.pieces


def native_body(text: str) -> Any:
    return {"question": text}


async def ask(
    address: str,
    tag: str,
    *,
    after_s: float,
    path: str = NATIVE,
    body: Callable[[str], Any] = native_body,
    make: Callable[[str], Heard] = Heard,
) -> Heard:
    """One client: asks, and listens to the end."""
    await asyncio.sleep(after_s)
    heard = make(tag)
    client = await ServiceClient.connect(address, on_event=heard.take)
    client.send("POST", path, body=body(question(tag)))
    heard.status = await client.headers_came()
    heard.run_id = client.headers.get("x-run-id", "")
    await client.ended()
    client.close()
    return heard


async def load(
    server: ServerProcess,
    streams: int,
    *,
    ramp_s: float = RAMP_S,
    pace: Pace | None = None,
    path: str = NATIVE,
    body: Callable[[str], Any] = native_body,
    heard: Callable[[str], Heard] = Heard,
) -> Load:
    """Ask so many questions at once; the server has been warmed up. `pace`: of their answers, if not the server's."""
    base_bytes, base_s, began = server.rss_bytes, server.cpu_s, time.monotonic()
    most = base_bytes

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, server.rss_bytes)
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    tags = [f"q{streams}x{n}" if pace is None else pace.tag(n) for n in range(streams)]
    asking = (
        ask(server.address, tag, after_s=n / streams * ramp_s, path=path, body=body, make=heard)
        for n, tag in enumerate(tags)
    )
    found = await asyncio.gather(*asking)
    watching.cancel()
    kb = (most - base_bytes) / streams / 1000
    return Load(found, server.cpu_s - base_s, time.monotonic() - began, kb)


def oracle_server(folder: Path, pace: Pace, *, under: Sequence[str] = ()) -> ServerProcess:
    """The service over the paced model in its own process, which the command `under` runs if one is given."""
    project = make_project(folder / "project", pace)
    options = ["--data-dir", str(folder / "data"), "--project", str(project), *paced_options(pace)]
    command = python("-m", "benchmarks.service_process", "oracle", *options)
    return ServerProcess([*under, *command], log=folder / "oracle.log")


def bare_server(folder: Path, pace: Pace, *, recorded: bytes = b"", under: Sequence[str] = ()) -> ServerProcess:
    """The floor."""
    (folder / "recorded").write_bytes(recorded)
    options = ["--recorded", str(folder / "recorded"), *paced_options(pace)]
    command = python("-m", "benchmarks.service_process", "bare", *options)
    return ServerProcess([*under, *command], log=folder / "bare.log")


def made_folder(within: Path, name: str) -> Path:
    """A new folder in another one."""
    made = within / name
    made.mkdir()
    return made


def paced_options(pace: Pace) -> list[str]:
    """The options of the server process for a pace."""
    return ["--turns", str(pace.turns), "--pieces", str(pace.pieces), "--turn-s", str(pace.turn_s)]


def complain(done: Load, pace: Pace) -> None:
    """Print what is not as it must be."""
    mistakes = [mistake for heard in done.heard for mistake in heard.mistakes(pace)]
    for mistake in mistakes[:10]:
        print(f"  WRONG: {mistake}")
    if mistakes:
        print(f"  {len(mistakes)} mistakes")
