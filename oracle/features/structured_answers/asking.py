"""Reads the requested form of an answer, as in OpenAI's two protocols and in our own field."""

from collections.abc import Mapping, Sequence
from typing import Any

from oracle.core.errors import UserError
from oracle.core.json_schemas import checked_schema, misfits
from oracle.runs.storage.records import Claim
from oracle.server.api.parts import ServiceParts

_LOC = ("body", "response_format")


async def read(
    given: Mapping[str, Any], _user_id: str, parts: ServiceParts
) -> tuple[Mapping[str, Any], Sequence[Claim]]:
    """The schema of the answer as the `Ask` of the question has it; it is checked, and what it may cost is bounded.

    Args:
        given: `{type: json_schema, schema}`, with the schema also in `json_schema` as chat completions have it;
            `{type: json_object}` for any object; `{type: text}` for no form.
        parts: of the service.

    Raises:
        UserError: it has another form, the schema is wrong, or the embedded model would have to answer.
    """
    match given:
        case {"type": "text"}:
            return {}, ()
        case {"type": "json_object"}:
            schema: Any = {"type": "object"}
        case {"type": "json_schema", "json_schema": {"schema": schema}} | {"type": "json_schema", "schema": schema}:
            pass
        case _:
            raise UserError('a form is {"type": "json_schema", "schema": {...}} or {"type": "json_object"}', loc=_LOC)
    if not parts.provider_answers:
        raise UserError("the embedded model only quotes; answers by a schema need a language model", loc=_LOC)
    try:
        schema = checked_schema(schema)
        misfits(schema, None)  # report a schema that cannot be compiled now, not after paid turns
    except ValueError as error:
        raise UserError(f"the answer cannot have this form: {error}", loc=_LOC) from None
    return {"output_schema": schema}, ()
