"""`/api/oracle/conversations…`: messages; only their owner may list, read, rename and delete them."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from orjson import Fragment
from starlette.responses import Response

from bt_runtime.text import iso
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.runs.storage.conversation_pages import ConversationSummary, StoredMessage
from oracle.server.api.access import CallerNow, ContextId, Parts, conversation_id
from oracle.server.api.bodies import ForkRequest, Name, TitleChange
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.forking import fork
from oracle.server.api.reading import GREATEST_ID
from oracle.server.api.replies import ConversationBody, ConversationHead, ConversationList

router = APIRouter(prefix="/api/oracle/conversations", tags=["conversations"], route_class=DescribedRoute)


@router.get("", summary="One's conversations", response_model=ConversationList, responses=refusals(404))
async def list_conversations(
    parts: Parts,
    caller: CallerNow,
    project_id: Annotated[Name | None, Query(description="Only those with this label.")] = None,
    search: Annotated[
        str | None, Query(max_length=200, description="Only those whose title or questions contain this text.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[
        str | None, Query(description="The id of a conversation; only those after it in the list.")
    ] = None,
) -> Response:
    """The caller's own conversations, the one that was used last first."""
    if before is not None:
        await conversation_id(before)
    found = await parts.store.conversations.list(
        caller.user_id, project_id=project_id, search=search, limit=limit, before=before
    )
    if found is None:
        raise UnknownConversationError(before or "")
    following = found[-1].context_id if len(found) == limit else None
    return json_answer({"conversations": [_head(each) for each in found], "next": following})


@router.get("/{context_id}", summary="What was said", response_model=ConversationBody, responses=refusals(404))
async def read_conversation(
    context_id: ContextId,
    parts: Parts,
    caller: CallerNow,
    limit: Annotated[int, Query(ge=1, le=1000)] = 500,
    before: Annotated[
        int | None, Query(ge=1, le=GREATEST_ID, description="`next` of the previous page: only earlier messages.")
    ] = None,
) -> Response:
    """The newest messages, oldest first, with the notifications and tool calls of its runs in their places."""
    page = await parts.store.conversations.page(caller.user_id, context_id, limit=limit, before=before)
    if page is None:
        raise UnknownConversationError(context_id)
    live = page.live and {
        "run_id": page.live.run_id,
        "question": page.live.question,
        "created_at": iso(page.live.created_at),
    }
    following = page.messages[0].n if page.messages and page.has_earlier else None
    messages = [_message(each) for each in page.messages]
    return json_answer(_head(page.summary) | {"live": live, "messages": messages, "next": following})


@router.patch("/{context_id}", summary="Name a conversation", response_model=ConversationHead, responses=refusals(404))
async def rename_conversation(context_id: ContextId, body: TitleChange, parts: Parts, caller: CallerNow) -> Response:
    """Give the conversation another title."""
    renamed = await parts.store.conversations.rename(caller.user_id, context_id, body.title)
    if renamed is None:
        raise UnknownConversationError(context_id)
    return json_answer(_head(renamed))


@router.post(
    "/{context_id}/fork",
    summary="Go on otherwise",
    status_code=201,
    response_model=ConversationHead,
    responses=refusals(404),
)
async def fork_conversation(context_id: ContextId, body: ForkRequest, parts: Parts, caller: CallerNow) -> Response:
    """Begin a conversation with the messages before a question, so that another one can be asked in its place.

    The conversation stays as it is. The new one is one's own like any other: it is listed, and forgotten by its name.
    """
    forked = await fork(parts, caller.user_id, context_id, before_run=body.before_run)
    return json_answer(_head(forked), status=201)


@router.delete(
    "/{context_id}",
    summary="Forget a conversation",
    status_code=204,
    response_class=Response,
    responses=refusals(404, 409),
)
async def forget_conversation(context_id: ContextId, parts: Parts, caller: CallerNow) -> Response:
    """Delete the messages and all texts of the conversation's runs; a query under way is cancelled first.

    Figures of the runs (times, tokens, reasons) stay. Notes that the agent has written to the vault stay.
    """
    if not await parts.runs.forget(caller.user_id, context_id):
        raise UnknownConversationError(context_id)
    return Response(status_code=204)


def _head(summary: ConversationSummary) -> dict[str, Any]:
    return {
        "context_id": summary.context_id,
        "title": summary.title,
        "project_id": summary.project_id,
        "state": "idle" if summary.run_id is None else "answering",
        "run_id": summary.run_id,
        "created_at": iso(summary.created_at),
        "updated_at": iso(summary.updated_at),
    }


def _message(kept: StoredMessage) -> dict[str, Any]:
    """A message as it goes out; its text is JSON already, and is not read for it."""
    common = {
        "n": kept.n,
        "role": kept.role,
        "content": Fragment(kept.content),
        "at": kept.at,
        "timestamp": kept.at,
        "run_id": kept.run_id,
    }
    metadata = dict(kept.metadata)
    if kept.role == "system":  # kept as the chunk that was streamed
        return common | {name: metadata[name] for name in metadata if name != "type"}
    return common | {"tool_calls": metadata.pop("tool_calls", []), "metadata": metadata}
