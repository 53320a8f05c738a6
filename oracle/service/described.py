"""What `/openapi.json` says of answers that are no success, and of event streams."""

from typing import Any, get_args

from oracle.chunks import Chunk
from oracle.service.bodies import ErrorAnswer, InvalidRequest

_WORDS = {
    400: "The request cannot be read.",
    401: "There is no good bearer token.",
    403: "It comes from a page of another origin.",
    404: "There is no such thing, or it is another user's.",
    409: "The conversation is answering another query.",
    410: "Its texts have been deleted.",
    413: "The body is too large.",
    429: "Too many requests, or runs under way; `Retry-After` says when to come back.",
    500: "An internal error.",
    503: "The service is stopping, or cannot reach its store; `Retry-After` says when to come back.",
}

ANYWHERE = (400, 401, 403, 413, 429, 500, 503)
"""What any call below `/api/` may answer."""


def refusals(*further: int) -> dict[int | str, dict[str, Any]]:
    """Descriptions of the errors that any call may answer, and of these further ones."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in sorted({*ANYWHERE, *further}):
        if status == 422:
            described[422] = {"model": InvalidRequest, "description": "All that is wrong with the request."}
        else:
            described[status] = {"model": ErrorAnswer, "description": _WORDS[status]}
        if status in (429, 503):
            described[status]["headers"] = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}
        elif status == 401:
            described[401]["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "description": "Bearer"}}
    return described


def event_stream(example: str) -> dict[str, Any]:
    """The content of an answer that is a stream of chunks: the schema of one event, as OpenAPI 3.2 has it."""
    chunk = {
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"enum": [kind.type for kind in get_args(Chunk)]}},
    }
    event = {
        "type": "object",
        "required": ["id", "data"],
        "properties": {
            "id": {"type": "string", "pattern": "^[1-9][0-9]*$", "description": "1, 2, 3, … without gaps."},
            "data": {"type": "string", "contentMediaType": "application/json", "contentSchema": chunk},
        },
    }
    return {"text/event-stream": {"itemSchema": event, "example": example}}
