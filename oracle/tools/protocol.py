"""The types of a tool and its result."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oracle.chunks import Source

ToolGroup = Literal["code", "vault", "thread", "web"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call.

    Args:
        text: for the model and the user, of bounded length.
        is_error: the call failed; the text says why and what would be correct.
        sources: the sources of the text.
        is_empty: the call succeeded but found nothing.
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
        description: for the model: what it does and returns.
        when_to_use: one sentence for the prompt's tool reference.
        input_schema: JSON Schema of its arguments.
        call: validates the arguments and runs the tool.
        group: what it works on.
        writes: it changes data; offered only to queries of type action.
        timeout_s: time limit of a call in seconds.
        is_server_side: the provider runs it within the turn; it is part of the request and never called here.
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
