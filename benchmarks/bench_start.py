"""Start: processor time of `oracle serve` to its first `200` from `/readyz`, and of commands that only look.

The bare app imports what every such service needs (FastAPI, SQLAlchemy, uvicorn) and answers one route; a command is
compared with a Python that does nothing. Bytecode is there, as after an installation, and so are the tables; the least
of some starts counts. The run that is shown was answered by the embedded model.

A question is asked of the embedded model over a project of a thousand files of 7 KB, whose index is kept from the
second time on.

Aims: 0.8 s to the first ready answer, 0.25 s for help, 0.5 s for a run, 1 s for a question.
"""

import asyncio
import os
import random
import resource
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import ServiceClient

AIM_S = 0.8
HELP_AIM_S = 0.25
SHOW_AIM_S = 0.5
ASK_AIM_S = 1.0
STARTS = 4
WORDS = "auth token session user request tree node tick guard cache index store query event stream chunk"
Kind = tuple[Sequence[str], Mapping[str, str | None]]
"""A command, and its environment over that of this process."""
_BARE = """
import asyncio, fastapi, sqlalchemy, uvicorn
app = fastapi.FastAPI()

@app.get("/readyz")
async def ready() -> dict[str, str]:
    return {"status": "ready"}

async def serve() -> None:
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.001)
    port = server.servers[0].sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    await task

asyncio.run(serve())
"""


async def cpu_to_ready_s(command: Sequence[str], *, folder: Path, env: Mapping[str, str | None]) -> float:
    """What one start takes."""
    async with ServerProcess(command, log=folder / "log", env=env, cwd=folder) as server:
        status = 0
        while status != 200:
            client = await ServiceClient.connect(server.address)
            client.send("GET", "/readyz")
            status = await client.headers_came()
            client.close()
        return server.cpu_s


async def least_s(kinds: Mapping[str, Kind], *, starts: int = STARTS) -> dict[str, float]:
    """The least that a start of each kind takes."""
    with tempfile.TemporaryDirectory() as name:
        return {
            kind: min([await cpu_to_ready_s(command, folder=Path(name), env=env) for _ in range(starts)])
            for kind, (command, env) in kinds.items()
        }


def kinds_of_service() -> dict[str, Kind]:
    """What is started, the baseline first."""
    serve = python("-m", "oracle", "serve", "--port", "0", "--data-dir", "data")
    no_key = {"ANTHROPIC_API_KEY": None, "ANTHROPIC_AUTH_TOKEN": None}
    return {
        "bare FastAPI": (python("-c", _BARE), {}),
        "Oracle, embedded model": (serve, {**no_key, "ORACLE_LLM": "offline"}),
        "Oracle, provider": (serve, {"ANTHROPIC_API_KEY": "test", "ORACLE_LLM": "anthropic"}),
    }


async def start_over_bare() -> float:
    """A start of the service with the embedded model, in starts of the bare app."""
    kinds = dict(list(kinds_of_service().items())[:2])
    floor_s, own_s = (await least_s(kinds, starts=3)).values()
    return own_s / floor_s


async def recorded_run(folder: Path) -> str:
    """The id of a run that a service has recorded in the folder `data` of `folder`."""
    command, env = kinds_of_service()["Oracle, embedded model"]
    async with ServerProcess(command, log=folder / "log", env=env, cwd=folder) as server:
        client = await ServiceClient.connect(server.address)
        client.send("POST", "/api/oracle", body={"question": "Where is the login?"})
        await client.ended()
        client.close()
        await server.stop()
        return str(client.json()["run_id"])


def command_s(arguments: Sequence[str], *, folder: Path) -> float:
    """Processor time of one run of a command, with the embedded model."""
    env = os.environ | {"ORACLE_LLM": "offline"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(python(*arguments), cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_project(folder: Path, *, files: int = 1_000) -> None:
    """A project of modules with some words of their own each, and the usual ones."""
    words = WORDS.split()
    draw = random.Random(1)
    for number in range(files):
        home = folder / f"package_{number % 25}"
        home.mkdir(parents=True, exist_ok=True)
        lines = [f'"""Module {number}: {" ".join(draw.choices(words, k=6))}."""']
        while sum(map(len, lines)) < 7_000:
            name, other = ("_".join(draw.choices(words, k=2)) for _ in range(2))
            lines += [
                f"def {name}_{draw.randrange(999)}({other}: int, *, {name}_id: str) -> int:",
                f'    """The {" ".join(draw.choices(words, k=9))}."""',
                f"    return {other} + len({name}_id) + {draw.randrange(999)}  # {draw.choice(words)}",
            ]
        (home / f"module_{number}.py").write_text("\n".join(lines), encoding="utf-8")


async def measure() -> None:
    print("processor time to the first ready answer")
    found_s = await least_s(kinds_of_service())
    for kind, taken_s in found_s.items():
        aim = "" if kind == "bare FastAPI" else f"   (aim: {AIM_S} s)"
        print(f"  {kind:<24}{taken_s:6.2f} s {taken_s / found_s['bare FastAPI']:6.1f}{aim}")
    print("processor time of a command")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = await recorded_run(folder)
        write_project(folder / "project")
        ask = ("-m", "oracle", "ask", "Where is a session token kept?", "--project", "project")
        commands: Mapping[str, tuple[Sequence[str], float | None]] = {
            "bare Python": (("-c", "pass"), None),
            "oracle ask --help": (("-m", "oracle", "ask", "--help"), HELP_AIM_S),
            "oracle runs show": (("-m", "oracle", "runs", "show", run, "--data-dir", "data"), SHOW_AIM_S),
            "oracle ask": (ask, ASK_AIM_S),
        }
        least: dict[str, float] = {}
        for kind, (arguments, aim_s) in commands.items():
            least[kind] = min(command_s(arguments, folder=folder) for _ in range(STARTS))
            aim = "" if aim_s is None else f"   (aim: {aim_s} s)"
            print(f"  {kind:<24}{least[kind]:6.2f} s {least[kind] / least['bare Python']:6.1f}{aim}")


def main() -> None:
    asyncio.run(measure())


if __name__ == "__main__":
    main()
