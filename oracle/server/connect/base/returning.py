"""A client that comes back: to the latest run of its conversation, and with what was decided."""

from collections.abc import Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from oracle.agent.client_tools import client_answer
from oracle.core.encoding import to_json
from oracle.runs.storage.interrupts import Answerer, Delivery
from oracle.runs.storage.records import RunRecord
from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.api.people import DeliveryBody
from oracle.server.connect.base.chain import ClientQuestion, chain_of


async def latest_run(conversation: str, parts: ServiceParts, caller: Caller, *, protocol: str) -> RunRecord | None:
    """The last run of the caller's conversation of this name; `None`: there is none."""
    named = chain_of(ClientQuestion("", conversation=conversation), user_id=caller.user_id, protocol=protocol)
    latest = (await parts.store.client_runs.known(named.key, ())).latest
    return None if latest is None else await parts.store.runs.find(latest.run_id, user_id=caller.user_id)


def delivery(interrupt_id: str, *, place: Sequence[str | int] = (), **said: Any) -> Delivery:  # noqa: ANN401  JSON data
    """What a client has decided, as the service's own call checks it.

    Args:
        interrupt_id: the id of the approval or question.
        place: what is wrong of the request where that is; empty: the field.
        said: the fields of `DeliveryBody`.

    Raises:
        RequestValidationError: it is too large, or no data.
    """
    try:
        return Delivery(**DeliveryBody(id=interrupt_id, **said).model_dump())
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        raise RequestValidationError([{**each, "loc": place or each["loc"]} for each in mistakes]) from None


def result_of_call(output: Any, *, is_error: bool = False) -> dict[str, Any]:  # noqa: ANN401  JSON data
    """What a tool of the client has returned, as a decision: data are JSON text."""
    text = output if isinstance(output, str) else to_json(output).decode()
    return {"decision": "answer", "answer": client_answer(text, is_error=is_error)}


async def deliver(run: RunRecord, decided: Sequence[Delivery], parts: ServiceParts, caller: Caller) -> None:
    """Keep what was decided, all of it or nothing, and have the run go on.

    Raises:
        AnswerError: one decision is refused.
        StoreUnavailableError: nothing can be written at present.
    """
    if decided:
        by = Answerer(caller.user_id, is_operator=caller.is_operator)
        await parts.store.interrupts.answer(run.id, decided, by=by)
