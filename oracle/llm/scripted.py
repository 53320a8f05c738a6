"""A model that plays a script, for tests, scenarios and the verifier.

The turns of a scripted model, as data, and as the events that the provider's stream has for them.

The same script drives `ScriptedModel` in this process and a stand-in of the provider over the wire.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final, get_args

from bt_runtime.text.data import dataclass
from oracle.llm.blocks import without_loose_end
from oracle.llm.message_events import MessageReader
from oracle.llm.protocol import (
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    StopReason,
    TurnEnded,
    Usage,
    UsageReported,
)

Event = Mapping[str, Any]

_JSON_PIECE_CHARS: Final = 7
"""The length of the pieces of tool arguments, which may end inside a word."""

STOP_REASONS: Final = (*get_args(StopReason), "pause_turn")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call.

    Args:
        name: the tool.
        arguments: its arguments; a string is sent as it is, valid JSON or not.
        id: the provider's id; if empty, one is made from the turn and the position (`call_2_1`).
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedSearch:
    """A web search that the provider runs itself.

    Args:
        query: the search query.
        results: pairs of URL and title.
        error: the provider's error code, such as `max_uses_exceeded`; empty if the search succeeds.
    """

    query: str
    results: tuple[tuple[str, str], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One turn: thinking, searches, text, tool calls and late thinking, in this order, and how it ends.

    Args:
        text: the response; a tuple is sent piece by piece.
        thinking: thinking before the response.
        tool_calls: the tools that are called.
        searches: the searches that the provider runs.
        late_thinking: thinking at the end, as models produce that think between tools.
        usage: the usage that the provider reports; `None` if it reports none.
        stop_reason: `None` means `tool_use` if there are calls, else `end_turn`. After `pause_turn` the next turn of
            the script continues this one.
        piece_chars: the length of the pieces that `text` and `thinking` are cut into; 0 leaves them whole.
        fault: raised after everything above was sent, in place of an end.
        hang: the turn never ends, after everything above was sent; only a cancel ends it.
        delay_s: the wait before anything is sent, in seconds.
        model: the model that answers; if empty, the requested one.
    """

    text: str | tuple[str, ...] = ""
    thinking: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    searches: tuple[ScriptedSearch, ...] = ()
    late_thinking: str = ""
    usage: Usage | None = None
    stop_reason: str | None = None
    piece_chars: int = 0
    fault: ModelFault | None = None
    hang: bool = False
    delay_s: float = 0.0
    model: str = ""

    def __post_init__(self) -> None:
        if self.stop_reason is not None and self.stop_reason not in STOP_REASONS:
            raise ValueError(f"stop_reason is {self.stop_reason!r}; it must be one of {', '.join(STOP_REASONS)}")
        if self.piece_chars < 0:
            raise ValueError(f"piece_chars is {self.piece_chars!r}; it must be at least 0")

    @property
    def text_pieces(self) -> tuple[str, ...]:
        """The text in the pieces in which it is sent."""
        return _cut(self.text, self.piece_chars)

    @property
    def thinking_pieces(self) -> tuple[str, ...]:
        """The thinking in the pieces in which it is sent."""
        return _cut(self.thinking, self.piece_chars)

    @property
    def ends_as(self) -> str:
        """The stop reason, given or implied."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if self.tool_calls else "end_turn"

    def calls(self, *, number: int) -> tuple[ScriptedCall, ...]:
        """The tool calls of the script's turn `number` (from 1), each with an id."""
        return tuple(
            call if call.id else replace(call, id=f"call_{number}_{position}")
            for position, call in enumerate(self.tool_calls, start=1)
        )


def _cut(text: str | tuple[str, ...], piece_chars: int) -> tuple[str, ...]:
    pieces = (text,) if isinstance(text, str) else text
    if piece_chars:
        pieces = tuple(
            piece[start : start + piece_chars] for piece in pieces for start in range(0, len(piece), piece_chars)
        )
    return tuple(piece for piece in pieces if piece)


def content_events(turn: ScriptedTurn, *, number: int, sign: Callable[[str], str]) -> Iterator[Event]:
    """The events of a message's content blocks.

    Args:
        turn: the turn to send.
        number: the turn's position in the script, from 1; for the ids.
        sign: returns the signature of a text of thinking.
    """
    for index, (block, deltas) in enumerate(_blocks(turn, number, sign)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}


def arguments_text(arguments: Mapping[str, Any] | str) -> str:
    """The arguments of a call as they are sent: JSON, unless the script has a text."""
    return arguments if isinstance(arguments, str) else json.dumps(dict(arguments))


def _thinking_block(pieces: tuple[str, ...], sign: Callable[[str], str]) -> tuple[Event, list[Event]]:
    deltas: list[Event] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    deltas.append({"type": "signature_delta", "signature": sign("".join(pieces))})
    return {"type": "thinking", "thinking": "", "signature": ""}, deltas


def _blocks(turn: ScriptedTurn, number: int, sign: Callable[[str], str]) -> Iterator[tuple[Event, list[Event]]]:
    """The start and the deltas of each content block."""
    if turn.thinking:
        yield _thinking_block(turn.thinking_pieces, sign)
    for position, search in enumerate(turn.searches, start=1):
        search_id = f"srvtoolu_{number}_{position}"
        use = {"type": "server_tool_use", "id": search_id, "name": "web_search", "input": {}}
        yield use, _json_deltas(json.dumps({"query": search.query}))
        yield {"type": "web_search_tool_result", "tool_use_id": search_id, "content": _search_results(search)}, []
    if turn.text_pieces:
        deltas: list[Event] = [{"type": "text_delta", "text": piece} for piece in turn.text_pieces]
        cited = [pair for search in turn.searches for pair in search.results]
        deltas += [_citation(url, title) for url, title in cited]
        start: dict[str, Any] = {"type": "text", "text": ""}
        yield {**start, "citations": []} if cited else start, deltas
    for call in turn.calls(number=number):
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield block, _json_deltas(arguments_text(call.arguments))
    if turn.late_thinking:
        yield _thinking_block((turn.late_thinking,), sign)


def _search_results(search: ScriptedSearch) -> object:
    if search.error:
        return {"type": "web_search_tool_result_error", "error_code": search.error}
    return [
        {"type": "web_search_result", "url": url, "title": title, "encrypted_content": "scripted", "page_age": None}
        for url, title in search.results
    ]


def _json_deltas(text: str) -> list[Event]:
    pieces = [text[start : start + _JSON_PIECE_CHARS] for start in range(0, len(text), _JSON_PIECE_CHARS)]
    return [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *pieces)]


def _citation(url: str, title: str) -> Event:
    citation = {
        "type": "web_search_result_location",
        "url": url,
        "title": title,
        "encrypted_index": "scripted",
        "cited_text": f"From {title}",
    }
    return {"type": "citations_delta", "citation": citation}


SIGNATURE: Final = "scripted-signature"
"""The signature of the thinking of a `ScriptedModel`."""


class ScriptEndedError(ModelError):
    """More turns were requested than the script has."""


class ScriptedModel:
    """A model that answers each request with the next turn of a script.

    Args:
        turns: the script; it may be endless (`itertools.repeat`).
        name: the model's name.
        has_web_search: whether it claims to search the web itself.
        sleep: waits for a turn's `delay_s`.
    """

    def __init__(
        self,
        turns: Iterable[ScriptedTurn],
        *,
        name: str = "scripted",
        has_web_search: bool = False,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._turns: Iterator[ScriptedTurn] = iter(turns)
        self.name = name
        self.has_web_search = has_web_search
        self._sleep = sleep
        self._played = 0
        self.requests: list[ModelRequest] = []
        """The requests received, oldest first."""

    async def aclose(self) -> None:
        """Do nothing; there are no connections."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next turn.

        Raises:
            ModelError: the script contains a fault.
            ScriptEndedError: the script has no more turns.
        """
        self.requests.append(request)
        content: list[Mapping[str, Any]] = []
        while True:
            turn = self._next()
            model = turn.model or request.model or self.name
            if turn.delay_s > 0:
                await self._sleep(turn.delay_s)
            reader = MessageReader(model=model)
            for wire_event in content_events(turn, number=self._played, sign=lambda _: SIGNATURE):
                for event in reader.feed(wire_event):
                    yield event
            if turn.usage is not None:
                yield UsageReported(turn.usage)
            if turn.hang:
                await asyncio.Event().wait()
            if turn.fault is not None:
                raise ModelError(turn.fault)
            content += reader.content
            if turn.ends_as != "pause_turn":
                break
        reason: StopReason = turn.ends_as  # type: ignore[assignment]  # checked in ScriptedTurn; never `pause_turn` here
        yield TurnEnded(reason, turn.usage or Usage(), without_loose_end(content), model)

    def _next(self) -> ScriptedTurn:
        turn = next(self._turns, None)
        if turn is None:
            raise ScriptEndedError(
                ModelFault(
                    error_type="internal",
                    message=f"The script has {self._played} turns, and one more was asked for. Add a turn, "
                    "or let the last one end the run (no tool calls, no `need_turn`).",
                )
            )
        self._played += 1
        return turn
