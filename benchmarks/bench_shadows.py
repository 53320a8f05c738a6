"""What shadow runs cost the queries beside them: the time of a query with shadows, over that without, in one run.

The service is `oracle serve` as it is, over the offline model, which works on the processor alone: nothing is hidden
behind the wait for a provider. Some users ask one question after the other, so that shadows of earlier questions could
be under way beside later ones. Services with shadows and without take turns, so that both meet the same machine. Aim:
the median of a query is at most 1.15 times as long beside shadows as without.

Some two minutes: `python -m benchmarks.bench_shadows`.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import ServiceClient

AIM_RATIO = 1.15
ROUNDS = 20
USERS = 1
SERVICES: Mapping[str, Mapping[str, str]] = {
    "without": {},
    "beside": {"ORACLE_CONTROL": "shadow", "ORACLE_SHADOW_TOKENS_PER_HOUR": "0"},
}
QUESTIONS = (
    "Where is the class RetryPolicy defined in the code?",
    "How does the code in the module decide how long to wait between attempts?",
    "Which function in the code reads the settings of a file?",
)
_MODULE = '''"""Module {n} of the project."""


class RetryPolicy{n}:
    """Waits twice as long between attempts {n}."""

    attempts = {n}


def read_settings_{n}(file):
    """Read the settings of a file."""
    return [line for line in file if line.strip()]
'''


@dataclass(slots=True)
class Asked:
    """The queries of one service."""

    server: ServerProcess
    has_shadows: bool
    asked: int = 0
    seconds: list[float] = field(default_factory=list)
    finished: float = 0.0
    dropped: float = 0.0
    cpu_s: float = 0.0
    """Processor time of the whole process for one query, and for its shadow where there is one."""

    async def ask(self, question: str) -> None:
        """Ask, and read the answer to its end."""
        self.asked += 1
        began = time.perf_counter()
        client = await ServiceClient.connect(self.server.address, on_event=lambda _, __: None)
        client.send("POST", "/api/oracle/stream", body={"question": question})
        assert await client.headers_came() == 200
        await client.ended()
        client.close()
        self.seconds.append(time.perf_counter() - began)

    async def count(self) -> None:
        """Read what became of the shadows."""
        client = await ServiceClient.connect(self.server.address)
        client.send("GET", "/metrics")
        await client.ended()
        text = client.body.decode()
        client.close()
        self.finished = _sum_of(text, "oracle_shadow_runs_total")
        self.dropped = _sum_of(text, "oracle_shadow_runs_dropped_total")


def _sum_of(metrics: str, name: str) -> float:
    return sum(float(line.rpartition(" ")[2]) for line in metrics.splitlines() if line.startswith(name))


def make_project(folder: Path, *, files: int = 10) -> Path:
    """A small project: the work of a query is mostly that of the service, as that of its shadow is."""
    folder.mkdir()
    for n in range(files):
        (folder / f"module_{n}.py").write_text(_MODULE.format(n=n) * 20, encoding="utf-8")
    return folder


async def measure(*, rounds: int, users: int) -> dict[str, Asked]:
    """Ask the same questions of each service in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = make_project(folder / "project")
        async with AsyncExitStack() as stack:
            services: dict[str, Asked] = {}
            for kind, env in SERVICES.items():
                command = python("-m", "oracle", "serve", "--port", "0", "--project", str(project))
                given = {"ORACLE_LLM": "offline", "ORACLE_ENCODER": "off", "ORACLE_DATA_DIR": str(folder / kind)}
                server = ServerProcess(command, log=folder / f"{kind}.log", env=given | dict(env), cwd=folder)
                services[kind] = Asked(await stack.enter_async_context(server), has_shadows="ORACLE_CONTROL" in env)
            began_s: dict[int, float] = {}
            for at in range(rounds):
                for asked in services.values():  # one at a time: no service measures another's work
                    await asyncio.gather(*(_user(asked) for _ in range(users)))
                    await _until_quiet(asked)
                if at == 0:  # it was warmed up
                    for asked in services.values():
                        asked.seconds.clear()
                        began_s[asked.server.pid] = asked.server.cpu_s
            for asked in services.values():
                asked.cpu_s = (asked.server.cpu_s - began_s[asked.server.pid]) / len(asked.seconds)
    return services


async def _user(asked: Asked) -> None:
    for question in QUESTIONS:
        await asked.ask(question)


async def _until_quiet(asked: Asked) -> None:
    """Wait until every query so far has its shadow, or has lost it."""
    await asked.count()
    while asked.has_shadows and asked.finished + asked.dropped < asked.asked:
        await asyncio.sleep(0.1)
        await asked.count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--users", type=int, default=USERS)
    given = parser.parse_args()
    services = asyncio.run(measure(rounds=given.rounds, users=given.users))
    baseline = median(services["without"].seconds)
    base_90 = quantiles(services["without"].seconds, n=10)[-1]
    for kind, asked in services.items():
        middle, slow = median(asked.seconds), quantiles(asked.seconds, n=10)[-1]
        shadows = f"; {asked.finished:.0f} shadows, {asked.dropped:.0f} dropped" if kind != "without" else ""
        print(
            f"{kind:<8} median {middle * 1000:6.1f} ms, {middle / baseline:.2f} times; "
            f"p90 {slow * 1000:6.1f} ms, {slow / base_90:.2f} times; "
            f"processor {asked.cpu_s * 1000:.0f} ms{shadows}"
        )
    ratio = median(services["beside"].seconds) / baseline
    print(f"beside shadows: {ratio:.2f} times (aim: {AIM_RATIO} at most)")


if __name__ == "__main__":
    main()
