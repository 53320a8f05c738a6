"""A client as a browser is: when its stream breaks it waits half a second, and goes on from the last chunk it has."""

import asyncio
import json
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from benchmarks.service_client import ServiceClient
from tests.durable.fleet import Fleet, Worker

RECONNECT_S = 0.5
_PATIENCE_S = 90.0


@dataclass(slots=True)
class Told:
    """What a client has read.

    Args:
        run_id: of its run.
        ids: the ids of the chunks.
        chunks: all of them.
        pauses_s: for each break of the stream, the time from it to the next chunk.
    """

    run_id: str = ""
    ids: list[int] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    pauses_s: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The answer."""
        return "".join(chunk["content"] for chunk in self.chunks if chunk["type"] == "content")

    @property
    def done(self) -> dict[str, Any] | None:
        """The last chunk, if all was read."""
        return self.chunks[-1] if self.chunks and self.chunks[-1]["type"] == "done" else None

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The chunks of a type."""
        return [chunk for chunk in self.chunks if chunk["type"] == kind]


class Client:
    """Asks one question, and reads until `done`.

    Args:
        fleet: whose workers it reaches.
        question: what it asks.
        fields: others of the body.
        dice: which worker it takes.
        first: the worker that it asks; by default any.
        token: says whose the question is.
    """

    def __init__(
        self,
        fleet: Fleet,
        question: str,
        *,
        dice: random.Random,
        first: Worker | None = None,
        token: str | None = None,
        **fields: object,
    ) -> None:
        self.told = Told()
        self.grew = asyncio.Event()
        self.fleet = fleet
        self._body = {"question": question, **fields}
        self._dice = dice
        self._first = first
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._key = str(uuid4())
        self._broke_s: float | None = None
        self._waiting: dict[str, list[asyncio.Event]] = {}

    async def read(self) -> Told:
        """Read to the end, over all breaks."""
        async with asyncio.timeout(_PATIENCE_S):
            while self.told.done is None:
                with suppress(OSError):  # the worker is gone
                    await self.read_once()
                if self.told.done is None:
                    if self._broke_s is None:
                        self._broke_s = time.monotonic()
                    await asyncio.sleep(RECONNECT_S)
        return self.told

    async def read_once(self) -> None:
        """Read until the stream ends or breaks.

        Raises:
            OSError: nobody is reached.
        """
        first, self._first = self._first, None
        address = self.fleet.any_address(self._dice) if first is None else first.address
        if not address:
            return
        client = await ServiceClient.connect(address, on_event=self._take)
        try:
            if self.told.run_id:
                headers = self._headers | {"last-event-id": str(self.told.ids[-1] if self.told.ids else 0)}
                client.send("GET", f"/api/oracle/runs/{self.told.run_id}/stream", headers=headers)
            else:
                headers = self._headers | {"idempotency-key": self._key}
                client.send("POST", "/api/oracle/stream", body=self._body, headers=headers)
            status = await client.headers_came()
            if status == 200:
                self.told.run_id = client.headers["x-run-id"]
            elif status not in (409, 429, 503):
                raise AssertionError(f"{self._body}: {status} {client.body!r}")
            await client.ended()
        finally:
            client.close()

    def _take(self, number: int, data: bytes) -> None:
        if self._broke_s is not None:
            self.told.pauses_s.append(time.monotonic() - self._broke_s)
            self._broke_s = None
        self.told.ids.append(number)
        self.told.chunks.append(json.loads(data))
        self.grew.set()
        for waiting in self._waiting.pop(self.told.chunks[-1]["type"], ()):
            waiting.set()

    async def until(self, kind: str) -> dict[str, Any]:
        """The first chunk of a type, once it has come."""
        if not self.told.of_type(kind):
            came = asyncio.Event()
            self._waiting.setdefault(kind, []).append(came)
            await came.wait()
        return self.told.of_type(kind)[0]


def question(kind: str, tag: str) -> str:
    """A question of a kind of the double's."""
    return f"What stands on the shelf [{kind}:{tag}], and where is it noted?"


KINDS: Mapping[str, Mapping[str, Any]] = {
    "plain": {"tree": "durable"},
    "tools": {"tree": "durable"},
    "parallel": {"tree": "durable"},
    "stuck": {"tree": "durable"},
    "long": {"tree": "durable"},
    "endless": {"tree": "durable", "limits": {"max_iterations": 4}},
    "pair": {"tree": "pair"},
}
"""The kinds of conversations, and how each is asked."""


def asked(fleet: Fleet, kind: str, tag: str, dice: random.Random, **given: Any) -> Client:
    """A client with a question of a kind, and in given ways."""
    return Client(fleet, question(kind, tag), dice=dice, **{"tree": "durable", **KINDS.get(kind, {}), **given})
