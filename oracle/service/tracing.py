"""`traceparent` and `tracestate` of a request (W3C Trace Context): the trace that its run is to be part of.

An invalid one is ignored, as the specification says; so the request is answered as if it had none.
"""

from typing import Annotated

from fastapi import Header
from starlette.requests import Request

from oracle.traces import SpanContext, place_of

TraceparentHeader = Annotated[
    str | None,
    Header(
        alias="traceparent",
        description="The trace that the run is to be part of (W3C Trace Context), where traces are on; an invalid one "
        "is ignored.",
    ),
]
TracestateHeader = Annotated[
    str | None, Header(alias="tracestate", description="Passed on beside `traceparent`; an invalid one is ignored.")
]
"""The headers as `/openapi.json` describes them; `trace_of` reads and checks them."""


def trace_of(request: Request) -> SpanContext | None:
    """The place in a trace that a request comes from; `None` if it says none, or nothing valid."""
    headers = request.headers
    return place_of(headers.getlist("traceparent"), headers.getlist("tracestate"))
