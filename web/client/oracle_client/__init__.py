"""A client of the Oracle BT service: streams, second questions, resumed connections, cancel, and people's answers.

    async with Conversation("http://127.0.0.1:8000", token="…") as chat:
        run = await chat.ask("How does the login work?")
        async for event in run:
            print(event.text, end="", flush=True)
        await chat.ask("And the logout?")  # in the same conversation

It needs Python 3.11 and `httpx2`. `ask_sync` does the same for programs without asyncio.
"""

import asyncio
import json
import re
import time
import uuid
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import httpx2

__all__ = ["Conversation", "Decision", "Event", "OracleError", "Run", "ask_sync"]

Decision = Literal["approve", "refuse", "edit", "answer"]

_BUSY = {429, 502, 503, 504}
_LONGEST_PAUSE_S = 5.0


class OracleError(Exception):
    """The service refused a call.

    Args:
        status: the HTTP status.
        detail: a sentence; for 422, a list of mistakes.
    """

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(f"{status}: {detail if isinstance(detail, str) else json.dumps(detail)}")
        self.status = status
        self.detail = detail


class Event(NamedTuple):
    """One chunk of an answer: its number, its type, and all its fields as `docs/chat.md` lists them."""

    n: int
    type: str
    data: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The text to append to the answer; empty unless the event is `content`."""
        return str(self.data["content"]) if self.type == "content" else ""

    @property
    def interrupt(self) -> Mapping[str, Any]:
        """What a person must decide; empty unless the event is `approval_requested`, `question` or `answered`."""
        found: Mapping[str, Any] = self.data.get("interrupt", {})
        return found


class Conversation:
    """A conversation with the service. The first question begins it, unless `context_id` names an earlier one.

    Args:
        url: the address of the service.
        token: the user's bearer token.
        context_id: the conversation to continue.
        headers: sent with each call, such as the header that names the user of a chat backend.
        patience_s: for how long a call is repeated, and a stream is resumed without a new event, before it fails.
        transport: another transport of httpx2.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        context_id: str | None = None,
        headers: Mapping[str, str] | None = None,
        patience_s: float = 60.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        given = dict(headers or {}) | ({} if token is None else {"Authorization": f"Bearer {token}"})
        self.context_id = context_id
        self.patience_s = patience_s
        # The service sends a heartbeat every few seconds, so a silent connection is a lost one.
        self._http = httpx2.AsyncClient(base_url=url, headers=given, timeout=30.0, transport=transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def ask(self, question: str, *, key: str | None = None, **fields: Any) -> "Run":
        """Ask a question. The run goes on without a reader, until it ends or you cancel it.

        Args:
            question: what the user asks.
            key: an Idempotency-Key, for a program that may repeat this call itself.
            fields: further fields of the request: `tree`, `model`, `limits`, `tools`, `attachments`, …

        Raises:
            OracleError: the service refused the question: 409 while another one is being answered.
        """
        body = {"question": question, "context_id": self.context_id, **fields}
        begun = await self._call("POST", "/api/oracle/runs", body, {"Idempotency-Key": key or uuid.uuid4().hex})
        self.context_id = begun["context_id"]
        return Run(self, begun["run_id"])

    def run(self, run_id: str, *, after: int = 0) -> "Run":
        """A run that was begun earlier; reading it starts behind event number `after`."""
        return Run(self, run_id, after=after)

    async def pending(self) -> list[Mapping[str, Any]]:
        """What the user's runs wait for, with `run_id` and `interrupt`; up to 100, what expires first is first."""
        found: list[Mapping[str, Any]] = (await self._call("GET", "/api/oracle/pending"))["pending"]
        return found

    async def _call(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """A call that may be repeated: the service counts it once."""
        attempts = _Attempts(self.patience_s)
        while True:
            try:
                response = await self._http.request(method, path, json=body, headers=headers)
                if response.is_success:
                    return response.json()
                await attempts.refused(response)
            except httpx2.TransportError as error:
                await attempts.failed(error)


class Run:
    """Oracle working on one question. Iterate over it to read the answer; `last` is the number of the last event read.

    The iteration resumes by itself where the connection was lost, and each event comes once. You may iterate again
    after you left the loop: it goes on behind `last`.
    """

    def __init__(self, chat: Conversation, run_id: str, *, after: int = 0) -> None:
        self._chat = chat
        self.id = run_id
        self.last = after
        self.done: Mapping[str, Any] | None = None
        """The fields of the event `done`, once it was read."""

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        attempts = _Attempts(self._chat.patience_s)
        while self.done is None:
            try:
                request = self._chat._http.stream(  # noqa: SLF001  of this module
                    "GET", f"/api/oracle/runs/{self.id}/stream", headers={"Last-Event-ID": str(self.last)}
                )
                async with request as response:
                    if response.status_code == 204:
                        return
                    if not response.is_success:
                        await response.aread()
                        await attempts.refused(response)
                        continue
                    async with aclosing(_events(response)) as events:
                        async for event in events:
                            attempts = _Attempts(self._chat.patience_s)
                            self.last = event.n
                            self.done = event.data if event.type == "done" else None
                            yield event
                            if event.type == "done":
                                return
                    raise httpx2.ReadError("the stream ended before `done`")
            except httpx2.TransportError as error:
                await attempts.failed(error)

    async def text(self) -> str:
        """Read to the end; the text of the events that were not yet read."""
        return "".join([event.text async for event in self])

    async def cancel(self) -> None:
        """Stop the run. Its text so far is kept, and `done` follows."""
        await self._chat._call("POST", f"/api/oracle/runs/{self.id}/cancel")  # noqa: SLF001  of this module

    async def answer(self, interrupt: Mapping[str, Any], decision: Decision, **fields: Any) -> None:
        """Decide what the run has asked. Repeating the same decision changes nothing.

        Args:
            interrupt: as an event or `pending` has it.
            decision: one of `interrupt["may"]`.
            fields: `answer`, `arguments`, `comment` or `for`, as the decision needs them.

        Raises:
            OracleError: 403 another person must decide; 409 it was decided otherwise; 410 it has expired.
        """
        body = {"id": interrupt["id"], "decision": decision, **fields}
        await self._chat._call("POST", f"/api/oracle/runs/{self.id}/deliveries", body)  # noqa: SLF001  of this module


def ask_sync(url: str, question: str, **options: Any) -> Generator[Event, None, None]:
    """The events of one answer, for programs without asyncio. Closing the generator, or Ctrl-C, cancels the run.

    Args:
        url: the address of the service.
        question: what the user asks.
        options: `token`, `context_id` and `headers` of a conversation; the others are fields of the request.
    """
    of_conversation = {name: options.pop(name) for name in ("token", "context_id", "headers") if name in options}

    async def read() -> AsyncGenerator[Event, None]:
        async with Conversation(url, **of_conversation) as chat:
            run = await chat.ask(question, **options)
            try:
                async with aclosing(aiter(run)) as found:
                    async for event in found:
                        yield event
            finally:
                if run.done is None:
                    await run.cancel()

    async def following() -> Event | None:
        return await anext(events, None)

    async def close() -> None:
        await events.aclose()

    with asyncio.Runner() as runner:
        events = read()
        try:
            while (event := runner.run(following())) is not None:
                yield event
        finally:
            runner.run(close())


class _Attempts:
    """How long a call that failed is repeated."""

    def __init__(self, patience_s: float) -> None:
        self._until = time.monotonic() + patience_s
        self._pause_s = 0.1

    async def refused(self, response: httpx2.Response) -> None:
        """Wait as long as the service asks, or raise what it says."""
        asked = response.headers.get("Retry-After", "")
        pause_s = float(asked) if re.fullmatch(r"\d{1,6}", asked) else self._pause_s
        if response.status_code not in _BUSY or time.monotonic() + pause_s > self._until:
            try:
                detail = response.json()["detail"]
            except (ValueError, LookupError, TypeError):
                detail = response.text[:1_000] or response.reason_phrase
            raise OracleError(response.status_code, detail)
        await self._wait(pause_s)

    async def failed(self, error: httpx2.TransportError) -> None:
        """Wait before the connection is made again, or raise why it cannot be."""
        if time.monotonic() + self._pause_s > self._until:
            raise error
        await self._wait(self._pause_s)

    async def _wait(self, seconds: float) -> None:
        self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)
        await asyncio.sleep(seconds)


async def _events(response: httpx2.Response) -> AsyncGenerator[Event, None]:
    n = 0
    async for line in response.aiter_lines():
        if line.startswith("id: "):
            n = int(line[4:])
        elif line.startswith("data: "):
            data = json.loads(line[6:])
            yield Event(n, data["type"], data)
