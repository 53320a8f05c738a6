"""Questions, and `/api/oracle/runs/…`: how a run stands, its stream, and its cancel.

`POST /api/oracle/stream` answers as a stream, `POST /api/oracle` whole, `POST /api/oracle/runs` later.
"""

import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from inspect import signature
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from oracle.agent.answering import Ask
from oracle.agent.control.choosing import DEFAULT_TREE
from oracle.agent.tracing import TraceHeaders
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.runs.storage.errors import AlreadyBegunError, StoreUnavailableError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import (
    CallerNow,
    OwnRun,
    Parts,
    ReadableRun,
    caller_of,
    config_of,
    conversation_id,
    parts_of,
    with_texts,
)
from oracle.server.api.auth import Caller
from oracle.server.api.bodies import KeyHeader, QueryRequest, key_of
from oracle.server.api.described import DescribedRoute, event_stream, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.fields import with_fields
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import AfterId, LastEventId, last_seen, open_stream, resume_stream, run_headers
from oracle.server.api.replies import CancelAnswer, RunBody, WholeAnswer
from oracle.server.api.run_bodies import body_of
from oracle.server.api.waiting import whole_answer
from oracle.tools.client_tools import read_tools

_JSON: Final = frozenset({"application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8"})
_LONGEST_HANDED: Final = 1_000
_HANDED: Final = re.compile(rf"[\x20-\x7e]{{0,{_LONGEST_HANDED}}}")
_MOST_TRIES = 3  # to find or begin the run of a key whose earlier runs could not be opened


class _QueryRoute(DescribedRoute):
    """The route of a question; one that is as it should be is read past FastAPI.

    FastAPI's reading of body, headers and dependencies takes longer than all else in front of a run. What is not plain
    JSON of a `QueryRequest`, or has query parameters, is read by FastAPI, which says what is wrong.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        answer, call, has_body = super().get_route_handler(), self.endpoint, self.body_field is not None
        knows_last = "last_event_id" in signature(call).parameters

        async def handle(request: Request) -> Response:
            body = await _plain_body(request) if has_body else None
            if body is None:
                return await answer(request)
            last = {"last_event_id": request.headers.get("last-event-id")} if knows_last else {}
            response: Response = await call(body, request, await parts_of(request), await caller_of(request), **last)
            return response

        return handle


async def _plain_body(request: Request) -> QueryRequest | None:
    """The body, if it is JSON of a question; `None`: it may be another one, or is wrong."""
    if request.scope["query_string"] or request.headers.get("content-type") not in _JSON:
        return None
    try:
        return QueryRequest.model_validate(from_json(await request.body()))
    except (ValueError, ClientDisconnect):  # FastAPI reads it again: Starlette keeps what it has read
        return None


router = APIRouter(route_class=_QueryRoute)

TraceparentHeader = Annotated[
    str | None,
    Header(
        alias="traceparent",
        description="The trace that the run becomes part of (W3C Trace Context), if traces are on; an invalid one is "
        "ignored.",
    ),
]
TracestateHeader = Annotated[
    str | None, Header(alias="tracestate", description="Passed on beside `traceparent`; an invalid one is ignored.")
]
"""The headers as `/openapi.json` describes them; an invalid one is ignored, as the specification says."""

_RUN_HEADERS = {
    "X-Run-Id": {"description": "The run's name.", "schema": {"type": "string"}},
    "Location": {"description": "The run's address.", "schema": {"type": "string"}},
}
STREAM_EXAMPLE = (
    'id: 1\ndata: {"type":"content","content":"It begins in "}\n\n'
    'id: 2\ndata: {"type":"content","content":"login.py."}\n\n'
    'id: 3\ndata: {"type":"done","termination_reason":"completed","tokens_used":812,"tokens_estimated":false,'
    '"model_used":"offline-extractive","context_id":"5d1c…","run_id":"9f0e…","turns":1,'
    '"usage":{"input_tokens":700,"cache_creation_tokens":0,"cache_read_tokens":0,"output_tokens":112}}\n\n'
)


@router.post(
    "/api/oracle/stream",
    tags=["queries"],
    summary="Ask, and stream the answer",
    response_class=Response,  # otherwise FastAPI documents the event stream as a string
    responses={
        200: {
            "description": "Server-sent events, ids 1, 2, 3, …; the last one is `done`.",
            "headers": _RUN_HEADERS,
            "content": event_stream(STREAM_EXAMPLE),
        },
        **refusals(404, 409, 410),
    },
)
async def stream_query(
    body: QueryRequest,
    request: Request,
    parts: Parts,
    caller: CallerNow,
    _key: KeyHeader = None,
    _traceparent: TraceparentHeader = None,
    _tracestate: TracestateHeader = None,
    last_event_id: LastEventId = None,
    after: AfterId = None,
) -> Response:
    """Ask a question; the answer is streamed, and can be taken up again by `GET /api/oracle/runs/{run_id}/stream`.

    Sent again with the same `Idempotency-Key` it goes on with the same run, behind the last event seen; behind `done`
    the stream is empty.
    """
    seen = last_seen(last_event_id, after)
    run, is_earlier = await _run_for(body, request, parts, caller)
    # Behind `done` it is empty, and no 204 as where a stream is taken up again: clients that repeat a POST take one for
    # a failure, and repeat it on and on (@microsoft/fetch-event-source 2.0.1).
    return open_stream(parts, run, after=seen if is_earlier else 0)


@router.post(
    "/api/oracle",
    tags=["queries"],
    summary="Ask, and wait for the whole answer",
    response_model=WholeAnswer,
    responses={200: {"headers": _RUN_HEADERS}, **refusals(404, 409, 410)},
)
async def answer_query(
    body: QueryRequest,
    request: Request,
    parts: Parts,
    caller: CallerNow,
    _key: KeyHeader = None,
    _traceparent: TraceparentHeader = None,
    _tracestate: TracestateHeader = None,
) -> Response:
    """Ask a question; answered when the run has ended. One that failed is a 200 with `error`.

    Sent again with the same `Idempotency-Key` it gives the same answer, from the same run.
    """
    run, _ = await _run_for(body, request, parts, caller)
    answer = await whole_answer(request, parts, run)
    return Response(status_code=204) if answer is None else json_answer(answer, headers=run_headers(run.id))


@router.post(
    "/api/oracle/runs",
    tags=["queries"],
    summary="Ask, and read the answer later",
    status_code=202,
    response_model=RunBody,
    responses={202: {"headers": _RUN_HEADERS}, **refusals(404, 409, 410)},
)
async def begin_run(
    body: QueryRequest,
    request: Request,
    parts: Parts,
    caller: CallerNow,
    _key: KeyHeader = None,
    _traceparent: TraceparentHeader = None,
    _tracestate: TracestateHeader = None,
) -> Response:
    """Ask a question without waiting for its answer: the run is not cancelled because nobody reads it.

    Its answer is read at `GET /api/oracle/runs/{run_id}/stream`, at any time. Sent again with the same
    `Idempotency-Key` it says how the same run stands.
    """
    run, _ = await _run_for(body, request, parts, caller, is_detached=True)
    view = await body_of(run, parts.store.log, parts.progress, caller)
    return json_answer(view, status=202, headers=run_headers(run.id))


async def _run_for(
    body: QueryRequest, request: Request, parts: ServiceParts, caller: Caller, *, is_detached: bool = False
) -> tuple[RunRecord, bool]:
    """The run that answers a request, and whether an earlier request has begun it."""
    key = key_of(request, caller.user_id, body, is_detached=is_detached)
    for _ in range(_MOST_TRIES):
        run_id = None if key is None else await parts.store.request_keys.run_of(key)
        if run_id is None:
            try:
                async with parts.load.opening():
                    ask = replace(await _ask(body, request, parts, caller), is_detached=is_detached)
                    ask, claims = await with_fields(ask, body.of_features, parts)
                    return (await parts.runs.start(ask, claims=(*claims, *([key] if key else [])))).record, False
            except AlreadyBegunError as error:
                run_id = error.run_id
        run = await parts.runs.begun(run_id)
        if run is not None:
            return with_texts(run), True
    raise StoreUnavailableError("the run of an earlier request with this key was abandoned repeatedly")


def trace_of(request: Request) -> TraceHeaders:
    """What a request says of the trace that it comes from, valid or not."""
    return {name: request.headers.getlist(name) for name in ("traceparent", "tracestate")}


def headers_of(request: Request, parts: ServiceParts) -> Mapping[str, str]:
    """What tools may hand on of a request.

    Raises:
        UserError: one of the headers was sent twice, is too long, or is not plain text.
    """
    names = () if parts.oracle.changing is None else parts.oracle.changing.pass_headers
    found = {name: request.headers.getlist(name) for name in names if name in request.headers}
    for name, values in found.items():
        if len(values) > 1 or not _HANDED.fullmatch(values[0]):
            message = f"this header is passed to tools; send it once, with up to {_LONGEST_HANDED:,} plain characters"
            raise UserError(message, loc=("header", name))
    return {name: values[0] for name, values in found.items()}


async def _ask(body: QueryRequest, request: Request, parts: ServiceParts, caller: Caller) -> Ask:
    return Ask(
        question=body.question,
        user_id=caller.user_id,
        context_id=None if body.context_id is None else await conversation_id(body.context_id),
        project_id=body.project_id,
        model=checked_model(body.model, parts),
        tree=body.tree or DEFAULT_TREE,
        limits=body.limits.given,
        config=await config_of(parts, caller.user_id),
        trace=trace_of(request),
        client_tools=read_tools([each.model_dump() for each in body.tools]),
        headers=headers_of(request, parts),
    )


def checked_model(name: str | None, parts: ServiceParts) -> str | None:
    """The model that a request names, if it may.

    Raises:
        UserError: it may not be used here.
    """
    if name is None:
        return None
    loc = ("body", "model")
    if not parts.provider_answers:
        raise UserError(
            "the offline model answers, so no other model can be named; leave `model` out", loc=loc, value=name
        )
    if not name.strip() or not parts.settings.allows_model(name):
        known = ", ".join(dict.fromkeys((parts.settings.model, *parts.settings.models)))
        raise UserError(f"this model may not be used; those that may are {known}", loc=loc, value=name)
    return name


@router.get(
    "/api/oracle/runs/{run_id}",
    tags=["runs"],
    summary="Show the state of a run",
    response_model=RunBody,
    responses=refusals(404),
)
async def read_run(run: ReadableRun, parts: Parts, caller: CallerNow) -> Response:
    """Status, times, tree, turns and tokens; operators see everybody's, and why one failed."""
    return json_answer(await body_of(run, parts.store.log, parts.progress, caller))


@router.get(
    "/api/oracle/runs/{run_id}/stream",
    tags=["runs"],
    summary="Resume a stream",
    response_class=Response,  # otherwise FastAPI documents the event stream as a string
    responses={
        200: {
            "description": "The chunks after the last id, then live ones, until `done`.",
            "content": event_stream(STREAM_EXAMPLE),
        },
        204: {"description": "The last id was that of `done`; nothing follows."},
        **refusals(404, 410),
    },
)
async def resume_run(
    run_id: str,
    parts: Parts,
    caller: CallerNow,
    last_event_id: LastEventId = None,
    after: AfterId = None,
) -> Response:
    """The run's chunks after the last one seen; also long after the run."""
    return await resume_stream(parts, run_id, caller=caller, after=last_seen(last_event_id, after))


@router.post(
    "/api/oracle/runs/{run_id}/cancel",
    tags=["runs"],
    summary="Stop a run",
    status_code=202,
    response_model=CancelAnswer,
    responses=refusals(404),
)
async def cancel_run(run: OwnRun, parts: Parts) -> Response:
    """Stop the run; its text is kept and `done` follows. A run that has ended is not changed."""
    await parts.runs.cancel(run)
    return json_answer({"run_id": run.id, "status": run.status}, status=202)
