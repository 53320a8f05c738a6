"""`oracle serve` as a process of its own, with a folder, a project and a provider of its own."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx2
import pytest

from tests.acceptance.harness import PROJECT_FILES
from tests.acceptance.scripts import CODE_QUESTION
from tests.service.provider import Desk
from tests.service.queries import PATIENCE_S, Heard, Stream

STARTUP_S = 60.0
"""A guard only: two busy cores import for some seconds."""

_ADDRESS = re.compile(rb"http://[^\s]+:[0-9]+")
_FOREIGN = ("ORACLE_", "ANTHROPIC_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "COV_", "PYTEST_")

HELD_FILE = "zzhold.txt"
HOLD = """
import sys

def hold(event, arguments):
    # A file is opened relative to its folder where it is shown, or read because the index has no word of the query. Who
    # opens this one waits for a writer of the pipe, and there is none.
    if event == "open" and arguments[0] == {held!r}:
        open({gate!r}).close()

sys.addaudithook(hold)
"""


class Server:
    """A process that serves, and may be ended and started again on the same data."""

    def __init__(self, folder: Path, *, desk: Desk | None, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.data = folder / "data"
        self.gate = folder / "gate"
        self.desk = desk
        self.url = ""
        self.process: asyncio.subprocess.Process | None = None
        self.settings = dict(settings)
        self._log = folder / "server.log"

    def furnish(self) -> None:
        """A small project, and a `search_code` that can be held."""
        for name, text in PROJECT_FILES.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (self.project / HELD_FILE).write_text("zzhold\n", encoding="utf-8")
        os.mkfifo(self.gate)
        hook = self.folder / "hook" / "sitecustomize.py"
        hook.parent.mkdir()
        hook.write_text(HOLD.format(held=HELD_FILE, gate=str(self.gate)), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(_FOREIGN)}
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, [str(self.folder / "hook"), kept.get("PYTHONPATH")]))
        if self.desk is not None:
            kept |= {"ANTHROPIC_BASE_URL": self.desk.provider.url, "ANTHROPIC_API_KEY": "test"}
        if kept.pop("PYTHONDONTWRITEBYTECODE", ""):  # else each start would compile a thousand modules anew
            kept["PYTHONPYCACHEPREFIX"] = str(self.folder.parent / "bytecode")
        return kept | {"PYTHONUNBUFFERED": "1", "ORACLE_ENCODER": "off"} | self.settings

    async def start(self, *, port: int = 0) -> None:
        """Start it on a free port, or on the one given, such as that of the process before."""
        arguments = ("serve", "--port", port, "--data-dir", self.data, "--project", self.project)
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "oracle",
                *map(str, arguments),
                cwd=self.folder,
                env=self.environment(),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # with whatever it starts it can be ended
            )
        async with asyncio.timeout(STARTUP_S):
            self.url = await self._address()

    async def _address(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            if found := _ADDRESS.search(line):
                return found[0].decode()
        raise AssertionError(f"the server did not start: {self.logged()}")

    @property
    def port(self) -> int:
        """The port of the latest start."""
        return int(self.url.rpartition(":")[2])

    def logged(self) -> str:
        """What it wrote to standard error."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    async def stop(self) -> int:
        """Ask it to end, and wait for it; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(STARTUP_S):
            return await self.process.wait()

    async def kill(self) -> None:
        """End it and whatever it has started, at once."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()
        self.process._transport.close()  # type: ignore[attr-defined]  # its pipe, of which not all was read


class Client:
    """What a chat backend does, as one user.

    Args:
        server: whom it talks to.
        headers: of every request, such as its token.
    """

    def __init__(self, server: Server, *, headers: Mapping[str, str] | None = None) -> None:
        self.server = server
        self.http = httpx2.AsyncClient(
            base_url=server.url, headers=headers, timeout=PATIENCE_S, trust_env=False, verify=False
        )

    @asynccontextmanager
    async def stream(self, question: str = CODE_QUESTION, **body: Any) -> AsyncIterator[Stream]:
        """Ask; the stream is closed at the end, whether it was read or not."""
        asked = {"question": question} | body
        async with self.http.stream("POST", "/api/oracle/stream", json=asked) as response:
            if response.status_code != 200:
                await response.aread()
            yield Stream(response)

    async def ask(self, question: str = CODE_QUESTION, **body: Any) -> Stream:
        """Ask and read to the end; the rules are checked, the conversation among them."""
        async with self.stream(question, **body) as stream:
            await stream.rest()
        await self.check_kept(stream)
        return stream

    async def ask_whole(self, question: str = CODE_QUESTION, **body: Any) -> dict[str, Any]:
        response = await self.http.post("/api/oracle", json={"question": question} | body)
        assert response.status_code == 200, response.text
        whole: dict[str, Any] = response.json()
        return whole

    @asynccontextmanager
    async def resume(self, run_id: str, *, after: int | None = None) -> AsyncIterator[Stream]:
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        async with self.http.stream("GET", f"/api/oracle/runs/{run_id}/stream", headers=headers) as response:
            if response.status_code != 200:
                await response.aread()
            yield Stream(response, after=after or 0)

    async def resumed(self, run_id: str, *, after: int | None = None) -> Stream:
        async with self.resume(run_id, after=after) as stream:
            return await stream.rest()

    async def cancel(self, run_id: str) -> None:
        response = await self.http.post(f"/api/oracle/runs/{run_id}/cancel")
        assert response.status_code == 202, response.text

    async def run(self, run_id: str) -> dict[str, Any]:
        response = await self.http.get(f"/api/oracle/runs/{run_id}")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def conversation(self, context_id: str) -> dict[str, Any]:
        response = await self.http.get(f"/api/oracle/conversations/{context_id}")
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def kept_answer(self, context_id: str) -> str:
        """What the conversation keeps as the last answer; empty if the last query has none."""
        last = (await self.conversation(context_id))["messages"][-1]
        return last["content"] if last["role"] == "assistant" else ""

    async def check_kept(self, heard: Heard) -> None:
        """What the conversation and the run's record keep is what the stream said."""
        kept = await self.conversation(heard.done["context_id"])
        run_id = heard.done["run_id"]
        last = [one for one in kept["messages"] if one["metadata"].get("run_id") == run_id and one["role"] != "user"]
        said = "".join(one["content"] for one in last if one["role"] == "assistant")
        assert said == heard.answer
        notices = [one["content"] for one in kept["messages"] if one["role"] == "system"]
        assert notices[len(notices) - len(heard.messages) :] == heard.messages
        run = await self.run(run_id)
        for name in ("termination_reason", "tokens_used", "turns"):
            assert run[name] == heard.done[name]
        assert run["finished_at"]

    async def aclose(self) -> None:
        await self.http.aclose()


under_both = pytest.mark.parametrize("server", ["local_server", "loop_server"], indirect=True)
"""A test that is run under the shipped tree and under the plain loop: what 012 asks for holds under both."""


class Connect(Protocol):
    """Makes clients."""

    def __call__(self, server: Server, headers: Mapping[str, str] | None = None) -> Client: ...


@asynccontextmanager
async def serving(folder: Path, *, with_provider: bool = True, **settings: str) -> AsyncIterator[Server]:
    """A server that runs; it is gone at the end, with whatever it has started."""
    desk = Desk() if with_provider else None
    async with contextlib.AsyncExitStack() as stack:
        if desk is not None:
            await stack.enter_async_context(desk.provider)
        server = Server(folder, desk=desk, settings=settings)
        server.furnish()
        stack.push_async_callback(server.kill)
        await server.start()
        yield server
