"""`/api/oracle/pending`, `…/deliveries` and `/api/oracle/grants`: what runs ask people, and what people answer."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Body, Query
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError
from starlette.responses import Response

from bt_runtime.text import iso
from oracle.core.chunks import Decision, Interrupt
from oracle.core.encoding import to_json
from oracle.core.errors import NotFoundError
from oracle.core.json_schemas import DEEPEST, is_deeper
from oracle.runs.storage.interrupts import Answerer, Delivery
from oracle.server.api.access import TEXT, CallerNow, Parts, ReadableRun
from oracle.server.api.bodies import Note, RequestBody, Text
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import ErrorAnswer, ReplyBody

router = APIRouter(prefix="/api/oracle", tags=["people"], route_class=DescribedRoute)

MOST_AT_ONCE: Final = 100
LARGEST_BYTES: Final = 64_000
"""Of arguments, and of an answer, as JSON."""
_MOST_BITS: Final = 63


def _as_data(value: Any) -> Any:  # noqa: ANN401  JSON data
    if is_deeper(value, DEEPEST):
        raise PydanticCustomError("too_deep", "nested more than {most} levels deep", {"most": DEEPEST})
    for each in _leaves(value):
        if isinstance(each, float) and not math.isfinite(each):
            raise PydanticCustomError("no_number", "JSON has no such number")
        if isinstance(each, int) and each.bit_length() > _MOST_BITS:  # it would be kept as another number
            raise PydanticCustomError("no_number", "a whole number may have at most {most} bits", {"most": _MOST_BITS})
        if isinstance(each, str) and ("\0" in each or any("\ud800" <= one <= "\udfff" for one in each)):
            raise PydanticCustomError("no_text", "text must not contain a NUL character or half of a surrogate pair")
    size = len(to_json(value))
    if size > LARGEST_BYTES:
        context = {"most": LARGEST_BYTES, "size": size}
        raise PydanticCustomError("too_large", "at most {most} bytes as JSON, given {size}", context)
    return value


def _leaves(value: Any) -> Iterator[Any]:  # noqa: ANN401
    if isinstance(value, Mapping):
        yield from value
        value = value.values()
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        yield value
        return
    for each in value:
        yield from _leaves(each)


class DeliveryBody(RequestBody):
    """What a person has decided."""

    id: Annotated[Text, Field(min_length=1, max_length=255, description="Of the interrupt.")]
    decision: Decision = Field(description="One of the values in the interrupt's `may`.")
    arguments: Annotated[dict[str, Any], AfterValidator(_as_data)] | None = Field(
        default=None, description="With `edit`: all arguments of the call; they replace the model's."
    )
    answer: Annotated[Any, AfterValidator(_as_data)] = Field(default=None, description="With `answer`: JSON data.")
    comment: Note | None = Field(default=None, description="A comment for the run; after a refusal the model reads it.")
    scope: Literal["once", "conversation"] = Field(
        default="once",
        alias="for",
        description="`conversation`: from now on the tool needs no approval in this conversation.",
    )


def _as_list(given: object) -> object:
    """One delivery as a list of it; a list that is too long is not looked at. `{"deliveries": […]}` is such a list."""
    if isinstance(given, dict) and given.keys() == {"deliveries"}:
        given = given["deliveries"]
    if isinstance(given, list) and len(given) > MOST_AT_ONCE:
        context = {"most": MOST_AT_ONCE, "given": len(given)}
        raise PydanticCustomError("too_many", "at most {most} answers at once, given {given}", context)
    return [given] if isinstance(given, dict) else given


def _each_once(given: list[DeliveryBody]) -> list[DeliveryBody]:
    if len({each.id for each in given}) < len(given):
        raise PydanticCustomError("repeated", "each interrupt is answered once")
    return given


Deliveries = Annotated[
    list[DeliveryBody],
    Field(min_length=1),
    BeforeValidator(_as_list, json_schema_input_type=DeliveryBody | list[DeliveryBody]),
    AfterValidator(_each_once),
    Body(),
]


class PendingInterrupt(ReplyBody):
    """Something that a run waits for a person to decide."""

    run_id: str
    user_id: str = Field(description="The user who asked the question.")
    context_id: str
    asked_at: str = Field(description="ISO 8601, UTC.")
    tree: str | None = Field(description="The tree that controls the run.")
    question: str = Field(description="The user's question, cut after 300 characters.")
    may_answer: bool = Field(description="Whether the caller may answer it.")
    interrupt: Interrupt


class PendingList(ReplyBody):
    """What waits for people, in the order in which it expires."""

    pending: list[PendingInterrupt]
    next: str | None = Field(description="The `after` of the next page; null on the last one.")


class DeliveryAnswer(ReplyBody):
    """The interrupts as they are now, in the order of the request."""

    run_id: str
    interrupts: list[Interrupt]


class GrantBody(ReplyBody):
    """A tool that needs no approval in a conversation."""

    id: str
    user_id: str = Field(description="The user whose conversation it is.")
    context_id: str
    action: str = Field(description="The tool.")
    by: str
    at: str = Field(description="ISO 8601, UTC.")


class GrantList(ReplyBody):
    """Grants, oldest first."""

    grants: list[GrantBody]


@router.get("/pending", summary="List what waits for people", response_model=PendingList, responses=refusals())
async def list_pending(
    parts: Parts,
    caller: CallerNow,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
    after: Annotated[
        str | None, Query(max_length=400, pattern=TEXT, description="`next` of the previous page.")
    ] = None,
) -> Response:
    """What the caller's runs wait for; for operators: everybody's. What expires first is first."""
    run_id, _, last_id = (after or "").partition("/")
    last = (run_id, last_id) if after else None
    found = await parts.store.interrupts.pending(user_id=caller.reads_runs_of, limit=limit, after=last)
    following = f"{found[-1].run_id}/{found[-1].id}" if len(found) == limit else None
    by = Answerer(caller.user_id, is_operator=caller.is_operator)
    return json_answer({"pending": [each.to_listed(by) for each in found], "next": following})


@router.post(
    "/runs/{run_id}/deliveries",
    summary="Answer what a run asks",
    response_model=DeliveryAnswer,
    responses={
        **refusals(404),
        403: {"model": ErrorAnswer, "description": "Another person must answer."},
        409: {
            "model": ErrorAnswer,
            "description": "It was already answered differently; the text says when and by whom.",
        },
        410: {"model": ErrorAnswer, "description": "It has expired, or the run no longer waits for it."},
    },
)
async def answer_run(run: ReadableRun, body: Deliveries, parts: Parts, caller: CallerNow) -> Response:
    """Approve, refuse, edit or answer; several at once are taken together or not at all, and the run goes on.

    One answer counts. The same one again is answered as it was the first time.
    """
    decisions = [Delivery(**each.model_dump()) for each in body]
    by = Answerer(caller.user_id, is_operator=caller.is_operator)
    kept = await parts.store.interrupts.answer(run.id, decisions, by=by)
    return json_answer({"run_id": run.id, "interrupts": [each.to_json() for each in kept]})


@router.get("/grants", summary="List what needs no approval", response_model=GrantList, responses=refusals())
async def list_grants(parts: Parts, caller: CallerNow) -> Response:
    """The tools that the caller's conversations may call without approval."""
    found = await parts.store.interrupts.grants(caller.user_id)
    return json_answer({"grants": [each | {"at": iso(each["at"])} for each in found]})


@router.delete(
    "/grants/{grant_id}",
    summary="Withdraw a grant",
    status_code=204,
    response_class=Response,
    responses=refusals(404),
)
async def revoke_grant(grant_id: str, parts: Parts, caller: CallerNow) -> Response:
    """Queries that begin later in its conversation ask again."""
    if not await parts.store.interrupts.revoke(grant_id, user_id=caller.user_id):
        raise NotFoundError("There is no such grant.")
    return Response(status_code=204)
