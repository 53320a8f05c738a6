"""JSON answers as they go out: encoded once, scrubbed of what is not Unicode."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from oracle.core.encoding import to_json


def json_answer(
    value: Any,  # noqa: ANN401  JSON data
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """`value` as a JSON answer that no cache keeps."""
    return raw_json(to_json(value), status=status, headers=headers)


def raw_json(data: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON text as an answer that no cache keeps."""
    return Response(
        data,
        status_code=status,
        media_type="application/json",
        headers={"Cache-Control": "no-store", **(headers or {})},
    )
