"""Headers of a user's request that tools hand on. They are kept with the query in memory, and nowhere else."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("oracle_user_headers", default=None)


def user_headers() -> Mapping[str, str] | None:
    """The headers, by names in lower case, that the call of this context may hand on; `None`: they are not known."""
    return _HEADERS.get()


@contextmanager
def handing(headers: Mapping[str, str] | None) -> Iterator[None]:
    """Calls in this context may hand on these headers."""
    token = _HEADERS.set(headers)
    try:
        yield
    finally:
        _HEADERS.reset(token)
