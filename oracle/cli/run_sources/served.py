"""Runs of a service, over its HTTP API.

The pages of a run are parts of one history: their lists are joined. While the run goes on, its ticks come as a stream
of server-sent events, each with what belongs to it; so do its chunks. A stream whose connection is lost is taken up
again after the last event.
"""

import os
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
from pydantic import TypeAdapter, ValidationError

from bt_runtime import Clock, SystemClock
from bt_runtime.text import iso
from oracle.cli.errors import CommandError
from oracle.cli.run_sources.protocol import ListedRun
from oracle.cli.text import one_line
from oracle.core.chunks import Chunk, read_chunk
from oracle.core.encoding import from_json, to_json
from oracle.core.retry import Retry, pause
from oracle.core.server_sent_events import EventReader
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.model import DELETED, PARTS, History, TickFacts, VisitFacts
from oracle.runs.storage.errors import UnclearRunError
from oracle.runs.storage.run_pages import UNDER_WAY, RunFilter
from oracle.server.api.history_replies import TICK_STREAM, TickEvent

T = TypeVar("T")

TOKEN_VARIABLE: Final = "ORACLE_TOKEN"  # noqa: S105  its name
URL_VARIABLE: Final = "ORACLE_URL"
_PAGE: Final = 200
_MOST_SEARCHED = 1_000  # runs among which the beginning of an id is looked up
_SILENCE_S = 60.0  # the service sends something every ten seconds
_WHOLE_ID = 32
_BEGIN_FOR_S = 5.0  # in which a question whose answer was lost is sent again
_AGAIN = Retry(first_s=0.5, longest_s=15.0)
_MOST_LOST = 30  # connections in a row without a new event: about six minutes
_UNAVAILABLE = {httpx2.codes.BAD_GATEWAY, httpx2.codes.SERVICE_UNAVAILABLE, httpx2.codes.GATEWAY_TIMEOUT}

_BELONGING: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
_LISTED: Final[TypeAdapter[ListedRun]] = TypeAdapter(ListedRun)


class ServiceLostError(CommandError):
    """The service cannot be reached now; a moment later it may be there again."""


def service_url() -> str:
    """The address of the service that the environment names; the default one of `oracle serve` if it names none."""
    return os.environ.get(URL_VARIABLE, "").strip() or "http://127.0.0.1:8000"


class ServedSource:
    """The runs of a service.

    Args:
        client: knows its address, and has the token.
        clock: times the waits before a lost connection is made again.
    """

    def __init__(self, client: httpx2.AsyncClient, *, clock: Clock | None = None) -> None:
        self._client = client
        self._clock = clock or SystemClock()

    async def begin(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a run that needs no reader; returns how it stands.

        Raises:
            CommandError: the service refuses, or cannot be reached; in the latter case the run may have begun.
        """
        headers = {"Idempotency-Key": str(uuid.uuid4())}

        async def work() -> dict[str, Any]:
            async with _troubles(self._client):
                response = await self._client.post("/api/oracle/runs", json=dict(asked), headers=headers)
                _check(response, "")
                run: dict[str, Any] = from_json(response.content)
                run["run_id"] = str(run["run_id"])
                return run

        return await _AGAIN.call(work, clock=self._clock, when=ServiceLostError, for_s=_BEGIN_FOR_S)

    async def chunks(self, run: str) -> AsyncGenerator[Chunk, None]:
        """The chunks as they come."""
        path = f"/api/oracle/runs/{await self._find(run)}/stream"
        async with aclosing(self._events(path, run=run, last="done")) as events:
            async for event in events:
                yield read_chunk(to_json(event))

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:
        """The newest of those runs."""
        return [_listed(body) async for body in self._bodies(_parameters(wanted), limit)]

    async def pending(self) -> Sequence[dict[str, Any]]:
        """The first hundred of them."""
        found: Sequence[dict[str, Any]] = (await self._get("/api/oracle/pending") or {})["pending"]
        return found

    async def answer(self, run: str, delivery: Mapping[str, Any]) -> None:
        """Answer one of them."""
        await self.send("POST", f"/api/oracle/runs/{run}/deliveries", delivery, run=run)

    async def history(self, run: str) -> History:
        """Everything that the service has of the run."""
        run_id = await self._find(run)
        joined: dict[str, Any] = {}
        after: int | None = 0
        while after is not None:
            page = await self._get(f"/api/runs/{run_id}/history", run=run, after=after, limit=1000)
            if page is None:
                body = await self._get(f"/api/oracle/runs/{run_id}", run=run)
                if body is None:
                    raise UnclearRunError(run)
                return History(replace(_listed(body).run, kept="gone"), problem=DELETED["gone"])
            if joined:
                for name in ("ticks", *PARTS):
                    joined[name] += page.pop(name, [])
            joined |= page
            after = joined.pop("next")
        return history_from_json(to_json(joined))

    async def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The history as it grows."""
        history = await self.history(run)
        if history.run.status == "finished":
            yield history
            return
        for name in ("ticks", *PARTS):
            getattr(history, name).clear()  # they come with the stream, each once
        seen: dict[int, VisitFacts] = {}
        async for data in self._events(f"/api/runs/{history.run.id}/ticks/stream", run=run, last="end"):
            event = TICK_STREAM.validate_python(data)
            for name in PARTS:
                getattr(history, name).extend(getattr(event, name))
            if isinstance(event, TickEvent):
                history.ticks.append(_whole_tick(event, seen))
            else:
                history.run, history.end, history.problem = event.run, event.end, event.problem
            yield history

    async def read(self, path: str, reply: TypeAdapter[T], **parameters: Any) -> T:  # noqa: ANN401
        """What a call of a feature answers.

        Args:
            path: of the call.
            reply: reads the answer.
            parameters: of the query; `None` means not given.

        Raises:
            CommandError: the service cannot be reached, refuses, or answers something else.
        """
        body = await self._get(path, **{name: value for name, value in parameters.items() if value is not None})
        try:
            return reply.validate_python(body)
        except ValidationError as error:
            first = one_line(error.errors()[0]["msg"])
            raise CommandError(f"the answer is not from an Oracle service ({first}); check --url") from None

    async def send(self, method: str, path: str, body: Mapping[str, Any] | None = None, *, run: str = "") -> Any:  # noqa: ANN401  JSON data
        """Make a call that changes something; returns its answer, `None` if that is empty.

        Raises:
            UnclearRunError: there is no such run.
            CommandError: the service cannot be reached, or refuses.
        """
        async with _troubles(self._client):
            response = await self._client.request(method, path, json=None if body is None else dict(body))
            _check(response, run)
            return from_json(response.content) if response.content else None

    async def _bodies(self, parameters: Mapping[str, Any], limit: int) -> AsyncIterator[dict[str, Any]]:
        """Rows of runs, newest first, page by page."""
        before: dict[str, str] = {}
        while limit > 0:
            page = await self._get("/api/runs", **parameters, **before, limit=min(limit, _PAGE))
            for body in (page or {"runs": []})["runs"]:
                yield body
                limit -= 1
            following = (page or {}).get("next")
            if not following:
                return
            before = {"before": following}

    async def _find(self, beginning: str) -> str:
        """The whole id; of a shortened one, the only one among the latest runs.

        Raises:
            UnclearRunError: there is none, or more than one.
        """
        if not beginning.isalnum() or len(beginning) >= _WHOLE_ID:
            return quote(beginning, safe="")
        alike: list[str] = []
        for parameters in ({}, {"shadows": "true"}):
            if not alike:
                ids = [str(body["run_id"]) async for body in self._bodies(parameters, _MOST_SEARCHED)]
                alike = [run_id for run_id in ids if run_id.startswith(beginning)]
        if len(alike) != 1 and beginning not in alike:
            raise UnclearRunError(beginning, alike[:6])
        return quote(beginning if beginning in alike else alike[0], safe="")

    async def _get(self, path: str, *, run: str = "", **parameters: Any) -> dict[str, Any] | None:  # noqa: ANN401
        """The JSON object at a path; `None` if its texts were deleted.

        Raises:
            UnclearRunError: there is no such run.
            CommandError: the service cannot be reached, or refuses.
        """
        async with _troubles(self._client):
            response = await self._client.get(path, params=parameters)
            if response.status_code == httpx2.codes.GONE:
                return None
            _check(response, run)
            found = from_json(response.content)
        if not isinstance(found, dict):
            raise CommandError("the answer is not from an Oracle service; check --url")
        return found

    async def _events(self, path: str, *, run: str, last: str) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream up to the one of the type `last`, over lost connections; their ids are 1, 2, 3, …."""
        seen, lost, was_there = 0, 0, False
        while True:
            try:
                async with aclosing(self._stream(path, run=run, after=seen)) as batches:
                    async for batch in batches:
                        was_there = True
                        for event in batch:
                            seen, lost = seen + 1, 0
                            yield event
                            if event["type"] == last:
                                return
            except ServiceLostError:
                lost += 1
                if not was_there or lost > _MOST_LOST:
                    raise
            await pause(_AGAIN.wait_s(lost), clock=self._clock)

    async def _stream(self, path: str, *, run: str, after: int) -> AsyncGenerator[Sequence[dict[str, Any]], None]:
        """The events of one connection; an empty list when it is there.

        Raises:
            ServiceLostError: it has ended.
        """
        parameters = {"after": after} if after else {}
        async with _troubles(self._client), self._client.stream("GET", path, params=parameters) as response:
            if not response.is_success:
                await response.aread()
            _check(response, run)
            yield []
            reader = EventReader()
            async for piece in response.aiter_bytes():
                yield [_BELONGING.validate_json(data) for data in reader.feed(piece)]
        raise ServiceLostError("the service ended the stream, but the run may continue; watch it again")


@asynccontextmanager
async def open_service(url: str) -> AsyncIterator[ServedSource]:
    """The runs of a service; its token is that of the environment.

    Raises:
        CommandError: `url` is not the address of a service.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password or parts.query:
        raise CommandError(
            "--url needs the address of a service, such as http://127.0.0.1:8000; the token is ORACLE_TOKEN"
        )
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token.isprintable() or not token.isascii():
        raise CommandError(f"{TOKEN_VARIABLE} has characters that are not allowed in a token")
    headers = {"authorization": f"Bearer {token}"} if token else {}
    timeout = httpx2.Timeout(_SILENCE_S, connect=10.0)
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=timeout) as client:
        yield ServedSource(client)


@asynccontextmanager
async def _troubles(client: httpx2.AsyncClient) -> AsyncIterator[None]:
    """Says what went wrong on the way.

    Raises:
        CommandError: the service cannot be reached, or what answers is not a service of ours.
    """
    try:
        yield
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        refused = ServiceLostError if isinstance(error, httpx2.TransportError) else CommandError
        problem = f"the service at {client.base_url} cannot be read: {one_line(str(error))}"
        if isinstance(error, httpx2.ConnectError):
            problem += "; start one with `oracle serve`, or name another with --url"
        raise refused(problem) from None
    except (ValueError, KeyError) as error:
        problem = f"{type(error).__name__}: {one_line(str(error))}"
        raise CommandError(f"the answer is not from an Oracle service ({problem}); check --url") from None


def _whole_tick(event: TickEvent, seen: dict[int, VisitFacts]) -> TickFacts:
    """The tick of an event of a stream, which leaves out what each node did before.

    Args:
        event: the next one of the stream.
        seen: the last visit of each node in this stream; gets those of the event.
    """
    tick = event.tick
    seen.update((visit.node, visit) for visit in tick.visits)
    if not event.omitted_visits:
        return tick
    return replace(tick, visits=tuple([seen[node] for node in tick.visited]))


def _check(response: httpx2.Response, run: str) -> None:
    """Refuse what is no success.

    Raises:
        UnclearRunError: there is no such run.
        CommandError: the service refuses.
    """
    match response.status_code:
        case httpx2.codes.OK | httpx2.codes.CREATED | httpx2.codes.ACCEPTED | httpx2.codes.NO_CONTENT:
            return
        case httpx2.codes.NOT_FOUND if run:
            raise UnclearRunError(run)
        case httpx2.codes.UNAUTHORIZED:
            raise CommandError(f"the service does not accept the token; set {TOKEN_VARIABLE}")
    try:
        detail = from_json(response.content)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = ""
    if isinstance(detail, list):  # of what is wrong with a body
        detail = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in detail)
    said = f": {one_line(str(detail))}" if detail else ""
    refused = ServiceLostError if response.status_code in _UNAVAILABLE else CommandError
    raise refused(f"the service answered with status {response.status_code}{said}")


def _parameters(wanted: RunFilter) -> dict[str, str | list[str]]:
    """The filter as parameters of `GET /api/runs`."""
    standing = [reason for reason in wanted.reasons if reason in UNDER_WAY] or wanted.statuses
    named: dict[str, str | list[str] | None] = {
        "reason": list(set(wanted.reasons).difference(standing)) or None,
        "status": list(standing) or None,
        "tree": wanted.tree,
        "version": wanted.version,
        "user": wanted.user_id,
        "context_id": wanted.context_id,
        "since": None if wanted.since is None else iso(wanted.since),
        "until": None if wanted.until is None else iso(wanted.until),
        "slow": None if wanted.slow_s is None else f"{wanted.slow_s:g}",
        "errors": "true" if wanted.with_errors else None,
        "search": wanted.text or None,
        "shadows": "true" if wanted.shadows else None,
        "feedback": wanted.rating,
    }
    return {name: value for name, value in named.items() if value is not None}


def _listed(body: Mapping[str, Any]) -> ListedRun:
    """A run of a list.

    Raises:
        ValueError: it is not a run.
    """
    named = {
        "id": body["run_id"],
        "tree": body["tree"]["name"],
        "tree_version": body["tree"]["version"],
        "model": body["model_used"],
        "created_at": _seconds(body["created_at"]),
        "finished_at": body["finished_at"] and _seconds(body["finished_at"]),
    }
    return _LISTED.validate_python({"run": {**body, **named}, "summary": body["summary"]})


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
