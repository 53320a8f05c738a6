"""`POST /v1/chat/completions`: questions as chat products and OpenAI's SDKs ask them, of which nothing is certain.

Rules:

- Parameters without a meaning for trees (`temperature`, `stop`, `tools`, ...), and those that nobody knows, are
  accepted: clients send them by themselves, and cannot all leave them out. Each name is in the log once.
- What would change the meaning of the answer (two of them, sound) is refused.
- Roles may come in any order, and texts may be missing; only that the last one is the user's is required.
"""

from collections.abc import Mapping
from time import time
from typing import Any, Final, NamedTuple
from uuid import uuid4

from fastapi import APIRouter, Request
from starlette.responses import Response

from oracle.core.chunks import Chunk
from oracle.core.encoding import to_json
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.auxiliary import Auxiliary, answer_auxiliary, auxiliary_of
from oracle.server.connect.base.chain import ClientQuestion
from oracle.server.connect.base.streaming import adapted_stream, folded
from oracle.server.connect.openai.completions import WAITS, CompletionFrames
from oracle.server.connect.openai.errors import failed_answer
from oracle.server.connect.openai.requests import IGNORED, Talk, json_object, metadata_of, placed, text_of, typed, wrong

_READ: Final = frozenset({"messages", "model", "stream", "stream_options", "metadata", "n", "response_format"})
_SKIPPED: Final = ("tool", "function")


class ChatRequest(NamedTuple):
    """A request for a chat completion.

    Args:
        model: the value of `model`, not checked yet.
        asked: the question.
        streams: the answer is to be streamed.
        with_usage: the stream is to end with the usage.
        response_format: the form of the answer, as JSON; empty: a text.
    """

    model: object
    asked: ClientQuestion
    streams: bool
    with_usage: bool
    response_format: str


def read_chat(body: Mapping[str, Any]) -> ChatRequest:
    """What a body asks for.

    Raises:
        UserError: it asks for what there is not, or a part of it is not what it must be.
    """
    IGNORED.note(name for name, value in body.items() if name not in _READ and value is not None)
    if body.get("n") not in (None, 1):
        raise wrong("a question gets one answer; `n` may only be 1", "n")
    if any(kind != "text" for kind in typed(body, "modalities", list)):
        raise wrong('answers are text; `modalities` may only have "text"', "modalities")
    form = typed(body, "response_format", dict)
    talk = _talk(body)
    if not talk.question:
        raise wrong("the last text must be a question of the user", "messages")
    instructions = "\n\n".join(talk.instructions) or None
    return ChatRequest(
        body.get("model"),
        ClientQuestion(
            talk.question,
            tuple(talk.said[:-1]),
            of_features=talk.features(form),
            metadata=metadata_of(body),
            instructions=instructions,
        ),
        streams=typed(body, "stream", bool),
        with_usage=bool(typed(body, "stream_options", dict).get("include_usage")),
        response_format="" if form.get("type", "text") == "text" else to_json(form).decode(),
    )


def _talk(body: Mapping[str, Any]) -> Talk:
    """What the messages say; those of tools, and those without a text, say nothing."""
    talk = Talk()
    for n, message in enumerate(typed(body, "messages", list)):
        if not isinstance(message, dict):
            raise wrong("a message must be an object with `role` and `content`", "messages", n)
        role, content = message.get("role"), message.get("content")
        if role not in _SKIPPED:
            left_out = ("refusal",) if role == "assistant" else ()
            content = "" if content is None else content
            text = text_of(content, "messages", n, "content", fields={"text": "text"}, left_out=left_out)
            talk.add(message, "messages", n, text=text.partition(WAITS)[0] if role == "assistant" else text)
    talk.instructions[:] = filter(None, talk.instructions)
    talk.said[:] = [each for each in talk.said if each.text]
    return talk


router = APIRouter()


@router.post("/v1/chat/completions")
async def complete_chat(request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Answer the last of the user's messages, as a stream or whole."""
    wanted = read_chat(await json_object(request))
    asked = placed(wanted.asked, wanted.model, request, parts)
    if (own := _auxiliary(request, parts, wanted)) is not None:
        return await _answer_auxiliary(own, parts, wanted, user_id=caller.user_id)
    run = (await begin(asked, request, parts, caller, protocol="openai")).run
    activity = parts.settings["openai_activity"]
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
