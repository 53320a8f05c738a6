"""`POST /api/oracle/stream` and `POST /api/oracle`: a question, answered as a stream or whole."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from oracle.answering import DEFAULT_TREE, Ask
from oracle.service.access import CallerNow, Parts, is_id
from oracle.service.agent_settings import config_of
from oracle.service.answers import json_answer
from oracle.service.auth import Caller
from oracle.service.bodies import QueryRequest
from oracle.service.described import event_stream, refusals
from oracle.service.errors import InvalidRequestError, no_such_conversation
from oracle.service.parts import ServiceParts
from oracle.service.reading import open_stream, run_headers
from oracle.service.replies import WholeAnswer
from oracle.service.whole import whole_answer

router = APIRouter(tags=["queries"])

_RUN_HEADERS = {
    "X-Run-Id": {"description": "The run's name.", "schema": {"type": "string"}},
    "Location": {"description": "The run's address.", "schema": {"type": "string"}},
}
STREAM_EXAMPLE = (
    'id: 1\ndata: {"type":"content","content":"It begins in "}\n\n'
    'id: 2\ndata: {"type":"content","content":"login.py."}\n\n'
    'id: 3\ndata: {"type":"done","termination_reason":"completed","tokens_used":812,"tokens_estimated":false,'
    '"model_used":"offline-extractive","context_id":"5d1c…","run_id":"9f0e…","turns":1}\n\n'
)


@router.post(
    "/api/oracle/stream",
    summary="Ask, and read the answer as it comes",
    response_class=Response,  # of a media type of its own FastAPI would say that it is a string
    responses={
        200: {
            "description": "Server-sent events, ids 1, 2, 3, …; the last one is `done`.",
            "headers": _RUN_HEADERS,
            "content": event_stream(STREAM_EXAMPLE),
        },
        **refusals(404, 409, 422),
    },
)
async def stream_query(body: QueryRequest, parts: Parts, caller: CallerNow) -> Response:
    """Ask a question; the answer is streamed, and can be taken up again by `GET /api/oracle/runs/{run_id}/stream`."""
    live = await parts.runs.start(await _ask(body, parts, caller))
    return open_stream(parts, live.record)


@router.post(
    "/api/oracle",
    summary="Ask, and wait for the whole answer",
    response_model=WholeAnswer,
    responses={200: {"headers": _RUN_HEADERS}, **refusals(404, 409, 422)},
)
async def answer_query(body: QueryRequest, request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Ask a question; answered when the run has ended. One that failed is a 200 with `error`."""
    live = await parts.runs.start(await _ask(body, parts, caller))
    headers = run_headers(live.record.id)
    answer = await whole_answer(request, parts, live.record)
    return Response(status_code=204) if answer is None else json_answer(answer, headers=headers)


async def _ask(body: QueryRequest, parts: ServiceParts, caller: Caller) -> Ask:
    if body.context_id is not None and not is_id(body.context_id):
        raise no_such_conversation()
    return Ask(
        question=body.question,
        user_id=caller.user_id,
        context_id=body.context_id,
        project_id=body.project_id,
        model=_checked_model(body.model, parts),
        tree=body.tree or DEFAULT_TREE,
        limits=body.limits.given,
        config=await config_of(parts, caller.user_id),
    )


def _checked_model(name: str | None, parts: ServiceParts) -> str | None:
    if name is None:
        return None
    loc = ("body", "model")
    if not parts.provider_answers:
        raise InvalidRequestError(
            "no model can be named where the offline model answers; leave `model` out", loc=loc, value=name
        )
    if not name.strip() or not parts.settings.allows_model(name):
        known = ", ".join(dict.fromkeys((parts.settings.model, *parts.settings.models)))
        raise InvalidRequestError(f"this model may not be used; those that may are {known}", loc=loc, value=name)
    return name
