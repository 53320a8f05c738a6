"""`/v1/responses`: questions by OpenAI's Responses, and their answers again by their ids."""

import asyncio
from contextlib import aclosing, suppress
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from oracle.core.chunks import read_chunk
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, find_run
from oracle.server.api.answers import json_answer
from oracle.server.api.auth import Caller
from oracle.server.api.errors import InvalidRequestError, UnknownRunError
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import chunks_of
from oracle.server.api.waiting import waited_for
from oracle.server.connect.base.asking import Asked, begin
from oracle.server.connect.base.streaming import adapted_stream
from oracle.server.connect.openai.models import choose_model
from oracle.server.connect.openai.requests import conversation_of, is_repeat, json_object
from oracle.server.connect.openai.response_answers import deliver
from oracle.server.connect.openai.response_events import ResponseTranslator
from oracle.server.connect.openai.response_items import ResponseName, user_item
from oracle.server.connect.openai.response_requests import ResponseRequest, read_response

router = APIRouter(prefix="/v1/responses")

_CANCELLED_WITHIN_S: Final = 10.0
_GREATEST_NUMBER: Final = 2**53


@router.post("")
async def create_response(request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Ask, or give what a response has asked for: its run then goes on, and this response has the rest of it."""
    wanted = read_response(await json_object(request))
    if wanted.given:
        run, first = await _going_on(wanted, parts, caller)
    else:
        asked = await _asked(wanted, request, parts, caller)
        run, first = (await begin(asked, request, parts, caller, protocol="openai")).run, 1
    if wanted.streams:
        return _stream(parts, run, first=first)
    translator = ResponseTranslator(run, first=first)
    if wanted.is_background:
        await _catch_up(parts, run, translator)
    elif await waited_for(request, parts, run, _follow(parts, run, translator)) is None:
        return Response(status_code=204)
    else:
        run = await find_run(run.id, parts, user_id=caller.user_id)
    return _whole(run, translator)


@router.get("/{response_id}")
async def retrieve_response(
    response_id: str,
    parts: Parts,
    caller: CallerNow,
    stream: bool = False,  # noqa: FBT001, FBT002  a parameter of the query
    starting_after: Annotated[int | None, Query(ge=0, le=_GREATEST_NUMBER)] = None,
) -> Response:
    """The response as it is now, or its events behind a number."""
    run, first = await _run_of(response_id, parts, caller)
    if stream and first == 1:  # every run has it
        return _stream(parts, run, first=first, after=0 if starting_after is None else starting_after + 1)
    run, translator = await _found(response_id, parts, caller)
    if stream:
        return _stream(parts, run, first=first, after=0 if starting_after is None else starting_after + 1)
    return _whole(run, translator)


@router.post("/{response_id}/cancel")
async def cancel_response(response_id: str, request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Stop the run; its text is kept. A response that has ended is not changed."""
    run, translator = await _found(response_id, parts, caller)
    if not translator.is_over:
        await parts.runs.cancel(run)
        translator = ResponseTranslator(run, first=translator.wanted)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CANCELLED_WITHIN_S):
                await waited_for(request, parts, run, _follow(parts, run, translator))
    return _whole(run, translator)


@router.delete("/{response_id}")
async def delete_response(response_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Forget the question and the answer, here and in the conversation; a run under way is cancelled first."""
    run, _ = await _found(response_id, parts, caller)
    await parts.runs.forget_run(run)
    return json_answer({"id": response_id, "object": "response", "deleted": True})


@router.get("/{response_id}/input_items")
async def list_input_items(response_id: str, parts: Parts, caller: CallerNow) -> Response:
    """What the client has given for this response: the question, or answers to what the one before has asked."""
    run, translator = await _found(response_id, parts, caller)
    items = translator.given if translator.wanted > 1 else [user_item(run)]
    first, last = (items[0]["id"], items[-1]["id"]) if items else ("", "")
    return json_answer({"object": "list", "data": items, "first_id": first, "last_id": last, "has_more": False})


async def _asked(wanted: ResponseRequest, request: Request, parts: ServiceParts, caller: Caller) -> Asked:
    chosen = choose_model(wanted.model, parts)
    conversation = wanted.conversation or conversation_of(request, parts, wanted.metadata)
    after_run = None
    if wanted.previous is not None:
        after_run = await _previous(wanted.previous, parts, caller)
    elif conversation is None and wanted.last_run is not None:  # what the client sends back names its run
        with suppress(UnknownRunError):
            after_run = (await find_run(wanted.last_run, parts, user_id=caller.user_id)).id
    return Asked(
        question=wanted.question,
        said=wanted.said,
        conversation=conversation,
        after_run=after_run,
        tree=chosen.tree,
        model=chosen.model,
        tools=wanted.tools,
        metadata=wanted.metadata,
        instructions=wanted.instructions,
        is_detached=wanted.is_background,
        is_repeat=is_repeat(request),
    )


async def _previous(response_id: str, parts: ServiceParts, caller: Caller) -> str:
    """The run of the response that is followed.

    Raises:
        InvalidRequestError: the user has no such response.
    """
    try:
        return (await _run_of(response_id, parts, caller))[0].id
    except UnknownRunError:
        place = ("body", "previous_response_id")
        raise InvalidRequestError("there is no such response", loc=place, value=response_id) from None


async def _going_on(wanted: ResponseRequest, parts: ServiceParts, caller: Caller) -> tuple[RunRecord, int]:
    """The run that goes on with what the client gives, and the first chunk of the response that has the rest."""
    run_id = wanted.given[0].run_id
    if wanted.previous is not None and await _previous(wanted.previous, parts, caller) != run_id:
        raise wanted.given[0].unknown()
    try:
        run = await find_run(run_id, parts, user_id=caller.user_id)
    except UnknownRunError:
        raise wanted.given[0].unknown() from None
    translator = ResponseTranslator(run)
    await _catch_up(parts, run, translator)
    first = await deliver(wanted.given, translator.portions, run, parts, caller)
    return run, first


async def _run_of(response_id: str, parts: ServiceParts, caller: Caller) -> tuple[RunRecord, int]:
    """The run that a response answers, and the first chunk of it there.

    Raises:
        UnknownRunError: the user has none, or its texts are deleted.
    """
    name = ResponseName.read(response_id)
    run = None if name is None else await find_run(name.run_id, parts, user_id=caller.user_id)
    if name is None or run is None or run.kept != "whole":
        raise UnknownRunError(response_id)
    return run, name.first


async def _found(response_id: str, parts: ServiceParts, caller: Caller) -> tuple[RunRecord, ResponseTranslator]:
    """A run, and one of the responses that answer it, as far as it has come.

    Raises:
        UnknownRunError: the user has no such response.
    """
    run, first = await _run_of(response_id, parts, caller)
    translator = ResponseTranslator(run, first=first)
    await _catch_up(parts, run, translator)
    if first not in translator.portions.starts:
        raise UnknownRunError(response_id)
    return run, translator


async def _catch_up(parts: ServiceParts, run: RunRecord, translator: ResponseTranslator) -> None:
    """Give the translator what the log has by now."""
    last = 0
    while (page := await parts.store.log.page(run.id, after=last)) is not None and page.chunks:
        for last, data in page.chunks:
            translator.frames(last, read_chunk(data))


async def _follow(parts: ServiceParts, run: RunRecord, translator: ResponseTranslator) -> bool:
    """Give the translator what the log has and gets, until the response has ended."""
    async with aclosing(chunks_of(parts, run)) as batches:
        async for batch in batches:
            for n, data in batch:
                translator.frames(n, read_chunk(data))
            if translator.is_over:
                break
    return True


def _stream(parts: ServiceParts, run: RunRecord, *, first: int, after: int = 0) -> Response:
    translator = ResponseTranslator(run, first=first)
    return adapted_stream(parts, run, translator, after=after, is_over=lambda: translator.is_over)


def _whole(run: RunRecord, translator: ResponseTranslator) -> Response:
    body = translator.body(is_queued=run.status == "queued")
    if body["status"] == "completed" and body["usage"] is not None and run.finished_at is not None:
        body["completed_at"] = int(run.finished_at)
    return json_answer(body, headers={"X-Run-Id": run.id})
