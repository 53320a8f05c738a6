"""The offline model, which answers with extracts of what the tools find.

Search results for the offline model: passages parsed from a tool's result, chosen, and quoted.

The search tools write text for a model: a hit begins with `path:line (score 3.20)` or `path — title (score 1.10)`, and
the lines of the file follow with their numbers (`> 12 | text`). Notes in square brackets and other text are skipped.

The offline model, which needs no key and no network. It searches with the offered tools and quotes what they find.

Rules:

- It is a pure function of the request: the same messages and tools give the same turn.
- It says that it is not a language model, makes no statements of its own, and cites every passage.
- It searches with the tools that it is to look with first, with the other ones if those find too little, then answers.
- Without search tools it emits `stuck`, once, to be offered some, unless the question is about the world outside.
- What the user asks it to remember it saves word for word; it writes nothing else.
- Its signals are accurate: `context_sufficient` if the passages match, `partial_answer` if they hardly do, `stuck` if
  there are none, `need_capability` for what requires a language model or the web.
"""

import json
import re
import textwrap
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape

from bt_runtime.text import CHARACTERS_PER_TOKEN
from bt_runtime.text.data import dataclass
from oracle.core.chunks import SourceType
from oracle.core.search.query import MAX_QUERY_CHARS, STOP_WORDS, fold, keys, stem, tokens
from oracle.llm.protocol import (
    CONTINUE,
    Message,
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCallRequested,
    ToolUse,
    TurnEnded,
    Usage,
)

_MAX_TERMS = 12
_MAX_PASSAGES = 4
_MAX_LINE_CHARS = 240
_NUMBERED = re.compile(r"[> ] *\d{1,9} \| ?(?P<text>.*)")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a file, a note or a thread.

    Args:
        place: `path:line`, or the path alone.
        source_type: what the tool that found it searches.
        text: its lines, without their numbers.
    """

    place: str
    source_type: SourceType
    text: str


def key_terms(question: str) -> tuple[str, ...]:
    """The significant words of a question as written, each once."""
    words: dict[str, str] = {}
    for word in tokens(question):
        if (len(word) > 1 or not word.isascii()) and fold(word) not in STOP_WORDS:
            words.setdefault(fold(word), word)
    return tuple(words.values())[:_MAX_TERMS]


def matching(passages: Iterable[Passage], terms: Sequence[str]) -> tuple[str, ...]:
    """The terms that occur in the passages or their paths, in any form and as a part of an identifier."""
    there = {part for passage in passages for part in _stems(f"{passage.place}\n{passage.text}")}
    return tuple(term for term in terms if there.issuperset(_stems(term)))


def read_passages(result: str, source_type: SourceType) -> list[Passage]:
    """The passages in a tool's result, in its order; empty if the text has another format."""
    found: list[tuple[str, list[str]]] = []
    for line in result.split("\n"):
        heading, is_hit, _ = line.rpartition(" (score ")
        if is_hit and line[0] not in " >[|" and line.endswith(")"):
            found.append((heading.partition(" — ")[0], []))
        elif found and not line.startswith("["):
            numbered = _NUMBERED.fullmatch(line)
            found[-1][1].append(numbered["text"] if numbered else line.strip())
    texts = ((place, textwrap.dedent("\n".join(lines)).strip("\n")) for place, lines in found)
    return [Passage(place, source_type, text) for place, text in texts if text.strip()]


def best_passages(searches: Iterable[Sequence[Passage]], terms: Sequence[str]) -> list[Passage]:
    """The passages to quote: of the search that has matched most terms, then of those that have at least half as many.

    Args:
        searches: the passages of each tool, in its order, which stays: a search knows how rare each word is.
        terms: the question's.
    """
    counted = [(len(matching(found[:_MAX_PASSAGES], terms)), found) for found in searches if found]
    counted.sort(key=lambda search: -search[0])
    return [passage for count, found in counted if 2 * count >= counted[0][0] for passage in found][:_MAX_PASSAGES]


def quotation(passage: Passage, *, max_chars: int) -> str:
    """The passage below its place, in a fence that nothing in it can close."""
    body: list[str] = []
    for line in passage.text.split("\n"):
        max_chars -= len(line) + 1
        if body and max_chars < 0:
            body.append("…")
            break
        body.append(line[:_MAX_LINE_CHARS] + ("…" if len(line) > _MAX_LINE_CHARS else ""))
    longest = max(map(len, _BACKTICKS.findall("\n".join(body))), default=0)
    fence = "`" * max(3, longest + 1)
    extension = re.search(r"\.([a-z]{1,10})(?::\d+)?$", passage.place)
    place = passage.place.replace("`", "")
    return "\n".join([f"**`{place}`**", fence + (extension[1] if extension else "text"), *body, fence])


def _stems(text: str) -> set[str]:
    return {stem(key) for token in tokens(text) for key in keys(token)}


NAME: Final = "offline-extractive"

_SELF = "I am the offline model: not a language model, but a search that quotes what it finds."
_HOW_TO = "With `ANTHROPIC_API_KEY` set, a language model answers in my place."
_MEANS = "the searches of a project's code, of notes and of threads"
_SEARCHING: Mapping[str, SourceType] = {"search_code": "code", "vault_search": "vault", "thread_seek": "thread"}
_SAVING = "thread_push"
_INBOX = "inbox"
_MOST_MISSING = 0.5
"""The greatest share of a question's words that may be missing in what was found."""
_MAX_QUOTED_CHARS = 4800
_MAX_PASSAGE_CHARS = 1600

_TO_REMEMBER = re.compile(
    r"\s*(?:please\s+)?(?:remember|note|record|save)\b[^:\n]{0,80}?(?:\s*:\s*|\s+that\s+)(?P<content>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION = re.compile(
    r"\s*(?:what|which|who|when|where|why|how|is|are|do|does|did|can|find|list|show|search|explain|describe)\b|.*\?",
    re.IGNORECASE | re.DOTALL,
)
_WORLD = re.compile(r"(?<=[\w,] )[A-Z][a-z]{2,}\b|\b(?i:weather|news|prices?|latest|today|tomorrow|world)\b")


@dataclass(frozen=True, slots=True)
class _Query:
    """The query as read from the messages.

    Args:
        question: the user's last message.
        terms: its significant words.
        results: the tools called for it, with the text of the result and whether that is an error.
        answers: what this model has answered in earlier turns of the query.
        attached: the names of the files beside the question.
        calls_before: the number of tool calls in the conversation.
    """

    question: str
    terms: tuple[str, ...]
    results: Mapping[str, tuple[str, bool]]
    answers: str
    attached: str
    calls_before: int


@dataclass(frozen=True, slots=True)
class _Answer:
    opening: str
    signal: str
    passages: Sequence[Passage] = ()
    closing: str = ""

    def render(self, *, max_chars: int, is_first: bool) -> str:
        """The text with the signal at its end, the passages cut to fit; the first of a query says whose it is."""
        opening = f"{_SELF} {self.opening}" if is_first else self.opening
        rest = [part for part in (self.closing, self.signal) if part]
        room = min(_MAX_QUOTED_CHARS, max_chars - sum(len(part) + 2 for part in (opening, *rest)))
        quoted: list[str] = []
        for passage in self.passages:
            if room < _MAX_PASSAGE_CHARS / 10:
                break
            quoted.append(quotation(passage, max_chars=min(_MAX_PASSAGE_CHARS, room - 80)))
            room -= len(quoted[-1]) + 2
        return "\n\n".join([opening, *quoted, *rest])


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
        chosen = _respond(request, query)
        if isinstance(chosen, _Answer):
            max_chars = request.max_tokens * CHARACTERS_PER_TOKEN
            text = chosen.render(max_chars=max_chars, is_first=not query.answers)
            if query.attached and not query.answers:
                text = f"I cannot see what is attached ({query.attached}): I only search texts. {_HOW_TO}\n\n{text}"
            for line in text[:max_chars].splitlines(keepends=True):
                yield TextDelta(line)
            content = ({"type": "text", "text": text[:max_chars]},)
            yield TurnEnded("end_turn" if len(text) <= max_chars else "max_tokens", Usage(), content, NAME)
            return
        calls = [
            ToolUse(f"offline_{number}", name, arguments)
            for number, (name, arguments) in enumerate(chosen.items(), start=query.calls_before + 1)
        ]
        for call in calls:
            yield ToolCallRequested(call)
        blocks = tuple(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in calls
        )
        yield TurnEnded("tool_use", Usage(), blocks, NAME)


def _respond(request: ModelRequest, query: _Query) -> _Answer | Mapping[str, Mapping[str, Any]]:
    """The answer, or the tools to call first with their arguments."""
    offered = {tool.name for tool in request.tools}
    calls_are_run = not request.wrap_up and request.tool_choice != "none"
    noted = _TO_REMEMBER.fullmatch(query.question)
    if noted and _SAVING in offered:
        content = noted["content"].strip()
        if calls_are_run and _SAVING not in query.results:
            return {_SAVING: {"thread": _INBOX, "content": content}}
        return _saved(content, query.results.get(_SAVING, ("no tool could be called any more", True)))
    is_question = _QUESTION.match(query.question) is not None
    if not query.terms or not (offered or query.answers or is_question):
        opening = f"I cannot hold a conversation, and I call only {_MEANS}: "
        opening += f"ask with words that are likely to occur there. {_HOW_TO}"
        return _Answer(opening, _signal("context_sufficient", 0.9, sources_found=0, source_types=[]))
    if _SAVING in request.look_first and not is_question:
        why = 'I save what I am told ("remember that …"), but I cannot write or change anything else.'
        return _beyond("a language model", f"{why} {_HOW_TO}")
    was_beyond = '"need_capability"' in query.answers
    if was_beyond or (not offered and (query.answers or _WORLD.search(query.question))):
        also = "The tools that are offered now do not help either."
        return _beyond(
            "web_search", also if was_beyond else f"I search the project and the notes, not the web. {_HOW_TO}"
        )
    if not offered and not query.results:
        stuck = _signal("stuck", 0.8, attempted=["answering without a search"], blocker="no search was offered")
        return _Answer("I was offered no search for this question, so I ask for one.", stuck)
    return _search(query, first=request.look_first, offered=offered if calls_are_run else ())


def _search(
    query: _Query, *, first: Collection[str], offered: Collection[str]
) -> _Answer | Mapping[str, Mapping[str, Any]]:
    """The searches to make next, or the answer if enough was found or none is left."""
    searches = {name: query.results[name] for name in _SEARCHING if name in query.results}
    found = [read_passages(text, _SEARCHING[name]) for name, (text, _) in searches.items()]
    passages = best_passages(found, query.terms)
    present = matching(passages, query.terms)
    missing = [term for term in query.terms if term not in present]
    is_enough = len(missing) <= len(query.terms) * _MOST_MISSING
    left = [name for name in _SEARCHING if name in offered and name not in searches]
    chosen = [name for name in left if name in first] or ([] if is_enough else left)
    if chosen:
        return {name: {"query": " ".join(query.question.split())[:MAX_QUERY_CHARS]} for name in chosen}
    return _found(passages, missing, is_enough=is_enough) if passages else _nothing_found(query, searches)


def _saved(content: str, result: tuple[str, bool]) -> _Answer:
    text, is_error = result
    if is_error:
        unsaved = _signal("partial_answer", 0.7, missing="the note was not saved", caveat=_one_line(text))
        return _Answer(f"I could not save that: {_one_line(text)}", unsaved)
    return _Answer(
        f"I have saved this in the thread `{_INBOX}`, word for word.",
        _signal("context_sufficient", 0.9, sources_found=1, source_types=["thread"]),
        [Passage(_INBOX, "thread", content)],
    )


def _beyond(capability: str, why: str) -> _Answer:
    """The answer to what a search cannot do."""
    return _Answer(why, _signal("need_capability", 0.9, capability=capability, reason=why))


def _found(passages: Sequence[Passage], missing: Sequence[str], *, is_enough: bool) -> _Answer:
    if is_enough:
        types = sorted({passage.source_type for passage in passages})
        signal = _signal("context_sufficient", 0.7, sources_found=len(passages), source_types=types)
    else:
        signal = _signal("partial_answer", 0.4, missing=", ".join(missing), caveat="weak matches only")
    further = f"; {len(passages) - 1} more below it" if len(passages) > 1 else ""
    closing = f"None of these passages mentions: {', '.join(missing)}." if missing else ""
    return _Answer(f"Best match: `{passages[0].place.replace('`', '')}`{further}.", signal, passages, closing)


def _nothing_found(query: _Query, searches: Mapping[str, tuple[str, bool]]) -> _Answer:
    """The answer without passages: `stuck`, so that other tools are offered, and after that the end."""
    words = ", ".join(query.terms)
    failed = "".join(f" A search failed: {_one_line(text)}" for text, is_error in searches.values() if is_error)
    opening = (
        f"I found nothing about {words}.{failed}"
        if searches
        else f"I could not search for {words}: I call only {_MEANS}."
    )
    closing = f"Other words may help, such as names from the code. {_HOW_TO}" if searches else _HOW_TO
    signal = _signal("partial_answer", 0.6, missing=f"anything about {words}")
    if searches and not query.answers:
        attempted = [f"{name}({words})" for name in searches]
        signal = _signal("stuck", 0.8, attempted=attempted, blocker=f"nothing matches {words}")
    return _Answer(opening, signal, closing=closing)


def _one_line(text: str) -> str:
    """A tool's error on one line and without markup."""
    return " ".join(text.replace("<", "(").replace("`", "'").split())[:200]


def _signal(kind: str, confidence: float, **fields: object) -> str:
    """The XML of a signal; lists are JSON."""
    body = [f"  <confidence>{confidence}</confidence>"]
    for name, value in fields.items():
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
        body.append(f"  <{name}>{escape(text)}</{name}>")
    return "\n".join([f'<signal type="{kind}">', *body, "</signal>"])


def _read_query(messages: Sequence[Message]) -> _Query:
    start = max((at for at, message in enumerate(messages) if _is_question(message)), default=-1)
    question = _text_of(messages[start]) if start >= 0 else ""
    names, results, answers = {}, {}, []
    for message in messages[start + 1 :]:
        if message.get("role") == "assistant":
            answers.append(_text_of(message))
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                names[block.get("id")] = str(block.get("name"))
            elif block.get("type") == "tool_result" and (name := names.get(block.get("tool_use_id"))) is not None:
                results[name] = (_text_of(block), bool(block.get("is_error")))
    calls_before = sum(block.get("type") == "tool_use" for message in messages for block in _blocks(message))
    blocks = _blocks(messages[start]) if start >= 0 else ()
    attached = ", ".join(str(each["name"]) for each in blocks if each.get("type") == "attachment")
    return _Query(question, key_terms(question), results, "\n".join(answers).strip(), attached, calls_before)


def _is_question(message: Message) -> bool:
    """Whether the user has written it; results of tools and requests to continue are the control's."""
    is_result = any(block.get("type") == "tool_result" for block in _blocks(message))
    return message.get("role") == "user" and not is_result and _text_of(message).strip() not in ("", CONTINUE)


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list | tuple) else ()


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in _blocks(message) if block.get("type") == "text")
