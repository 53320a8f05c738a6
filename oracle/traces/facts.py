"""What a trace gets of runs, turns and tool calls: plain data, of types that every room knows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RunBegin:
    """What a run begins with, as far as it is known before it is opened; a sampler sees it.

    Args:
        tree: the name of the control.
        version: of the tree; `None` for a decision tree in Python.
        model: the model that is asked.
    """

    tree: str
    version: str | None
    model: str


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    Args:
        reason: the termination reason.
        turns: finished turns.
        tokens: as the budget counts them.
        model: the model that answered last.
        error_type: the kind of failure; empty unless the reason is `error`.
        error: what failed, for operators; without secrets.
        question: the user's.
        answer: makes the text of the answer; called only where content is recorded.
    """

    reason: str
    turns: int
    tokens: int
    model: str
    error_type: str = ""
    error: str = ""
    question: str = ""
    answer: Callable[[], str] = str


@dataclass(frozen=True, slots=True)
class TurnBegin:
    """A request to the model.

    Args:
        model: the requested model.
        max_tokens: the limit on its output.
        number: of the turn in its run, from 1.
        node: the path of the node that asked for it; empty where no tree does.
        is_side: it is not part of the answer.
    """

    model: str
    max_tokens: int
    number: int
    node: str = ""
    is_side: bool = False


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended.

    Args:
        input_tokens: the whole input, cached or not; `None` if the provider has not reported it. So are the others.
        stop_reason: as the provider reports it; `None` if the turn was interrupted or failed.
        model: the model that answered; empty if unknown.
        budget_tokens: as the budget counts them.
        first_text_ms: from the request to the first visible text; `None` if there was none.
        signal: the type of the signal that counted; empty if there was none.
        is_cancelled: it was interrupted.
        error_type: the kind of failure; empty if there was none.
        error: what failed, for operators; without secrets.
        text: what the user saw of it.
        calls: the tool calls: id, name, arguments.
    """

    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int
    cache_creation_tokens: int
    stop_reason: str | None
    model: str
    budget_tokens: int
    first_text_ms: int | None = None
    signal: str = ""
    is_cancelled: bool = False
    error_type: str = ""
    error: str = ""
    request_ids: Sequence[str] = ()
    server_tools: Sequence[str] = ()
    text: str = ""
    calls: Sequence[tuple[str, str, Mapping[str, Any]]] = ()


@dataclass(frozen=True, slots=True)
class ToolBegin:
    """A tool call that begins.

    Args:
        call_id: matches it to the turn that asked for it.
        node: the path of the node that runs it; empty where no tree does.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    node: str = ""


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """How a tool call ended.

    Args:
        is_error: it failed.
        text: the result.
    """

    is_error: bool
    text: str
