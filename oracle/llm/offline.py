"""The offline model, which needs no key and no network. It searches with the offered tools and quotes what they find.

Rules:

- It is a pure function of the request: the same messages and tools give the same turn.
- It says that it is not a language model, makes no statements of its own, and cites every passage.
- It searches with all offered search tools once, reads more of the best hits if they are not sufficient, then answers.
- Without search tools it emits `stuck`, once, to be offered some, unless the question is about the world outside.
- Its signals are accurate: `context_sufficient` if passages match well, `partial_answer` if they hardly match, `stuck`
  if there are none, `need_capability` for what requires a language model or the web.
"""

import re
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bt_runtime.text import CHARACTERS_PER_TOKEN
from oracle.core.chunks import SourceType
from oracle.core.control_notes import without_notes
from oracle.core.search.query import MAX_QUERY_CHARS
from oracle.llm.offline_answers import (
    OfflineAnswer,
    conversation,
    nothing_found,
    passages_found,
    saved,
    search_wanted,
    still_wanted,
    too_much,
    web_wanted,
)
from oracle.llm.offline_extracts import Passage, best_passages, read_passages
from oracle.llm.offline_terms import key_terms
from oracle.llm.protocol import (
    Message,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCallRequested,
    ToolUse,
    TurnEnded,
    Usage,
)

NAME: Final = "offline-extractive"

_SEARCHING: Mapping[str, SourceType] = {"search_code": "code", "vault_search": "vault", "thread_seek": "thread"}
_READING: Mapping[str, SourceType] = {"read_file": "code", "vault_read": "vault", "thread_read": "thread"}
_READER = {source_type: name for name, source_type in _READING.items()}
_WRITING = ("thread_push", "vault_write")
_MAX_READS = 2
_MAX_PASSAGES = 4
_ENOUGH_COVERAGE = 0.6

_POLITE = r"(?:please|pls|kindly|bitte|(?:can|could|would) (?:you|u)(?: please)?|let'?s|ok(?:ay)?|and|also)[,\s]+"
_CONTENT = re.compile(
    rf"\s*(?:{_POLITE})*(?:"
    r"(?:remember|note|record|write down|(?:make|take|add|save|create) a note|jot (?:this|it) down"
    r"|note (?:this|it) down"
    r"|save this|log (?:a |the |this )?decision|merke? dir|notiere?|retiens|noter?|anota|recuerda)"
    r"[^:\n]{0,80}?(?:\s*:\s*|[\s,]+(?:that|dass|que)\s+)"
    r")(?P<content>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_WORDS = (
    r"what|which|who|whose|when|where|why|how|is|are|does|do|did|was|find"
    r"|wer|wie|wo|wann|warum|welche[rs]?|quel(?:le)?s?|comment|pourquoi|qué|cuál|cómo|dónde"
)
_OPENING_QUOTES, _CLOSING_QUOTES = tuple("\"“«'"), tuple("\"”»'")
_ASKS = re.compile(rf"\?|\b(?:{_QUESTION_WORDS}|can|latest|difference|compare|look up|best)\b", re.IGNORECASE)
_QUESTION_FIRST = re.compile(rf"\s*(?:{_QUESTION_WORDS}|has|have|were|any|show|search|list)\b", re.IGNORECASE)
_REQUESTS = re.compile(r"\s*(?:list|show|explain|describe|find|search|zeige?|erkl\u00e4re?|liste)\s+\S", re.IGNORECASE)
_NAME = re.compile(r"[^\W_]*+_\w*|[a-z]+[A-Z]\w*|(?:[A-Z][a-z0-9]+){2,}|\w+(?:[./]\w+)+")
_WORLD = re.compile(  # names inside a sentence, years, and subjects that change from day to day
    r"(?<=[\w,] )[A-Z][a-z]{2,}\b|\b(?:19|20)\d\d\b|(?i:\b(?:weather|news|prices?|stocks?|latest|newest|today|tonight"
    r"|tomorrow|world|population|president|best practices?|wetter|nachrichten|preise?|neuesten?)\b)"
)
_FILE = re.compile(r"(?<![\w./:-])\w[\w.-]*(?:/[\w.-]+)+\.[A-Za-z]{1,5}(?![\w/])")


@dataclass(frozen=True, slots=True)
class _Tried:
    """A tool call of this query with its result."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class _Query:
    """The query as read from the messages: the question, its terms, the calls made, and the signals emitted so far."""

    question: str
    terms: tuple[str, ...]
    tried: tuple[_Tried, ...]
    was_stuck: bool
    lacked_capability: bool
    calls_before: int

    def results_of(self, name: str) -> tuple[str, ...]:
        """The texts of a tool's successful results."""
        return tuple(tried.text for tried in self.tried if tried.name == name and not tried.is_error)


class OfflineModel:
    """The offline model; it has no state."""

    @property
    def name(self) -> str:
        """`offline-extractive`."""
        return NAME

    @property
    def has_web_search(self) -> bool:
        """False."""
        return False

    async def aclose(self) -> None:
        """Do nothing; there are no connections."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Run one turn: the tool calls, or the answer line by line."""
        query = _read_query(request.messages)
        calls = () if _answers_now(request) or query.lacked_capability else _next_calls(request, query)
        if calls:
            for call in calls:
                yield ToolCallRequested(call)
            blocks = tuple(
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls
            )
            yield TurnEnded("tool_use", Usage(), blocks, NAME)
            return
        answer = _answer(request, query)
        text = answer.render(max_chars=request.max_tokens * CHARACTERS_PER_TOKEN)
        for line in text.splitlines(keepends=True):
            yield TextDelta(line)
        cut = "max_tokens" if answer.exceeds(request.max_tokens * CHARACTERS_PER_TOKEN) else "end_turn"
        yield TurnEnded(cut, Usage(), ({"type": "text", "text": text},), NAME)  # type: ignore[arg-type]  # both are reasons


def _answers_now(request: ModelRequest) -> bool:
    """Whether tool calls would not be run."""
    return request.wrap_up or request.tool_choice == "none"


def _next_calls(request: ModelRequest, query: _Query) -> tuple[ToolUse, ...]:
    """The calls to make in this turn; empty if it is to answer."""
    offered = {tool.name for tool in request.tools}
    numbers = iter(range(query.calls_before + 1, query.calls_before + 100))

    def call(name: str, **arguments: Any) -> ToolUse:  # noqa: ANN401  # what JSON is
        return ToolUse(f"offline_{next(numbers)}", name, arguments)

    content = _content_to_save(query.question)
    tried = {item.name for item in query.tried}
    if content is not None and offered & set(_WRITING):
        if tried & set(_WRITING):
            return ()
        if "thread_push" in offered:
            return (call("thread_push", thread="inbox", content=content),)
        return (call("vault_write", path=f"inbox/{_slug(content)}.md", body=content),)
    if not query.terms:
        return ()
    searches = [name for name in _SEARCHING if name in offered and name not in tried]
    if searches:
        named = _FILE.findall(query.question)[:_MAX_READS] if "read_file" in offered and not query.tried else ()
        reading = [call("read_file", path=path) for path in named]  # first, because its passages are quoted first
        return (*reading, *(call(name, query=_search_query(query)) for name in searches))
    if not tried.isdisjoint(_READING):
        return ()
    return tuple(
        call(name, **arguments) for name, arguments in _reads(query, _passages(query, _SEARCHING)) if name in offered
    )


def _search_query(query: _Query) -> str:
    """The question, or the terms if it is a follow-up."""
    is_whole = key_terms(query.question) == query.terms
    return " ".join(query.question.split() if is_whole else query.terms)[:MAX_QUERY_CHARS]


def _reads(query: _Query, passages: Sequence[Passage]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts of the best hits to read, if the passages are not sufficient."""
    best = best_passages(passages, query.terms, limit=_MAX_READS)
    if not best or _names(query.question, best[0]) or _coverage(best, query.terms) >= _ENOUGH_COVERAGE:
        return
    for passage in best:
        reader = _READER[passage.source_type]
        if reader == "thread_read":
            yield reader, {"thread": passage.path}
        elif reader == "read_file" and passage.line is not None:
            yield reader, {"path": passage.path, "start_line": max(1, passage.line - 20), "end_line": passage.line + 60}
        else:
            yield reader, {"path": passage.path}


def _answer(request: ModelRequest, query: _Query) -> OfflineAnswer:
    offered = {tool.name for tool in request.tools}
    content = _content_to_save(query.question)
    if content is not None and offered & set(_WRITING):
        done = next((item for item in query.tried if item.name in _WRITING), None)
        return saved(content, None if done is None else (done.name, done.arguments, done.text, done.is_error))
    passages = _passages(query, {**_SEARCHING, **_READING})
    best = best_passages(passages, query.terms, limit=_MAX_PASSAGES)
    if not query.terms:
        return conversation()
    if query.lacked_capability:
        return still_wanted(query.terms)
    if not request.tools and not query.tried:
        return _without_tools(request, query)
    if offered & set(_WRITING) and not _asks_for_reading(query.question):
        return too_much(best)
    if not best:
        attempted = [f"{item.name}({' '.join(query.terms)})" for item in query.tried if item.name in _SEARCHING]
        failed = [item.text for item in query.tried if item.is_error]
        return nothing_found(query.terms, attempted, failed, was_stuck=query.was_stuck)
    if _names(query.question, best[0]):  # a file or a stack trace; the other terms need not occur in it
        return passages_found(best, missing=(), coverage=_ENOUGH_COVERAGE, was_stuck=query.was_stuck)
    missing = [term for term in query.terms if not _has(best, term)]
    return passages_found(best, missing=missing, coverage=_coverage(best, query.terms), was_stuck=query.was_stuck)


def _without_tools(request: ModelRequest, query: _Query) -> OfflineAnswer:
    """The answer to what was classified as small talk or as a question about the world outside."""
    asks = _ASKS.search(query.question) is not None or _REQUESTS.match(query.question) is not None
    are_names = all(_NAME.fullmatch(term) for term in query.terms)
    if not asks and not are_names:
        return conversation()
    if query.was_stuck or _answers_now(request) or (_WORLD.search(query.question) and not are_names):
        return web_wanted(query.terms)
    return search_wanted(query.terms)


def _read_query(messages: Sequence[Message]) -> _Query:
    start = _question_at(messages)
    question = _text_of(messages[start]) if start is not None else ""
    terms = key_terms(question)
    if len(terms) < 2:
        # A follow-up such as "and the other one?" concerns the previous question.
        earlier = [message for message in messages[: start or 0] if message.get("role") == "user" and _text_of(message)]
        terms = tuple(dict.fromkeys((*terms, *(key_terms(_text_of(earlier[-1])) if earlier else ()))))
    own = messages[start + 1 :] if start is not None else ()
    said = [_text_of(message) for message in own if message.get("role") == "assistant"]
    was_stuck = any("<signal" in text for text in said)
    lacked = any('"need_capability"' in text for text in said)
    before = sum(1 for message in messages for block in _blocks(message) if block.get("type") == "tool_use")
    return _Query(question, terms, tuple(_tried(own)), was_stuck, lacked, before)


def _question_at(messages: Sequence[Message]) -> int | None:
    """The index of the user's last message, the control's notes excepted."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.get("role") != "user" or any(block.get("type") == "tool_result" for block in _blocks(message)):
            continue
        if _text_of(message).strip():
            return index
    return None


def _tried(messages: Sequence[Message]) -> Iterator[_Tried]:
    calls: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                calls[str(block.get("id"))] = block
            elif block.get("type") == "tool_result" and (call := calls.get(str(block.get("tool_use_id")))) is not None:
                arguments = call.get("input")
                yield _Tried(
                    name=str(call.get("name")),
                    arguments=arguments if isinstance(arguments, Mapping) else {},
                    text=_text_of(block),
                    is_error=bool(block.get("is_error")),
                )


def _passages(query: _Query, tools: Mapping[str, SourceType]) -> list[Passage]:
    """The passages in the results of some tools."""
    return [
        passage
        for name, source_type in tools.items()
        for text in query.results_of(name)
        for passage in read_passages(text, source_type)
    ]


def _coverage(passages: Sequence[Passage], terms: Sequence[str]) -> float:
    """The share of the terms that the passages contain together."""
    return sum(_has(passages, term) for term in terms) / len(terms) if terms else 0.0


def _names(question: str, passage: Passage) -> bool:
    """Whether the question names the passage's file, or the tree that is in it."""
    name = passage.path.rpartition("/")[2].casefold()
    words = re.escape(name)
    if name.endswith(".yaml"):
        words = rf"(?:{words}|{re.escape(name.removesuffix('.yaml'))}\s(?:sub)?tree)"
    return "." in name and re.search(rf"(?<![\w.-]){words}(?!\w)", question.casefold()) is not None


def _has(passages: Sequence[Passage], term: str) -> bool:
    return any(passage.terms((term,)) for passage in passages)


def _content_to_save(question: str) -> str | None:
    found = _CONTENT.fullmatch(question)
    if found is None or _QUESTION_FIRST.match(question):
        return None
    content = found["content"].strip()
    is_quoted = content[:1] in _OPENING_QUOTES and content[1:][-1:] in _CLOSING_QUOTES
    return (content[1:-1].strip() if is_quoted else "") or content


def _asks_for_reading(question: str) -> bool:
    return question.rstrip().endswith("?") or _QUESTION_FIRST.match(question) is not None


def _slug(content: str) -> str:
    words = re.findall(r"\w+", content.casefold())[:6]
    return "-".join(words)[:60] or "note"


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list | tuple) else ()


def _text_of(message: Mapping[str, Any]) -> str:
    """The text of a message without the control's notes."""
    content = message.get("content")
    if isinstance(content, str):
        return without_notes(content)
    texts = (str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text")
    return without_notes("\n".join(texts))
