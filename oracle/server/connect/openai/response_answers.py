"""What the client gives for what a response has asked of it: results of its functions, decisions, answers."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from oracle.agent.client_tools import client_answer
from oracle.core.chunks import Interrupt
from oracle.core.encoding import from_json
from oracle.runs.storage.interrupts import Answerer, Delivery
from oracle.server.api.auth import Caller
from oracle.server.api.errors import InvalidRequestError
from oracle.server.api.parts import ServiceParts
from oracle.server.api.people import DeliveryBody
from oracle.server.connect.openai.response_items import Portions
from oracle.server.connect.openai.response_requests import GivenItem


async def deliver(
    given: Sequence[GivenItem], portions: Portions, *, run_id: str, parts: ServiceParts, caller: Caller
) -> int:
    """Deliver what was given, all of it or nothing; the same again changes nothing.

    Returns:
        The first chunk of the response that goes on with it.

    Raises:
        InvalidRequestError: something of it was not asked, or something else is to be answered, too.
        AnswerError: the answer is none that is possible, or is not waited for any more.
        StoreUnavailableError: it could not be kept.
    """
    by_id = {each.id: each for each in given}
    for each in given:
        if each.id not in portions.asked:
            raise each.unknown()
    waiting = {each.id for each in portions.waiting}
    if waiting & by_id.keys() and (missing := sorted(waiting - by_id.keys())):
        problem = f"{', '.join(map(repr, missing))} waits for an answer, too: give all of them at once"
        raise InvalidRequestError(problem, loc=("body", "input"))
    deliveries = [_delivery(each, portions.asked[each.id]) for each in by_id.values()]
    by = Answerer(caller.user_id, is_operator=caller.is_operator)
    await parts.store.interrupts.answer(run_id, deliveries, by=by)
    return max(map(portions.after, by_id))


def _delivery(given: GivenItem, asked: Interrupt) -> Delivery:
    fields: dict[str, Any] = {"decision": "approve" if given.approves else "refuse", "comment": given.reason}
    if given.output is not None:
        fields = {"decision": "answer", "answer": client_answer(given.output)}
    elif given.approves and "answer" in asked.may:
        fields = {"decision": "answer", "answer": _answer(given.reason or "", asked)}
    try:
        return Delivery(**DeliveryBody(id=given.id, **fields).model_dump())
    except ValidationError as error:
        raise InvalidRequestError(error.errors()[0]["msg"], loc=given.place) from None


def _answer(text: str, asked: Interrupt) -> Any:  # noqa: ANN401  JSON data
    """The answer to a question: a text, or JSON where its schema wants something else."""
    try:
        return text if asked.response_schema.get("type", "string") == "string" else from_json(text)
    except ValueError:
        return text
