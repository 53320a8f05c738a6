"""What real clients of other products meet: `oracle serve` as processes, the provider's stand-in, and a proxy between.

    stage.desk.play(ScriptedTurn(text="Hello"))
    said = await node.run("some_client.mjs", stage.url, token("alice"))
    assert said[-1]["text"] == await stage.answer(said[-1]["run"])

A stage is one worker on SQLite, or two on one PostgreSQL. Clients reach them through `stage.url`, whose cable may be
pulled (`stage.proxy.cut()`, `.stall()`, `.mend()`) and whose worker may be killed (`stage.kill()`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai

from tests.faults.proxy import Proxy
from tests.service.provider import Desk
from tests.service.server import HELD_FILE, Server

PATIENCE_S = 60.0
USERS = ("alice", "bob", "boss")
OPERATOR = "boss"
MODEL = "claude-other-1"
"""A further model that requests may name."""

BACKENDS = {"open_webui": "webui", "librechat": "librechat"}
"""Chat products, and the users of their keys."""
OPENWEBUI_SECRET = "a-secret-that-open-webui-and-we-share-0123"

SETTINGS: Mapping[str, str] = {
    "ORACLE_TOKENS": ",".join(f"secret-token-of-{user}={user}" for user in (*USERS, *BACKENDS.values())),
    "ORACLE_OPERATORS": OPERATOR,
    "ORACLE_CHAT_BACKENDS": ",".join(BACKENDS.values()),
    "ORACLE_OPENWEBUI_JWT_SECRET": OPENWEBUI_SECRET,
    "ORACLE_USER_HEADER": "X-User-Id",
    "ORACLE_MODELS": MODEL,
    "ORACLE_REQUESTS_PER_MINUTE": "0",
    "ORACLE_RUNS_PER_USER": "0",
    "ORACLE_LOG": "info",
}


def token(user: str) -> str:
    """The key that a user's client is given."""
    return f"secret-token-of-{user}"


class Stage:
    """Workers behind a proxy, and the provider that answers them.

    Args:
        desk: the provider.
        workers: all on one database.
        proxy: leads to one of them.
        kind: `sqlite` or `postgresql`.
    """

    def __init__(self, desk: Desk, workers: list[Server], proxy: Proxy, *, kind: str) -> None:
        self.desk = desk
        self.workers = workers
        self.proxy = proxy
        self.kind = kind
        self._ahead = 0

    @property
    def url(self) -> str:
        """The address that clients are given."""
        return f"http://127.0.0.1:{self.proxy.port}"

    @property
    def worker(self) -> Server:
        """The one that the proxy leads to."""
        return self.workers[self._ahead]

    async def kill(self) -> None:
        """kill -9 of the worker that answers; the other one, or its next start, is reached under the same address."""
        dead = self.worker
        await dead.kill()
        if len(self.workers) == 1:
            await dead.start(port=dead.port)
            return
        self._ahead = (self._ahead + 1) % len(self.workers)
        self.proxy.lead_to("127.0.0.1", self.worker.port)
        await dead.start()

    @asynccontextmanager
    async def client(self, user: str | None = "alice", **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        """A plain HTTP client of a user."""
        known = {} if user is None else {"Authorization": f"Bearer {token(user)}"}
        async with httpx2.AsyncClient(
            base_url=self.url, headers=known | headers, timeout=PATIENCE_S, trust_env=False, verify=False
        ) as client:
            yield client

    @asynccontextmanager
    async def openai_client(self, *, key: str = token("alice"), **options: Any) -> AsyncIterator[openai.AsyncOpenAI]:
        """OpenAI's SDK, with the settings that it has by itself."""
        http = httpx2.AsyncClient(trust_env=False, verify=False, timeout=PATIENCE_S)
        async with openai.AsyncOpenAI(base_url=f"{self.url}/v1", api_key=key, http_client=http, **options) as made:
            yield made

    async def chunks(self, run_id: str, *, user: str = "alice") -> list[dict[str, Any]]:
        """The run as the native stream has it, to its end."""
        async with self.client(user) as client:
            response = await client.get(f"/api/oracle/runs/{run_id}/stream")
        assert response.status_code == 200, response.text
        return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]

    async def answer(self, run_id: str, *, user: str = "alice") -> str:
        """The native answer."""
        chunks = await self.chunks(run_id, user=user)
        return "".join(chunk["content"] for chunk in chunks if chunk["type"] == "content")

    async def done(self, run_id: str, *, user: str = "alice") -> dict[str, Any]:
        """The native `done`."""
        return (await self.chunks(run_id, user=user))[-1]

    async def runs(self, *, user: str = "alice") -> list[dict[str, Any]]:
        """The user's runs, newest first."""
        async with self.client(user) as client:
            response = await client.get("/api/runs", params={"limit": "200"})
        assert response.status_code == 200, response.text
        found: list[dict[str, Any]] = response.json()["runs"]
        return found


@asynccontextmanager
async def staged(folder: Path, *, database: str | None = None, **settings: str) -> AsyncIterator[Stage]:
    """A stage: two workers where a PostgreSQL database is given, else one on SQLite.

    Args:
        folder: of the processes.
        database: the address of an empty PostgreSQL database.
        **settings: variables beside `SETTINGS`, or in their place.
    """
    desk = Desk()
    of_all = {**SETTINGS, **({} if database is None else {"ORACLE_DATABASE_URL": database}), **settings}
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(desk.provider)
        workers = []
        for n in range(1 if database is None else 2):  # one after the other: the first makes the tables
            (folder / f"w{n}").mkdir(parents=True)
            worker = Server(folder / f"w{n}", desk=desk, settings=of_all)
            worker.furnish()
            (worker.project / HELD_FILE).unlink()  # searches are not to wait for it
            stack.push_async_callback(worker.kill)
            await worker.start()
            workers.append(worker)
        proxy = await stack.enter_async_context(Proxy("127.0.0.1", workers[0].port))
        yield Stage(desk, workers, proxy, kind="sqlite" if database is None else "postgresql")


class Node:
    """Runs the programs of `tests/connect/node`, with Node 22 and the clients' packages.

    Args:
        folder: the programs and `node_modules`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.binary = next((folder / "node_modules").glob("node-*/bin/node"))

    async def start(self, program: str, *arguments: str, **environment: str) -> asyncio.subprocess.Process:
        """Start a program whose lines are read while it goes on."""
        return await asyncio.create_subprocess_exec(
            str(self.binary),
            program,
            *arguments,
            cwd=self.folder,
            env={"PATH": str(self.binary.parent), "HOME": str(self.folder), **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**24,
        )

    async def run(self, program: str, *arguments: str, **environment: str) -> list[Any]:
        """Run a program to its end; what it has said, one JSON value a line."""
        process = await self.start(program, *arguments, **environment)
        try:
            async with asyncio.timeout(PATIENCE_S):
                out, errors = await process.communicate()
        except TimeoutError:
            process.kill()
            out, errors = await process.communicate()
            raise AssertionError(f"{program} did not end; it said {out[-2000:]!r}, {errors[-2000:]!r}") from None
        assert process.returncode == 0, errors.decode()[-4000:] + out.decode()[-2000:]
        return [json.loads(line) for line in out.splitlines()]
