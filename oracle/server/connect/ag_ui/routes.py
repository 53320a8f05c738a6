"""`/agui`: what `HttpAgent` calls and sends, and what brings a thread back; see `docs/chat.md`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from itertools import takewhile
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Body
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.agent.people import client_answer
from oracle.core.chunks import read_chunk
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.runs.storage.conversation_pages import StoredMessage
from oracle.runs.storage.interrupts import Delivery, KeptInterrupt
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, find_run, with_texts
from oracle.server.api.adapters import Refusal
from oracle.server.api.auth import Caller
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.queries import cancel_run
from oracle.server.api.reading import chunks_of
from oracle.server.connect.ag_ui.events import AgUiEvents, Event, question_id, spoken_question
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.chain import ClientBody, ClientQuestion, Items, Said
from oracle.server.connect.base.files import KINDS, files_of
from oracle.server.connect.base.placing import deliver, delivery, latest_run, result_of_call
from oracle.server.connect.base.streaming import adapted_stream, folded
from oracle.tools.client_tools import read_tools

_NOT_DONE = "The user has not approved this call."
_HOW_APPROVED = "the payload of an approval must be true, false or {approved, arguments, comment}"


class AgUiMessage(BaseModel, strict=True):
    """A message as the client has it; those of other roles are left alone."""

    id: str = ""
    role: str = ""
    content: Any = None
    toolCallId: str | None = None  # noqa: N815  the protocol's name, as all here

    @property
    def text(self) -> str:
        """Its text, without what is no text in it."""
        if not isinstance(self.content, list):
            return self.content if isinstance(self.content, str) else ""
        return "\n".join(str(part.get("text", "")) for part in self.content if _type_of(part) == "text")


class AgUiTool(BaseModel, strict=True):
    """A tool that the client runs."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] | None = Field(default=None, alias="parameters")


class ResumeEntry(BaseModel, strict=True):
    """What became of an interrupt."""

    interruptId: str  # noqa: N815
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class Forwarded(BaseModel, strict=True):
    """Properties that the page hands through."""

    tree: str | None = None
    model: str | None = None


class RunAgentInput(ClientBody):
    """The body of `POST /agui`; fields that are not known are left alone."""

    threadId: Annotated[str, Field(min_length=1, max_length=1_000)]  # noqa: N815
    runId: Annotated[str, Field(min_length=1, max_length=200)]  # noqa: N815
    messages: Items[AgUiMessage]
    tools: Items[AgUiTool] = Field(default_factory=list)
    state: Any = None
    resume: Items[ResumeEntry] = Field(default_factory=list)
    forwardedProps: Forwarded | None = None  # noqa: N815

    @property
    def question(self) -> AgUiMessage | None:
        """The message that is asked; `None`: the last one is not the user's."""
        return self.messages[-1] if self.messages and self.messages[-1].role == "user" else None

    @property
    def results(self) -> dict[str, str]:
        """The results of calls with which the messages end, by the ids of the calls."""
        last = list(takewhile(lambda each: each.role == "tool", reversed(self.messages)))
        return {each.toolCallId: each.text for each in reversed(last) if each.toolCallId is not None}

    def asked(self) -> ClientQuestion:
        """The question.

        Raises:
            UserError: there is none, or it has something that is neither text nor a file with its bytes.
            ClientToolError: a tool cannot be offered.
        """
        last = self.question
        if last is None:
            raise UserError("the last message must be the user's or a tool result", loc=("body", "messages"))
        files = files_of(last.content, "messages", len(self.messages) - 1, "content")
        if isinstance(last.content, list) and any(_type_of(part) not in ("text", *KINDS) for part in last.content):
            raise UserError("parts of a message must be text, pictures or files", loc=("body", "messages"))
        props = self.forwardedProps or Forwarded()
        before = self.messages[:-1]
        system = [each.text for each in before if each.role in ("system", "developer")]
        said = tuple(
            Said("user" if each.role == "user" else "assistant", each.text)
            for each in before
            if each.role in ("user", "assistant")
        )
        return ClientQuestion(
            last.text,
            said,
            conversation=self.threadId,
            tree=props.tree,
            model=props.model,
            of_features={"attachments": files} if files else {},
            tools=read_tools([each.model_dump() | {"input_schema": each.input_schema or {}} for each in self.tools]),
            instructions="\n".join(system) or None,
            is_whole=bool(said),  # a page that was loaded anew goes on in its thread
        )

    def is_new(self, question: str) -> bool:
        """Whether the user has asked something else in the place of answering what is open."""
        last = self.question
        cancels = all(entry.status == "cancelled" for entry in self.resume)
        return last is not None and cancels and last.text.split() != question.split()


def decisions(body: RunAgentInput, kept: Mapping[str, KeptInterrupt]) -> Iterator[Delivery]:
    """What the client has decided, and the results that it gives.

    Args:
        body: has what became of interrupts, and the results of calls.
        kept: what the run has asked, by id.

    Raises:
        UserError: it has asked nothing of the kind, or cannot be answered so.
        RequestValidationError: an answer is too large, or no data.
    """
    results = body.results
    for entry in body.resume:
        found = kept.get(entry.interruptId)
        if found is None:
            raise UserError("no question has this id", loc=("body", "resume"), value=entry.interruptId)
        if entry.status == "resolved":
            yield delivery(found.id, **_resolved(found, entry.payload))
        elif found.status not in ("expired", "withdrawn") and (found.answered_by or found.expires_at > time.time()):
            yield _cancelled(found)
    for each in kept.values():
        call_id = str(each.data.get("tool_call_id"))
        if each.reason == "input_required" and call_id in results:
            yield delivery(each.id, **result_of_call(results[call_id]))


def _resolved(found: KeptInterrupt, payload: Any) -> dict[str, Any]:  # noqa: ANN401  JSON data
    given = payload if isinstance(payload, dict) else {}
    if found.reason == "input_required":
        if "tool_call_id" in found.data:
            return result_of_call(given.get("output", payload), is_error=given.get("is_error") is True)
        return {"decision": "answer", "answer": payload}
    comment, approved = given.get("comment"), given.get("approved", payload)
    if type(approved) is not bool:
        raise UserError(_HOW_APPROVED, loc=("body", "resume", "payload"), value=payload)
    arguments = given.get("arguments", given.get("editedArgs"))
    if approved and arguments is not None and arguments != found.data.get("arguments"):
        return {"decision": "edit", "arguments": arguments, "comment": comment}
    return {"decision": "approve" if approved else "refuse", "comment": comment}


def _cancelled(found: KeptInterrupt) -> Delivery:
    if "refuse" in found.data["may"]:
        return Delivery(found.id, "refuse")
    return Delivery(found.id, "answer", answer=client_answer(_NOT_DONE, is_error=True))


def _type_of(part: object) -> object:
    return part.get("type") if isinstance(part, dict) else None


router = APIRouter(prefix="/agui")

_PROTOCOL: Final = "ag_ui"
_MOST_MESSAGES: Final = 200
_MOST_RUNS: Final = 50


def refused(refusal: Refusal) -> Response:
    """The refusal as `HttpAgent` has it in the `payload` of its error."""
    said = {"message": refusal.message, "code": refusal.status, "where": refusal.where}
    return json_answer(said, status=refusal.status)


@router.post("")
async def run_agent(
    body: Annotated[RunAgentInput, Body()], request: Request, parts: Parts, caller: CallerNow
) -> Response:
    """Answer the last message; or go on with the run that waits, after what was decided."""
    if body.resume or body.results:
        run = await _waiting(body, parts, caller)
        if not (body.resume and body.is_new(str(run.input["question"]))):
            return await _go_on(body, run, parts, caller)
        body.asked()  # what is refused stops nothing
        await parts.runs.cancel(run)
        await folded(request, parts, run)
    asked = body.asked()
    run = (await begin(asked, request, parts, caller, protocol=_PROTOCOL)).run
    starts = [] if asked.said else [_snapshot(await _messages(run, parts), run, body.messages[-1])]
    if not body.state:
        starts.append({"type": "STATE_SNAPSHOT", "snapshot": {"run_id": run.id, "context_id": run.context_id}})
    return adapted_stream(parts, run, AgUiEvents(run, thread=body.threadId, name=body.runId, starts=starts))


@router.get("/threads/{thread_id:path}")
async def read_thread(thread_id: str, parts: Parts, caller: CallerNow) -> Response:
    """The whole thread, run by run, and then the events of the last one as they come."""
    run = with_texts(await _latest(thread_id, parts, caller))
    messages = await _messages(run, parts)
    ids = [each for each in dict.fromkeys(message.run_id for message in messages) if each != run.id]
    found = [await parts.store.runs.find(each, user_id=caller.user_id) for each in ids[-_MOST_RUNS:]]
    earlier = [each for each in found if each is not None and each.kept == "whole"]
    told = [each for each in messages if each.run_id not in {run.id, *(one.id for one in earlier)}]
    starts: list[Event] = [{"type": "MESSAGES_SNAPSHOT", "messages": _shown(told)}] if told else []
    frames: list[bytes] = []
    for each in earlier:
        frames += await _frames(each, thread_id, starts, parts)
        starts = []
    starts = [*starts, *spoken_question(run)]
    return adapted_stream(parts, run, AgUiEvents(run, thread=thread_id, begins=frames, starts=starts))


@router.post("/threads/{thread_id:path}/cancel")
async def cancel_thread(thread_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Stop the answer; what it has so far is kept. `abortRun()` of the client closes its connection alone."""
    return await cancel_run(await _latest(thread_id, parts, caller), parts)


async def _latest(thread_id: str, parts: ServiceParts, caller: Caller) -> RunRecord:
    """The last run of a thread.

    Raises:
        UnknownConversationError: the user has no such thread.
    """
    run = await latest_run(thread_id, parts, caller, protocol=_PROTOCOL)
    if run is None:
        raise UnknownConversationError(thread_id)
    return run


async def _messages(run: RunRecord, parts: ServiceParts) -> Sequence[StoredMessage]:
    """The latest of the conversation of a run."""
    page = await parts.store.conversations.page(run.user_id, run.context_id, limit=_MOST_MESSAGES)
    return () if page is None else page.messages


async def _waiting(body: RunAgentInput, parts: ServiceParts, caller: Caller) -> RunRecord:
    """The run that the client goes on with: the one that has asked, or else the last one of the thread."""
    if not body.resume:
        return with_texts(await _latest(body.threadId, parts, caller))
    return with_texts(await find_run(body.resume[0].interruptId.rpartition(".")[0], parts, user_id=caller.user_id))


async def _go_on(body: RunAgentInput, run: RunRecord, parts: ServiceParts, caller: Caller) -> Response:
    kept = await parts.store.interrupts.of_run(run.id)
    decided = list(decisions(body, kept))
    resumed = {*(entry.interruptId for entry in body.resume), *(each.id for each in decided)}
    if not resumed:
        raise UserError("the run waits for no such result", loc=("body", "messages"))
    await deliver(run, decided, parts, caller)
    events = AgUiEvents(run, thread=body.threadId, name=body.runId, resumed=resumed, given=body.results)
    return adapted_stream(parts, run, events)


async def _frames(run: RunRecord, thread_id: str, starts: Sequence[Event], parts: ServiceParts) -> list[bytes]:
    """A run that has ended."""
    events = AgUiEvents(run, thread=thread_id, starts=(*starts, *spoken_question(run)))
    frames = list(events.opening())
    async with aclosing(chunks_of(parts, run)) as batches:
        async for batch in batches:
            for n, data in batch:
                frames += events.frames(n, read_chunk(data))
    return frames


def _snapshot(messages: Sequence[StoredMessage], run: RunRecord, question: AgUiMessage) -> Event:
    """The conversation, for a client that shows the question alone: it has just begun, or was loaded anew.

    The client keeps the order of the messages whose ids it knows, so either all ids are its own, or none.
    """
    before = _shown([each for each in messages if each.run_id != run.id])
    asked_id = question_id(run.id) if before or not question.id else question.id
    asked = {"id": asked_id, "role": "user", "content": str(run.input["question"])}
    return {"type": "MESSAGES_SNAPSHOT", "messages": [*before, asked]}


def _shown(messages: Sequence[StoredMessage]) -> list[dict[str, Any]]:
    """What was said, without calls of tools: a thread that is read again has those."""
    return [
        {"id": f"{each.run_id}-m{each.n}", "role": each.role, "content": from_json(each.content)}
        for each in messages
        if each.role != "system"
    ]
