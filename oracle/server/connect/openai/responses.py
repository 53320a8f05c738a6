"""`/v1/responses`: questions by OpenAI's Responses, and their answers again by their ids."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from oracle.core.errors import NotFoundError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts, find_run
from oracle.server.api.auth import Caller
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import logged
from oracle.server.connect.base.asking import begin
from oracle.server.connect.base.chain import ClientQuestion
from oracle.server.connect.base.placing import deliver
from oracle.server.connect.base.streaming import adapted_stream, folded
from oracle.server.connect.openai.requests import json_object, placed, wrong
from oracle.server.connect.openai.response_events import ResponseTranslator
from oracle.server.connect.openai.response_items import ResponseName, question_item
from oracle.server.connect.openai.response_requests import GivenItem, ResponseRequest, read_response

router = APIRouter(prefix="/v1/responses")

_CANCELLED_WITHIN_S: Final = 10.0
_GREATEST_NUMBER: Final = 2**53


@router.post("")
async def create_response(request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Ask, or give what a response has asked for: its run then goes on, and this response has the rest of it."""
    wanted = read_response(await json_object(request))
    if wanted.given:
        run, first = await _going_on(wanted.given, parts, caller)
    else:
        asked = await _following(wanted, request, parts, caller)
        run, first = (await begin(asked, request, parts, caller, protocol="openai")).run, 1
    if wanted.streams:
        return _stream(parts, run, first=first)
    if wanted.asked.is_detached:
        return _whole(run, await _caught_up(parts, run, first=first))
    translator = ResponseTranslator(run, first=first)
    answer = await folded(request, parts, run, heard=translator.frames)
    return Response(status_code=204) if answer is None else _whole(run, translator)


@router.get("/{response_id}")
async def retrieve_response(
    response_id: str,
    parts: Parts,
    caller: CallerNow,
    stream: bool = False,  # noqa: FBT001, FBT002  a parameter of the query
    starting_after: Annotated[int, Query(ge=0, le=_GREATEST_NUMBER)] | None = None,
) -> Response:
    """The response as it is now, or its events behind a number."""
    run, translator = await _found(response_id, parts, caller)
    after = 0 if starting_after is None else starting_after + 1
    return _stream(parts, run, first=translator.wanted, after=after) if stream else _whole(run, translator)


@router.post("/{response_id}/cancel")
async def cancel_response(response_id: str, request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Stop the run, also one that waits for the client; a response that has ended is not changed."""
    run, translator = await _found(response_id, parts, caller)
    if not translator.is_over or translator.portions.waiting:
        await parts.runs.cancel(run)
        translator = ResponseTranslator(run, first=translator.wanted)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CANCELLED_WITHIN_S):
                await folded(request, parts, run, heard=translator.frames)
    return _whole(run, translator)


@router.delete("/{response_id}")
async def delete_response(response_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Forget the question and the answer, here and in the conversation; a run under way is cancelled first."""
    run, _ = await _found(response_id, parts, caller)
    await parts.runs.forget_run(run)
    return json_answer({"id": response_id, "object": "response", "deleted": True})


@router.get("/{response_id}/input_items")
async def list_input_items(response_id: str, parts: Parts, caller: CallerNow) -> Response:
    """The question; what was given for a response that goes on with a run is in the items that come of it."""
    run, translator = await _found(response_id, parts, caller)
    items = [question_item(run)] if translator.wanted == 1 else []
    ids = dict.fromkeys(("first_id", "last_id"), items[0]["id"] if items else "")
    return json_answer({"object": "list", "data": items, "has_more": False, **ids})


async def _following(wanted: ResponseRequest, request: Request, parts: ServiceParts, caller: Caller) -> ClientQuestion:
    """The question with what it follows."""
    asked, after_run = placed(wanted.asked, wanted.model, request, parts), None
    if wanted.previous is not None:
        after_run = (await _run_of(wanted.previous, parts, caller))[0].id
    elif asked.conversation is None and wanted.last_run is not None:  # what the client sends back names its run
        with suppress(NotFoundError):  # also where its texts are deleted: then the items are all that is known
            after_run = (await _run_of(f"resp_{wanted.last_run}", parts, caller))[0].id
    return replace(asked, after_run=after_run)


async def _going_on(given: list[GivenItem], parts: ServiceParts, caller: Caller) -> tuple[RunRecord, int]:
    """Deliver what was given, all of it or nothing; the same again changes nothing.

    Returns:
        The run, and the first chunk of the response that goes on with it.

    Raises:
        UserError: some of it was not asked for, or something else must be answered too.
        AnswerError: the answer is not possible, or no longer waited for.
        StoreUnavailableError: it could not be kept.
    """
    try:
        run = await find_run(given[0].id.rpartition(".")[0], parts, user_id=caller.user_id)
    except NotFoundError:
        raise given[0].unknown() from None
    portions = (await _caught_up(parts, run, first=1)).portions
    if (unknown := next((each for each in given if each.id not in portions.asked_in), None)) is not None:
        raise unknown.unknown()
    by_id = {each.id: each for each in given}
    waiting = {each.id for each in portions.waiting}
    if waiting & by_id.keys() and (missing := sorted(waiting - by_id.keys())):
        raise wrong(f"{', '.join(map(repr, missing))} also waits for an answer; send all answers at once", "input")
    decided = [each.delivery(portions.interrupts[each.id]) for each in by_id.values()]
    await deliver(run, decided, parts, caller)
    return run, max(map(portions.after, by_id))


async def _run_of(response_id: str, parts: ServiceParts, caller: Caller) -> tuple[RunRecord, int]:
    """The run that a response answers, and the first chunk of it there.

    Raises:
        NotFoundError: the user has none, or its texts are deleted.
    """
    name = ResponseName.read(response_id)
    run = None if name is None else await find_run(name.run_id, parts, user_id=caller.user_id)
    if name is None or run is None or run.kept != "whole":
        raise NotFoundError("There is no such run.")
    return run, name.first


async def _found(response_id: str, parts: ServiceParts, caller: Caller) -> tuple[RunRecord, ResponseTranslator]:
    """A run, and one of the responses that answer it, as far as it has come.

    Raises:
        NotFoundError: the user has no such response.
    """
    run, first = await _run_of(response_id, parts, caller)
    translator = await _caught_up(parts, run, first=first)
    if first not in translator.portions.starts:
        raise NotFoundError("There is no such run.")
    return run, translator


async def _caught_up(parts: ServiceParts, run: RunRecord, *, first: int) -> ResponseTranslator:
    """A translator that has what the log has by now."""
    translator = ResponseTranslator(run, first=first)
    async for n, chunk in logged(parts, run.id):
        translator.frames(n, chunk)
    return translator


def _stream(parts: ServiceParts, run: RunRecord, *, first: int, after: int = 0) -> Response:
    translator = ResponseTranslator(run, first=first)
    return adapted_stream(parts, run, translator, after=after, is_over=lambda: translator.is_over)


def _whole(run: RunRecord, translator: ResponseTranslator) -> Response:
    return json_answer(translator.body(is_queued=run.status == "queued"), headers={"X-Run-Id": run.id})
