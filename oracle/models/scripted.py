"""A model that says what a script says: for tests, scenario files and benchmarks.

A script is a sequence of turns, and a turn is data: it can be written in YAML or JSON (`ScriptedTurn.from_dict`). The
same turns drive `ScriptedModel` and, over the wire of a real provider, `oracle.testing.StandInProvider`.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, get_args

from bt_runtime.text import did_you_mean
from oracle.chunks import ErrorType, Source
from oracle.models.blocks import without_loose_end
from oracle.models.protocol import (
    ModelError,
    ModelEvent,
    ModelFault,
    ModelRequest,
    ServerToolCalled,
    ServerToolReturned,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallRequested,
    TurnEnded,
    Usage,
    UsageReported,
)

SIGNATURE: Final = "scripted-signature"
"""The signature of scripted thinking, where none is made."""

STOP_REASONS: Final = (*get_args(StopReason), "pause_turn")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call.

    Args:
        name: the tool.
        arguments: its arguments; a text is what the model wrote in place of valid JSON.
        id: the provider's id; empty means one made from turn and position (`call_2_1`).
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedSearch:
    """A search that the provider runs itself.

    Args:
        query: what it searches for.
        results: addresses and titles.
        error: the provider's error code, such as `max_uses_exceeded`; empty if the search worked.
    """

    query: str
    results: tuple[tuple[str, str], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One turn of a script: thinking, searches, text, tool calls, late thinking, in this order, and how it ends.

    Args:
        text: what the model says; a tuple is sent piece by piece.
        thinking: what it thinks before.
        tool_calls: the tools it calls.
        searches: the searches the provider runs for it.
        late_thinking: what it thinks after all that, as models do that think between tools.
        usage: what the provider reports; `None` means that it reports nothing.
        stop_reason: `None` means `tool_use` if there are calls, else `end_turn`. After `pause_turn` the next turn of
            the script continues this one.
        piece_chars: into how long pieces `text` and `thinking` are cut; 0 leaves them whole.
        fault: raised after everything above was said, in place of an end.
        hang: never ends, after everything above was said: only a cancel gets it out.
        delay_s: waited before anything is said.
        model: the model that answers; empty means the one that was asked.
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
            raise ValueError(f"piece_chars is {self.piece_chars!r}; it must be 0 or more")

    @property
    def text_pieces(self) -> tuple[str, ...]:
        """The text as it is sent."""
        return _cut(self.text, self.piece_chars)

    @property
    def thinking_pieces(self) -> tuple[str, ...]:
        """The thinking as it is sent."""
        return _cut(self.thinking, self.piece_chars)

    @property
    def ends_as(self) -> str:
        """The stop reason, told or implied."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if self.tool_calls else "end_turn"

    def calls(self, *, number: int) -> tuple[ScriptedCall, ...]:
        """The tool calls with their ids, as those of turn `number` (from 1)."""
        return tuple(
            call if call.id else ScriptedCall(call.name, call.arguments, f"call_{number}_{position}")
            for position, call in enumerate(self.tool_calls, start=1)
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ScriptedTurn":
        """The turn that a scenario file describes; a missing field has its default.

        Raises:
            ValueError: a field is unknown or has the wrong shape; the message says which, and what would be right.
        """
        values = _checked(data, cls, "a turn")
        text = values.get("text")
        if isinstance(text, list):
            values["text"] = tuple(str(piece) for piece in text)
        elif text is not None and not isinstance(text, str):
            raise ValueError(f"text is {text!r}; it must be a text or a list of texts")
        values["tool_calls"] = tuple(
            ScriptedCall(**_checked(call, ScriptedCall, "a tool call")) for call in _list(values, "tool_calls")
        )
        values["searches"] = tuple(_search(search) for search in _list(values, "searches"))
        if values.get("usage") is not None:
            values["usage"] = Usage(**_checked(values["usage"], Usage, "usage"))
        if values.get("fault") is not None:
            values["fault"] = _fault(values["fault"])
        try:
            return cls(**values)
        except TypeError as error:
            raise ValueError(f"a turn has a field of the wrong type: {error}") from error


class ScriptEndedError(ModelError):
    """More turns were asked for than the script has."""


class ScriptedModel:
    """A model that says what `turns` say, one turn per request, whoever asks.

    Args:
        turns: the script; it may be endless (`itertools.repeat`).
        name: what it calls itself.
        has_web_search: whether it claims to search the web itself.
        sleep: how to wait for a turn's `delay_s`.
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
        self._name = name
        self._has_web_search = has_web_search
        self._sleep = sleep
        self._played = 0
        self.requests: list[ModelRequest] = []
        """The requests it got, oldest first."""

    @property
    def name(self) -> str:
        """What it calls itself."""
        return self._name

    @property
    def has_web_search(self) -> bool:
        """As the constructor was told."""
        return self._has_web_search

    async def aclose(self) -> None:
        """There is nothing to release."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Play the next turn.

        Raises:
            ModelError: the script says so.
            ScriptEndedError: it has no more turns.
        """
        self.requests.append(request)
        content: list[Mapping[str, Any]] = []
        while True:
            turn = self._next()
            if turn.delay_s > 0:
                await self._sleep(turn.delay_s)
            for event in _events(turn, self._played):
                yield event
            if turn.hang:
                await asyncio.Event().wait()
            if turn.fault is not None:
                raise ModelError(turn.fault)
            content += content_blocks(turn, number=self._played)
            if turn.ends_as != "pause_turn":
                break
        model = turn.model or request.model or self._name
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


def content_blocks(turn: ScriptedTurn, *, number: int, signature: str = SIGNATURE) -> list[Mapping[str, Any]]:
    """The turn's content blocks in the shape of the Messages API, to be sent back as they are.

    Args:
        turn: whose.
        number: its position in the script, from 1; for the ids.
        signature: of its thinking.
    """
    blocks: list[Mapping[str, Any]] = []
    if turn.thinking:
        blocks.append({"type": "thinking", "thinking": turn.thinking, "signature": signature})
    for position, search in enumerate(turn.searches, start=1):
        blocks += search_blocks(search, f"srvtoolu_{number}_{position}")
    text = "".join(turn.text_pieces)
    if text.strip():
        blocks.append({"type": "text", "text": text})
    for call in turn.calls(number=number):
        arguments, malformed = decoded_arguments(call)
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": {} if malformed else arguments})
    if turn.late_thinking:
        blocks.append({"type": "thinking", "thinking": turn.late_thinking, "signature": signature})
    return blocks


def search_blocks(search: ScriptedSearch, search_id: str) -> list[Mapping[str, Any]]:
    """The two blocks of a search of the provider's own: that it was made, and what it brought."""
    results: Any = [
        {"type": "web_search_result", "url": url, "title": title, "encrypted_content": "scripted", "page_age": None}
        for url, title in search.results
    ]
    if search.error:
        results = {"type": "web_search_tool_result_error", "error_code": search.error}
    return [
        {"type": "server_tool_use", "id": search_id, "name": "web_search", "input": {"query": search.query}},
        {"type": "web_search_tool_result", "tool_use_id": search_id, "content": results},
    ]


def decoded_arguments(call: ScriptedCall) -> tuple[Mapping[str, Any], str | None]:
    """The call's arguments, and why they are none."""
    if not isinstance(call.arguments, str):
        return call.arguments, None
    try:
        value = json.loads(call.arguments)
    except ValueError as error:
        return {}, f"the arguments are not valid JSON ({error}): {call.arguments[:200]!r}"
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, not {call.arguments[:200]!r}"
    return value, None


def _events(turn: ScriptedTurn, number: int) -> Iterator[ModelEvent]:
    for piece in turn.thinking_pieces:
        yield ThinkingDelta(piece)
    for position, search in enumerate(turn.searches, start=1):
        search_id = f"srvtoolu_{number}_{position}"
        yield ServerToolCalled(search_id, "web_search", {"query": search.query})
        yield _search_result(search, search_id)
    for piece in turn.text_pieces:
        yield TextDelta(piece)
    for call in turn.calls(number=number):
        arguments, malformed = decoded_arguments(call)
        yield ToolCallRequested(ToolCall(call.id, call.name, arguments, malformed))
    if turn.late_thinking:
        yield ThinkingDelta(turn.late_thinking)
    if turn.usage is not None:
        yield UsageReported(turn.usage)


def _search_result(search: ScriptedSearch, search_id: str) -> ServerToolReturned:
    if search.error:
        return ServerToolReturned(search_id, f"The search failed: {search.error}.", is_error=True)
    sources = tuple(Source(path=url, source_type="web", snippet=title) for url, title in search.results)
    text = "\n".join(f"{title} — {url}" for url, title in search.results) or "The search found nothing."
    return ServerToolReturned(search_id, text, is_error=False, sources=sources)


def _cut(text: str | tuple[str, ...], piece_chars: int) -> tuple[str, ...]:
    pieces = (text,) if isinstance(text, str) else text
    if piece_chars:
        pieces = tuple(
            piece[start : start + piece_chars] for piece in pieces for start in range(0, len(piece), piece_chars)
        )
    return tuple(piece for piece in pieces if piece)


def _checked(data: object, cls: type[Any], what: str) -> dict[str, Any]:
    """The fields of `data`, all of them fields of the dataclass `cls`."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{what} is {data!r}; it must be a mapping")  # noqa: TRY004  # a mistake in a file is a value's
    names = [item.name for item in fields(cls)]
    for name in data:
        if name not in names:
            hint = did_you_mean(name, names) or f"it can have {', '.join(names)}"
            raise ValueError(f"{what} has no field {name!r}; {hint}")
    return dict(data)


def _list(values: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = values.get(name) or ()
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} is {value!r}; it must be a list")  # noqa: TRY004  # a mistake in a file is a value's
    return value


def _search(data: object) -> ScriptedSearch:
    values = _checked(data, ScriptedSearch, "a search")
    pairs = _list(values, "results")
    if any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):
        raise ValueError(f"results is {pairs!r}; it must be a list of [address, title]")
    values["results"] = tuple((str(url), str(title)) for url, title in pairs)
    return ScriptedSearch(**values)


def _fault(data: object) -> ModelFault:
    values = _checked(data, ModelFault, "a fault")
    if values.get("error_type") not in get_args(ErrorType):
        known = ", ".join(get_args(ErrorType))
        raise ValueError(f"error_type is {values.get('error_type')!r}; it must be one of {known}")
    values.setdefault("message", "The script says that the provider fails here.")
    return ModelFault(**values)
