"""`/agui`: what `HttpAgent` calls, and what brings a thread back; see `docs/connecting.md`."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body
from starlette.requests import Request
from starlette.responses import Response

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.core.chunks import read_chunk
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.runs.storage.conversation_pages import StoredMessage
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, find_run, with_texts
from oracle.server.api.adapters import Refusal
from oracle.server.api.answers import json_answer
from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import chunks_of
from oracle.server.api.runs import cancel_run
from oracle.server.connect.ag_ui.events import AgUiEvents, Event, question_id, spoken_question
from oracle.server.connect.ag_ui.requests import AgUiMessage, RunAgentInput, decisions
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.returning import deliver, latest_run
from oracle.server.connect.base.streaming import adapted_stream, folded

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
    """The whole thread, run by run, and then what comes of the last one."""
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
