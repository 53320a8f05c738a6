"""A query as a client sees it: the events of its stream, and what the rules say of them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.service.sse import Event, read_events

PATIENCE_S = 60.0
"""A guard against a hang, nothing waits for it; the first query of a service takes half of it on a busy machine."""

Chunk = dict[str, Any]


@dataclass(slots=True)
class Heard:
    """The events of a stream so far, oldest first."""

    events: list[Event] = field(default_factory=list)

    @property
    def chunks(self) -> list[Chunk]:
        return [event.data for event in self.events]

    @property
    def types(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    @property
    def ids(self) -> list[int]:
        return [event.id for event in self.events]

    def of(self, kind: str) -> list[Chunk]:
        return [chunk for chunk in self.chunks if chunk["type"] == kind]

    @property
    def answer(self) -> str:
        return "".join(chunk["content"] for chunk in self.of("content"))

    @property
    def done(self) -> Chunk:
        (done,) = self.of("done")
        return done

    @property
    def reason(self) -> str:
        return self.done["termination_reason"]

    @property
    def messages(self) -> list[str]:
        return [chunk["system_message"] for chunk in self.of("system")]

    @property
    def last_sentence(self) -> str:
        return self.of("content")[-1]["content"]

    def check(self, *, after: int = 0) -> "Heard":
        """The rules that hold for every stream that has ended, whatever happened."""
        assert self.ids == list(range(after + 1, after + 1 + len(self.ids)))
        assert self.types.count("done") == 1
        assert self.types[-1] == "done"
        if after:
            return self
        called = [chunk["tool_call"]["id"] for chunk in self.of("tool_call")]
        assert sorted(called) == sorted(chunk["tool_call_id"] for chunk in self.of("tool_result"))
        assert "<signal" not in self.answer
        if self.reason not in ("completed", "user_cancelled"):
            assert self.last_sentence.startswith("Stopped: ")
            assert self.last_sentence.endswith(".")
            before = self.of("content")[-2:-1]
            assert not before or before[0]["content"] == "\n\n"
        return self


class Stream(Heard):
    """An open stream, read as far as a test wants it to be."""

    def __init__(self, response: httpx2.Response, *, after: int = 0) -> None:
        super().__init__([])
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].split(";")[0] == "text/event-stream"
        self.run_id = response.headers.get("x-run-id", "")
        self.response = response
        self._after = after
        self._more: AsyncIterator[Event] = read_events(response.aiter_bytes())

    async def until(self, holds: Callable[[Heard], bool], *, patience_s: float = PATIENCE_S) -> "Stream":
        """Read until it holds; fails if the stream ends before."""
        async with asyncio.timeout(patience_s):
            while not holds(self):
                event = await anext(self._more, None)
                assert event is not None, f"the stream ended before that: {self.chunks}"
                self.events.append(event)
        return self

    async def until_content(self, text: str) -> "Stream":
        return await self.until(lambda heard: text in heard.answer)

    async def until_chunk(self, kind: str, *, number: int = 1) -> "Stream":
        return await self.until(lambda heard: len(heard.of(kind)) >= number)

    async def until_done(self) -> float:
        """Read to `done`; when it came, by the performance counter."""
        await self.until_chunk("done")
        return time.perf_counter()

    async def rest(self) -> "Stream":
        """Read to the end of the body, and check it."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.to_end()

    async def to_end(self) -> "Stream":
        """As `rest`, however long it takes."""
        async for event in self._more:
            self.events.append(event)
        self.check(after=self._after)
        return self


def assert_same_answer(heard: Heard, whole: Mapping[str, Any]) -> None:
    """The whole answer says what the stream said."""
    assert whole["answer"] == heard.answer
    assert whole["termination_reason"] == heard.reason
    assert [source["path"] for source in whole["sources"]] == [one["source"]["path"] for one in heard.of("source")]
    assert [message["system_message"] for message in whole["system_messages"]] == heard.messages
    assert whole["model_used"] == heard.done["model_used"]
