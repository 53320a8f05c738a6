"""The headers by which a request to another service becomes part of the trace of a query."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

HEADERS: Final[ContextVar[Callable[[], dict[str, str]]]] = ContextVar("oracle_trace_headers", default=dict)
"""Makes the headers; what traces a query sets it for the time of the query."""


def trace_headers() -> dict[str, str]:
    """The headers that carry on the present trace: `traceparent`, and `tracestate` if there is one.

    For tools and models, to be added to the requests that they make themselves, in the task that calls them or in one
    that is started from it. Empty where traces are off, and outside of a run.
    """
    return HEADERS.get()()
