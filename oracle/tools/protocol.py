"""What a tool is, what it returns, and how the agent calls one."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oracle.chunks import Source

ToolGroup = Literal["code", "vault", "thread", "web"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call brought.

    Args:
        text: for the model and the user, bounded.
        is_error: the call failed; the text says why and what would be right.
        sources: what the text rests on.
        is_empty: the call worked but found nothing.
    """

    text: str
    is_error: bool = False
    sources: tuple[Source, ...] = ()
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Args:
        name: as the model calls it.
        description: for the model: what it does, what it returns.
        when_to_use: one sentence for the prompt's tool reference.
        input_schema: JSON Schema of its arguments, derived from the function's signature.
        call: runs it with checked arguments.
        group: which root it works on.
        writes: it changes something; only queries of type action get it.
        timeout_s: after that long the call is an error.
        is_server_side: the provider runs it within the turn; it is offered through the request, never called here.
    """

    name: str
    description: str
    when_to_use: str
    input_schema: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], Awaitable[ToolResult]]
    group: ToolGroup
    writes: bool = False
    timeout_s: float = 30.0
    is_server_side: bool = False
