"""The key of a call: what a writing tool needs to do nothing twice.

A call whose process dies may be made once more. A tool with `takes_key` gets the same key then, as `call_key()`, and
answers for what it has done already; other writing tools are not called again, because nobody knows what they did.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class CallKey:
    """Names one call of one run.

    Args:
        run_id: the id of the run.
        call_id: the id of the call, unique in its run.
        at: when it was made for the first time.
        is_repeat: it may have been carried out before, wholly or in part.
    """

    run_id: str
    call_id: str
    at: datetime
    is_repeat: bool = False


_KEY: ContextVar[CallKey | None] = ContextVar("oracle_call_key", default=None)


def call_key() -> CallKey | None:
    """The key of the call that this task or thread works for; `None` outside of one, and in tools that take none."""
    return _KEY.get()


@contextmanager
def keyed(key: CallKey | None) -> Iterator[None]:
    """Calls in this context have the key."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)
