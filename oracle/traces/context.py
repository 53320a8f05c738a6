"""W3C Trace Context: what a request says of the trace that it belongs to, and what requests of ours say.

Rules (https://www.w3.org/TR/trace-context/, sections 3 and 4):

- What a client sends is not trusted: a `traceparent` that is not exactly what the specification allows is ignored, and
  the `tracestate` beside it, too. An invalid `tracestate` alone is dropped.
- The headers of the span that is under way are those of the current task; tasks and threads that are started from it
  inherit them (`contextvars`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final, Self

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"

LONGEST_TRACEPARENT: Final = 256
"""Characters. Version 00 has 55; a later version may have more behind these, which is ignored."""
LONGEST_TRACESTATE: Final = 512
"""Characters, the least that a vendor must pass on; a longer one is dropped as a whole."""
MOST_MEMBERS: Final = 32
"""Of a `tracestate`, as the specification says."""

_SAMPLED: Final = 1
_KNOWN_FLAGS: Final = 3
_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
_KEY: Final = r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
_MEMBER: Final = re.compile(_KEY + r"=[ -+\--<>-~]{0,255}[!-+\--<>-~]", re.ASCII)
_NONE: Final[Mapping[str, str]] = {}

_current: ContextVar[Mapping[str, str]] = ContextVar("oracle_trace_headers", default=_NONE)


@dataclass(frozen=True, slots=True)
class TraceContext:
    """A place in a trace.

    Args:
        trace_id: 32 hexadecimal digits in lower case, not all zero.
        span_id: 16 hexadecimal digits in lower case, not all zero.
        flags: bit 0: the sender records the trace; bit 1: the trace id is random.
        state: a valid `tracestate`; empty if there is none.
    """

    trace_id: str
    span_id: str
    flags: int
    state: str = ""

    @classmethod
    def parse(cls, parents: Sequence[str], states: Sequence[str] = ()) -> Self | None:
        """Read the headers of a request.

        Args:
            parents: the values of all `traceparent` headers.
            states: the values of all `tracestate` headers.

        Returns:
            `None` if there is not exactly one valid `traceparent`.
        """
        if len(parents) != 1 or len(parents[0]) > LONGEST_TRACEPARENT:
            return None
        match = _PARENT.fullmatch(parents[0].strip(" \t"))
        if match is None:
            return None
        version, trace_id, span_id, flags, more = match.groups()
        if version == "ff" or (version == "00" and more) or not (int(trace_id, 16) and int(span_id, 16)):
            return None
        return cls(trace_id, span_id, int(flags, 16) & _KNOWN_FLAGS, _valid_state(states))

    @property
    def is_sampled(self) -> bool:
        """Whether the sender records the trace."""
        return bool(self.flags & _SAMPLED)

    @property
    def traceparent(self) -> str:
        """The header, in version 00."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags:02x}"

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of a request that is made at this place."""
        state = {TRACESTATE: self.state} if self.state else {}
        return {TRACEPARENT: self.traceparent, **state}


def trace_headers() -> dict[str, str]:
    """The headers that carry on the present trace: `traceparent`, and `tracestate` if there is one.

    For tools and models, to be added to the requests that they make themselves, in the task that calls them or in one
    that is started from it. Empty where traces are off, and outside of a run.
    """
    return dict(_current.get())


@contextmanager
def carrying(headers: Mapping[str, str]) -> Iterator[None]:
    """`trace_headers` returns these within the block."""
    token = _current.set(headers)
    try:
        yield
    finally:
        _current.reset(token)


def _valid_state(states: Sequence[str]) -> str:
    """The members of all `tracestate` headers, joined; empty if they are not valid."""
    if sum(map(len, states)) + len(states) > LONGEST_TRACESTATE:
        return ""
    members = [member for state in states for part in state.split(",") if (member := part.strip(" \t"))]
    if len(members) > MOST_MEMBERS or not all(map(_MEMBER.fullmatch, members)):
        return ""
    keys = [member.partition("=")[0] for member in members]
    return ",".join(members) if len(set(keys)) == len(keys) else ""
