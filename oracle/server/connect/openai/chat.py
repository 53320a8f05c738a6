"""`POST /v1/chat/completions`: questions as chat products and OpenAI's SDKs ask them."""

from time import time
from uuid import uuid4

from fastapi import APIRouter, Request
from starlette.responses import Response

from oracle.core.chunks import Chunk
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.answers import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.auxiliary import Auxiliary, answer_auxiliary, auxiliary_of
from oracle.server.connect.base.streaming import adapted_stream, folded
from oracle.server.connect.openai.completions import CompletionFrames
from oracle.server.connect.openai.errors import failed_answer
from oracle.server.connect.openai.parameters import ChatRequest, read_chat
from oracle.server.connect.openai.requests import json_object, placed, wrong

router = APIRouter()


@router.post("/v1/chat/completions")
async def complete_chat(request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Answer the last of the user's messages, as a stream or whole."""
    wanted = read_chat(await json_object(request))
    asked = placed(wanted.asked, wanted.model, request, parts)
    if (own := _auxiliary(request, parts, wanted)) is not None:
        return await _answer_auxiliary(own, parts, wanted, user_id=caller.user_id)
    if wanted.response_format:
        raise wrong("answers are text as the tree writes it; `response_format` may only be text", "response_format")
    run = (await begin(asked, request, parts, caller, protocol="openai")).run
    activity = parts.settings.openai_activity
    completion = CompletionFrames.of_run(run, tells_activity=activity, with_usage=wanted.with_usage)
    if wanted.streams:
        return adapted_stream(parts, run, completion, interrupted=completion.interrupted())
    answer = await folded(request, parts, run, heard=completion.frames)
    return Response(status_code=204) if answer is None else _whole(completion, run_id=run.id)


def _auxiliary(request: Request, parts: ServiceParts, wanted: ChatRequest) -> Auxiliary | None:
    """What the product asks for itself; `None`: a user asks."""
    named = next(filter(None, (request.headers.get(name) for name in parts.settings.task_headers)), None)
    if wanted.asked.said and not named:
        return None
    form = wanted.response_format and f"The form of the answer: {wanted.response_format}"
    texts = [text for text in (wanted.asked.instructions, wanted.asked.question, form) if text]
    return auxiliary_of(named, texts, wants_json=bool(form))


async def _answer_auxiliary(own: Auxiliary, parts: ServiceParts, wanted: ChatRequest, *, user_id: str) -> Response:
    """Its answer, in the form of a run's, of which there is none."""
    chunks: list[Chunk] = [*await answer_auxiliary(own, parts, user_id=user_id)]
    completion = CompletionFrames(uuid4().hex, created_at=time(), model=str(wanted.model), with_usage=wanted.with_usage)
    frames = [*completion.opening()]
    for n, chunk in enumerate(chunks, start=1):
        frames += completion.frames(n, chunk)
    if completion.failed is None and wanted.streams:
        return Response(b"".join(frames), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
    return _whole(completion)


def _whole(completion: CompletionFrames, *, run_id: str | None = None) -> Response:
    if completion.failed is not None:
        return failed_answer(completion.failed)
    return json_answer(completion.whole(), headers={} if run_id is None else {"X-Run-Id": run_id})
