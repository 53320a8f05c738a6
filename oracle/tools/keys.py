"""What a call of a tool has besides its arguments: its key, and the headers of the user's request.

The key is what a writing tool needs to do nothing twice. A call whose process dies may be made once more. A tool with
`takes_key` gets the same key then, as `call_key()`, and answers for what it has done already; other writing tools are
not called again, because nobody knows what they did.

A process that was only held up goes on with its call, while another one makes it once more. So the tool takes a lock
that both can see, looks for what the other may have done, and asks (`CallKey.confirm`) right before its effect whether
the run is still this process's: then one of the two finds the effect, or is not confirmed.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oracle.tools.workers import run_in_loop


async def _confirmed() -> None:
    """There is nobody to ask: the query lives in this process alone."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """Names one call of one run.

    Args:
        run_id: the id of the run.
        call_id: the id of the call, unique in its run.
        at: when it was made for the first time.
        is_repeat: it may have been carried out before, wholly or in part.
        confirm: await it right before the effect. It returns if the run is still this process's; if another one has
            taken it over, the call is cancelled. A blocking tool calls `confirm_blocking` in its place.
    """

    run_id: str
    call_id: str
    at: datetime
    is_repeat: bool = False
    confirm: Callable[[], Coroutine[Any, Any, None]] = field(default=_confirmed, compare=False, repr=False)

    def confirm_blocking(self) -> None:
        """Confirm, in the thread of a blocking tool.

        Raises:
            InternalError: the call is over.
        """
        run_in_loop(self.confirm)


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
