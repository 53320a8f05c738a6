"""`/api/oracle/conversations/{context_id}`: what was said; its owner alone reads and deletes it."""

from fastapi import APIRouter
from starlette.responses import Response

from oracle.service.access import CallerNow, Parts, is_id
from oracle.service.answers import json_answer
from oracle.service.described import refusals
from oracle.service.errors import no_such_conversation
from oracle.service.replies import ConversationBody

router = APIRouter(prefix="/api/oracle/conversations", tags=["conversations"])


@router.get("/{context_id}", summary="What was said", response_model=ConversationBody, responses=refusals(404))
async def read(context_id: str, parts: Parts, caller: CallerNow) -> Response:
    """The conversation's messages, oldest first, the notifications of its runs among them."""
    kept = await parts.store.conversations.load(caller.user_id, context_id) if is_id(context_id) else None
    if kept is None:
        raise no_such_conversation()
    messages = [
        {"role": each.role, "content": each.content, "at": each.at, "metadata": dict(each.metadata)}
        for each in kept.messages
    ]
    return json_answer({"context_id": kept.context_id, "project_id": kept.project_id, "messages": messages})


@router.delete(
    "/{context_id}",
    summary="Forget a conversation",
    status_code=204,
    response_class=Response,
    responses=refusals(404, 409),
)
async def forget(context_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Delete the messages and all texts of the conversation's runs; a query under way is cancelled first.

    Figures of the runs (times, tokens, reasons) stay. Notes that the agent has written to the vault stay.
    """
    if not is_id(context_id) or not await parts.runs.forget(caller.user_id, context_id):
        raise no_such_conversation()
    return Response(status_code=204)
