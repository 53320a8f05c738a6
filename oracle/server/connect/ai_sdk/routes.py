"""`/api/chat`: what `useChat` of the AI SDK calls and `DefaultChatTransport` sends; see `docs/chat.md`."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from oracle.core.chunks import Interrupt
from oracle.core.encoding import to_json
from oracle.core.errors import UserError
from oracle.core.json_schemas import is_deeper
from oracle.runs.storage.errors import ConversationBusyError
from oracle.runs.storage.interrupts import Delivery, KeptInterrupt
from oracle.server.api.access import CallerNow, Parts, find_run, with_texts
from oracle.server.api.adapters import Refusal
from oracle.server.api.bodies import ClientToolBody, Limits, Name
from oracle.server.api.queries import cancel_run
from oracle.server.api.reading import AfterId, LastEventId, last_seen
from oracle.server.connect.ai_sdk.parts import UIMessageStream, shown_call
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.chain import ClientBody, ClientQuestion, Items, Said
from oracle.server.connect.base.files import files_of
from oracle.server.connect.base.placing import deliver, delivery, latest_run, result_of_call
from oracle.server.connect.base.streaming import adapted_stream
from oracle.tools.client_tools import read_tools

_DEEPEST: Final = 200
_OTHER_CALL = (
    "this is not the call that waits for an answer: send its part as it was streamed; to change the arguments use "
    "POST /api/oracle/runs/{run_id}/deliveries"
)


class UIMessage(BaseModel, strict=True):
    """A message as the client has it; of its parts only those that are looked at are checked."""

    id: str = ""
    role: Literal["system", "user", "assistant"]
    parts: Items[dict[str, Any]]
    metadata: Any = None

    @property
    def text(self) -> str:
        """Its text parts."""
        texts = (part.get("text") for part in self.parts if part.get("type") == "text")
        return "\n".join(text for text in texts if isinstance(text, str))

    @property
    def seen(self) -> int:
        """The number of the last chunk that is in it, as the stream has said."""
        seen = self.metadata.get("seen") if isinstance(self.metadata, dict) else None
        return seen if type(seen) is int else 0


class ChatBody(ClientBody):
    """The body of `POST /api/chat`; fields that are not known are the page's own, and are left alone.

    So is `trigger`: a question that is asked anew is known by what was said before it.
    """

    id: str | None = None
    messages: Items[UIMessage] = Field(min_length=1)
    tree: Name | None = None
    model: Name | None = None
    limits: Limits = Limits()
    tools: Items[ClientToolBody] = Field(default_factory=list)

    def asked(self) -> ClientQuestion:
        """The question.

        Raises:
            UserError: there is none, or a file of it has no bytes.
            ClientToolError: a tool cannot be offered.
        """
        *before, last = self.messages
        if last.role != "user":
            raise UserError("the last message must be the user's", loc=("body", "messages"))
        files = files_of(last.parts, "messages", len(before), "parts")
        return ClientQuestion(
            last.text,
            tuple(Said(each.role, each.text) for each in before if each.role != "system"),
            conversation=self.id,
            tree=self.tree,
            model=self.model,
            limits=self.limits.given,
            of_features={"attachments": files} if files else {},
            tools=read_tools([each.model_dump() for each in self.tools]),
            instructions="\n".join(each.text for each in before if each.role == "system") or None,
        )


def decisions(message: UIMessage, kept: Mapping[str, KeptInterrupt]) -> Iterator[Delivery]:
    """What the client has decided or run, of what its message shows.

    Args:
        message: the answer that waits.
        kept: what its run has asked, by id.

    Raises:
        UserError: a part shows another call than the one that was asked about.
        RequestValidationError: what it says cannot be an answer.
    """
    parts = {str(part.get("toolCallId")): part for part in message.parts}
    for each in kept.values():
        call = shown_call(Interrupt(**each.data))
        part = parts.get(call.id, {})
        if (said := _said(part, each)) is None:
            continue
        name = part.get("toolName") or str(part.get("type")).removeprefix("tool-")
        if name != call.name or not _is_same(part.get("input"), call.arguments):
            raise UserError(_OTHER_CALL, loc=("body", "messages"), value=part.get("input"))
        yield delivery(each.id, **said)


def _said(part: Mapping[str, Any], asked: KeptInterrupt) -> dict[str, Any] | None:
    """What a part says of what was asked; `None`: nothing."""
    is_open, is_call = asked.status == "pending" and asked.reason == "input_required", "tool_call_id" in asked.data
    match part:
        case {"state": "approval-responded", "approval": {"id": asked.id, "approved": bool(is_approved), **more}}:
            return {"decision": "approve" if is_approved else "refuse", "comment": more.get("reason")}
        case {"state": "output-available", "output": output} if is_open:
            return result_of_call(output) if is_call else {"decision": "answer", "answer": output}
        case {"state": "output-error", "errorText": text} if is_open:
            return result_of_call(text, is_error=True) if is_call else {"decision": "refuse", "comment": text}
    return None


def _is_same(given: object, shown: object) -> bool:
    """Whether they are the same to a reader in JavaScript, which has one kind of number."""
    return not is_deeper(given, _DEEPEST) and _plain(given) == _plain(shown)


def _plain(value: object) -> Any:  # noqa: ANN401  JSON data
    number = lambda digits: (float(digits),)  # noqa: E731  which is not `true`
    return json.loads(to_json(value), parse_int=number, parse_float=number)


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
        raise ConversationBusyError(f"the run waits for a decision on {', '.join(sorted(pending))}", detail=None)
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
