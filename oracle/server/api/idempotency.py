"""`Idempotency-Key`: a request that is sent again attaches to the first's run (`oracle.runs.storage.request_keys`).

Rules:

- The key is the client's, opaque, and its user's alone.
- Two requests are the same if they ask the same: what is left out and what is given as `null` are, and so are the two
  spellings of a limit. Whether the answer is read as a stream or whole does not matter; whether it is read at all does:
  a run that needs no reader is another one.
"""

import hashlib
from typing import Annotated

from fastapi import Header
from starlette.requests import Request

from oracle.core.encoding import to_json
from oracle.core.errors import UserError
from oracle.runs.storage.request_keys import RequestKey
from oracle.server.api.bodies import QueryRequest

HEADER = "Idempotency-Key"
LONGEST_KEY = 200

KeyHeader = Annotated[
    str | None,
    Header(
        alias=HEADER,
        description="A name of this request, so that it can be sent again; kept for 24 hours.",
        json_schema_extra={"minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"},
    ),
]
"""The header as `/openapi.json` describes it; `key_of` reads and checks it."""


def key_of(request: Request, user_id: str, body: QueryRequest, *, is_detached: bool = False) -> RequestKey | None:
    """The idempotency key of a request; `None` if it has none.

    Args:
        request: the request that may have the header.
        user_id: its user; keys of different users never meet.
        body: the question; one key belongs to one body.
        is_detached: its run needs no reader.

    Raises:
        UserError: the header is not a valid key.
    """
    given = request.headers.getlist(HEADER)
    if not given:
        return None
    key = given[0]
    if len(given) > 1 or not 1 <= len(key) <= LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise UserError(
            f"an {HEADER} is one header of 1-{LONGEST_KEY} printable ASCII characters that differs for each request, "
            "such as a UUID",
            loc=("header", HEADER),
            value=", ".join(given),
        )
    asked = body.model_dump(exclude={"limits"}) | {"limits": body.limits.given}
    return RequestKey(_digest([user_id, key]), _digest(asked | {"detached": True} if is_detached else asked))


def _digest(value: object) -> str:
    return hashlib.sha256(to_json(value)).hexdigest()
