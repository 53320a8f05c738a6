"""`/api/chat`: what `useChat` of the AI SDK calls; see `docs/connecting.md`."""

import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from oracle.runs.storage.errors import ConversationBusyError
from oracle.server.api.access import CallerNow, Parts, find_run, with_texts
from oracle.server.api.adapters import Refusal
from oracle.server.api.reading import AfterId, LastEventId, last_seen
from oracle.server.api.runs import cancel_run
from oracle.server.connect.ai_sdk.parts import UIMessageStream
from oracle.server.connect.ai_sdk.requests import ChatBody, UIMessage, decisions
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.returning import deliver, latest_run
from oracle.server.connect.base.streaming import adapted_stream

router = APIRouter(prefix="/api/chat")

_PROTOCOL = "ai_sdk"
_HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
_ACTIVE_S = 600.0
"""How long an answer that has ended may still be one that its client has lost."""


def refused(refusal: Refusal) -> Response:
    """The refusal as `useChat` shows it: the body is its `error.message`."""
    return PlainTextResponse(refusal.message, 400 if refusal.status == 422 else refusal.status)


@router.post("")
async def chat(body: ChatBody, request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Answer the last message; one of ours is gone on with, after what the client has decided."""
    if body.messages[-1].role == "assistant":
        return await _go_on(body.messages[-1], parts, caller)
    run = (await begin(body.asked(), request, parts, caller, protocol=_PROTOCOL)).run
    return adapted_stream(parts, run, UIMessageStream(run), headers=_HEADERS)


async def _go_on(message: UIMessage, parts: Parts, caller: CallerNow) -> Response:
    run = with_texts(await find_run(message.id, parts, user_id=caller.user_id))
    kept = await parts.store.interrupts.of_run(run.id)
    decided = list(decisions(message, kept))
    pending = {each.id for each in kept.values() if each.status == "pending"}
    if pending and pending.isdisjoint(each.id for each in decided):
        raise ConversationBusyError(f"the answer waits for a decision on {', '.join(sorted(pending))}", detail=None)
    await deliver(run, decided, parts, caller)
    rest = UIMessageStream(run, seen=message.seen, answered=[each.id for each in decided])
    return adapted_stream(parts, run, rest, headers=_HEADERS)


@router.get("/{chat_id:path}/stream")
async def resume(
    chat_id: str, parts: Parts, caller: CallerNow, last_event_id: LastEventId = None, after: AfterId = None
) -> Response:
    """The whole of the last answer, and then what comes; 204 if it has ended a while ago.

    A client that goes on where it was says which part was the last, and is answered however long ago that was.
    """
    seen, run = last_seen(last_event_id, after), await latest_run(chat_id, parts, caller, protocol=_PROTOCOL)
    is_over = run is not None and not seen and (run.finished_at or time.time()) < time.time() - _ACTIVE_S
    if run is None or run.kept != "whole" or is_over:
        return Response(status_code=204)
    return adapted_stream(parts, run, UIMessageStream(run), after=seen, headers=_HEADERS)


@router.post("/{chat_id:path}/stop")
async def stop(chat_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Stop the answer; what it has so far is kept. `stop()` of the client closes its connection alone."""
    run = await latest_run(chat_id, parts, caller, protocol=_PROTOCOL)
    return Response(status_code=204) if run is None else await cancel_run(run, parts)
