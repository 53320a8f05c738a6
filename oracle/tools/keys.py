"""The context of a tool call besides its arguments: its key, the headers of the user's request, and its query.

With the key, a writing tool can avoid doing anything twice. A call whose process dies may be made once more. A tool
with `takes_key` gets the same key then, as `call_key()`, and must detect what it has already done; other writing tools
are not called again, because it is unknown what they did.

A process that was only delayed continues its call while another one repeats it. So the tool takes a lock
that both share, checks whether the other has had the effect, and right before its own effect calls `CallKey.confirm`,
which checks that this process still has the run. Then one of the two finds the effect, or is not confirmed.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from datetime import datetime
from typing import Any, Final

from bt_runtime.text.data import dataclass
from oracle.core.errors import InternalError

_LOOK_S: Final = 0.05
"""How often a thread that waits for the event loop checks whether its call is over."""
_OVER: Final = "the call that this thread works for is over"

_Caller = tuple[threading.Event, asyncio.AbstractEventLoop]  # set when the call is over; where it came from
CALLER: Final[ContextVar[_Caller | None]] = ContextVar("tool_caller", default=None)
"""Of the call that a thread works for; `oracle.tools.workers` sets it."""


def check_cancelled() -> None:
    """End abandoned work; blocking tools call this in long loops and before irrevocable steps.

    Raises:
        InternalError: the call was cancelled or timed out.
    """
    caller = CALLER.get()
    if caller is not None and caller[0].is_set():
        raise InternalError(_OVER)


async def _confirmed() -> None:
    """Return at once: only this process has the query."""


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
            InternalError: the call was cancelled or timed out; so is the confirmation.
            RuntimeError: this is no thread of a tool call.
        """
        caller = CALLER.get()
        if caller is None:
            raise RuntimeError("no event loop has called this thread; await the coroutine instead")
        future = asyncio.run_coroutine_threadsafe(self.confirm(), caller[1])
        try:
            while not wait((future,), _LOOK_S).done:
                check_cancelled()
            if future.cancelled():
                raise InternalError(_OVER)
            future.result()
        finally:
            future.cancel()


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


_QUERY: ContextVar[list[Any] | None] = ContextVar("oracle_query", default=None)
"""A list of one, emptied when the call is over: a timer that it has left keeps the context, and no run with it."""


def calling_query() -> Any:  # noqa: ANN401  tools know nothing of the agent
    """The `AgentRun` that the call of this context works for, for tools of features; `None` outside of one."""
    held = _QUERY.get()
    return held[0] if held else None


@contextmanager
def handing(headers: Mapping[str, str] | None, query: object = None) -> Iterator[None]:
    """Calls in this context work for this query, and may hand on these headers."""
    held = [query]
    token, of_query = _HEADERS.set(headers), _QUERY.set(held)
    try:
        yield
    finally:
        _HEADERS.reset(token)
        _QUERY.reset(of_query)
        held.clear()
