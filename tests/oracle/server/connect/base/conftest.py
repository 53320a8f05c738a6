"""A client of the protocol `plain`."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from oracle.runs.storage.client_runs import ClientRuns
from oracle.server.api.adapters import Adapter
from tests.oracle.server.api.conftest import Service

PLAIN = Adapter("/plain", "tests.oracle.server.connect.base.adapter")


@dataclass(slots=True)
class Plain:
    """A client that sends its whole history, as chat front ends do.

    Args:
        service: answers.
        conversation: its name of the conversation; `None`: it has none.
        said: its history.
    """

    service: Service
    conversation: str | None = None
    said: list[list[str]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, question: str, **body: Any) -> dict[str, Any]:
        """Ask, and keep question and answer; the answer as a whole."""
        answer = await self.post(question, stream=False, **body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        self.said += [["user", question], ["assistant", found["text"]]]
        return found

    async def post(self, question: str, **body: Any) -> Any:
        """Ask without keeping anything."""
        return await self.service.client.post("/plain/ask", json=self.body(question, **body), headers=self.headers)

    @asynccontextmanager
    async def asking(self, question: str, **body: Any) -> AsyncIterator[AsyncIterator[bytes]]:
        """Ask for a stream, which is open inside."""
        given = self.body(question, **body)
        async with self.service.client.stream("POST", "/plain/ask", json=given, headers=self.headers) as response:
            assert response.status_code == 200
            yield response.aiter_raw()

    def body(self, question: str, **body: Any) -> dict[str, Any]:
        return {"question": question, "said": self.said, "conversation": self.conversation, **body}

    async def conversation_of(self, run_id: str) -> str:
        run = await self.service.parts.store.runs.find(run_id)
        assert run is not None
        return run.context_id

    async def texts(self, context_id: str) -> list[str]:
        """What the conversation has."""
        path = f"/api/oracle/conversations/{context_id}"
        found = (await self.service.client.get(path, headers=self.headers)).json()
        return [message["content"] for message in found["messages"]]

    async def conversations(self) -> list[str]:
        found = (await self.service.client.get("/api/oracle/conversations", headers=self.headers)).json()
        return [each["context_id"] for each in found["conversations"]]


def frames_of(body: bytes) -> list[Any]:
    """The data of each frame."""
    events = [event for event in body.split(b"\n\n") if event and not event.startswith(b":")]
    return [event[6:].decode() if event == b"data: [DONE]" else json.loads(event[6:]) for event in events]


async def until(incoming: AsyncIterator[bytes], text: bytes) -> bytes:
    """Read until there is a text; returns what was read."""
    read = b""
    while text not in read:
        read += await anext(incoming)
    return read


@pytest.fixture
def plain(start, database_url):
    """Starts a service with the adapter, and gives a client of it."""

    async def begin(turns: Any = (), **options: Any) -> Plain:
        return Plain(await start(turns, url=options.pop("url", database_url), adapters=(PLAIN,), **options))

    return begin


@pytest.fixture
def looked_up_together(monkeypatch):
    """The first four look-ups of what is known have all been made before any of them is answered."""
    known, together = ClientRuns.known, asyncio.Barrier(4)

    async def known_by_all(self, key, said):
        found = await known(self, key, said)
        if not found.last_n:
            await together.wait()
        return found

    monkeypatch.setattr(ClientRuns, "known", known_by_all)
