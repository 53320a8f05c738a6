"""Fields of a question that features read, for the service's own calls and for those of other protocols."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from oracle.agent.answering import Ask
from oracle.core.errors import UserError
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.runs.storage.records import Claim
from oracle.server.api.parts import ServiceParts


async def with_fields(ask: Ask, given: Mapping[str, Any], parts: ServiceParts) -> tuple[Ask, Sequence[Claim]]:
    """The question with what features have read of the fields, and what its run claims for that.

    What `Feature.fields` names is called with the value, the user and the service's parts, and returns fields of the
    `Ask` and claims.

    Raises:
        UserError: a field is wrong, or needs a feature that the service does not have.
    """
    claims: list[Claim] = []
    readers = {name: place for each in features(parts.settings.features) for name, place in each.fields.items()}
    for name, value in given.items():
        if name not in readers:
            raise UserError(f"this service does not accept {name!r}; leave it out", loc=("body", name))
        read, further = await imported(readers[name])(value, ask.user_id, parts)
        ask = replace(ask, **read)
        claims += further
    return ask, claims
