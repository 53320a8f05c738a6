"""Passages in tool results: parsed from their text, ranked by the terms of a question, rendered as quotations.

The tools write text for a model: a hit begins with `path:line (score 3.20)` or `path — title (score 1.10)`, a line of a
file with its number (`> 12 | text`), a page of a file with `path, lines 3-9 of 236`. Other text is skipped.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from oracle.core.chunks import SourceType
from oracle.llm.offline_terms import matched

MAX_LINE_CHARS = 240
_MAX_PAGE_LINES = 16
_MAX_PER_FILE = 2
_MAX_HEADING_CHARS = 1000
_WORTH_QUOTING = 0.45
"""The least share of the best passage's fit, or of the search's best score, that a quoted passage has."""

_HIT = re.compile(
    r"(?P<path>[^\s|>\[][^\n]*?)(?::(?P<line>\d{1,9}))?(?: — (?P<title>[^\n]*?))? \(score (?P<score>\d+(?:\.\d+)?)\)"
)
_PAGE = re.compile(r"(?P<path>\S[^\n]*), lines (?P<first>\d+)-\d+ of \d+(?: \(\d+ entries\))?")
_NUMBERED = re.compile(r"(?P<mark>[> ]) *(?P<number>\d{1,9}) \| ?(?P<text>.*)")
_NOTE = re.compile(r"\[.*\]")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})(?P<info>[^`]{0,200})$")
_BACKTICKS = re.compile(r"`+")
_LANGUAGES = {"py": "python", "js": "javascript", "ts": "typescript", "rs": "rust", "rb": "ruby", "sh": "bash"}


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a file or note.

    Args:
        path: the file or note.
        source_type: the kind of tool that found it.
        line: the line to cite, from 1; `None` if the tool reported none.
        title: of a note; empty if the tool reported none.
        lines: the text, line by line, with line numbers if the tool reported them.
        rank: its position among the passages of its result, from 0.
        score: the tool's own, comparable within its kind; `None` for a page that was read.
    """

    path: str
    source_type: SourceType
    line: int | None
    title: str
    lines: tuple[tuple[int | None, str], ...]
    rank: int
    score: float | None = None

    @property
    def place(self) -> str:
        """`path:line`, or the path if there is no line."""
        return self.path if self.line is None else f"{self.path}:{self.line}"

    @property
    def text(self) -> str:
        """The lines without numbers."""
        return "\n".join(text for _, text in self.lines)

    def terms(self, wanted: Sequence[str]) -> frozenset[str]:
        """The terms that occur in it, its path and title included."""
        return matched(f"{self.path} {self.title}\n{self.text}", wanted)


def read_passages(text: str, source_type: SourceType) -> list[Passage]:
    """The passages in a tool's result, in its order; empty if the text has another format."""
    found: list[Passage] = []
    for heading, lines in _blocks(text):
        passage = _passage(heading, lines, source_type, rank=len(found))
        if passage is not None:
            found.append(passage)
    return found


def best_passages(passages: Iterable[Passage], wanted: Sequence[str], *, limit: int) -> list[Passage]:
    """The passages that fit best, best first, pages cut to their best lines, without overlaps.

    The passages of one tool stay in its order, because it knows how rare each word is. Between the tools the number of
    matching terms decides.

    Args:
        passages: from all tools of a query, each tool's in its order.
        wanted: the question's terms.
        limit: the largest number of passages.
    """
    queues: dict[SourceType, list[Passage]] = {}
    for passage in passages:
        cut = _with_whole_fences(_best_lines(passage, wanted), wanted)
        if cut.text.strip():
            queues.setdefault(passage.source_type, []).append(cut)
    worth = _WORTH_QUOTING * max((_fit(queue[0], wanted) for queue in queues.values()), default=0.0)
    heads = [_worth_quoting(queue) for queue in queues.values() if _fit(queue[0], wanted) >= worth]
    kept: list[Passage] = []
    while heads and len(kept) < limit:
        best = max(heads, key=lambda queue: _fit(queue[0], wanted))
        passage = best.pop(0)
        if not best:
            heads.remove(best)
        of_file = sum((other.path, other.source_type) == (passage.path, passage.source_type) for other in kept)
        if of_file < _MAX_PER_FILE and not any(_overlap(passage, other) for other in kept):
            kept.append(passage)
    return kept


def _worth_quoting(queue: Sequence[Passage]) -> list[Passage]:
    """The passages of one tool whose scores are close enough to its best one, and the pages that were read."""
    best = max((passage.score for passage in queue if passage.score is not None), default=0.0)
    return [passage for passage in queue if passage.score is None or passage.score >= _WORTH_QUOTING * best]


def quotation(passage: Passage, *, max_chars: int) -> str:
    """The passage below its place, in a fence that nothing in it can close."""
    body: list[str] = []
    total = 0
    for line in textwrap.dedent(passage.text).split("\n"):
        total += len(line) + 1
        if body and total > max_chars:
            body.append("…")
            break
        body.append(line[:MAX_LINE_CHARS] + ("…" if len(line) > MAX_LINE_CHARS else ""))
    longest = max((len(run) for run in _BACKTICKS.findall("\n".join(body))), default=0)
    fence = "`" * max(3, longest + 1)
    heading = f"**`{passage.place.replace('`', '')}`**"
    if passage.title and passage.title != passage.path:
        heading += f" ({_plain(passage.title)})"
    return "\n".join([heading, fence + _language(passage), *body, fence])


def _heading(line: str) -> re.Match[str] | None:
    # A line of a megabyte must not be matched against a pattern with two lazy parts.
    if len(line) > _MAX_HEADING_CHARS:
        return None
    return (line.endswith(")") and _HIT.fullmatch(line)) or _PAGE.fullmatch(line)


def _blocks(text: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    heading: re.Match[str] | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        found = None if _NUMBERED.fullmatch(line) else _heading(line)
        if found is None:
            lines.append(line)
            continue
        if heading is not None:
            yield heading, lines
        heading, lines = found, []
    if heading is not None:
        yield heading, lines


def _passage(heading: re.Match[str], lines: Sequence[str], source_type: SourceType, *, rank: int) -> Passage | None:
    fields = heading.groupdict()
    body: list[tuple[int | None, str]] = []
    for line in lines:
        found = _NUMBERED.fullmatch(line)
        if found is not None:
            body.append((int(found["number"]), found["text"]))
        elif not _NOTE.fullmatch(line):
            body.append((None, line.strip()))
    while body and not body[-1][1].strip():
        body.pop()
    while body and not body[0][1].strip():
        body.pop(0)
    number = fields.get("line") or fields.get("first")
    if not body and not fields.get("title"):
        return None
    return Passage(
        path=fields["path"],
        source_type=source_type,
        line=int(number) if number else next((at for at, _ in body if at is not None), None),
        title=(fields.get("title") or "").strip(),
        lines=tuple(body),
        rank=rank,
        score=float(fields["score"]) if fields.get("score") else None,
    )


def _fit(passage: Passage, wanted: Sequence[str]) -> float:
    """How well the passage fits: the number of terms, its rank, and a bonus for the file that a term names."""
    names = any("." in term and passage.path.casefold().endswith(term.casefold()) for term in wanted)
    return len(passage.terms(wanted)) + 2.0 * names + 1.5 / (1 + passage.rank)


def _best_lines(passage: Passage, wanted: Sequence[str]) -> Passage:
    """The passage; a page that was read is cut to the consecutive lines with the most terms."""
    lines = passage.lines
    if passage.score is not None or len(lines) <= _MAX_PAGE_LINES:
        return passage
    fits = [matched(text, wanted) for _, text in lines]
    starts = range(len(lines) - _MAX_PAGE_LINES + 1)
    best = max(starts, key=lambda start: (_window_fit(fits[start : start + _MAX_PAGE_LINES]), -start))
    while best < len(lines) - 1 and not lines[best][1].strip():
        best += 1
    cut = lines[best : best + _MAX_PAGE_LINES]
    return replace(passage, line=cut[0][0] or passage.line, lines=cut)


def _with_whole_fences(passage: Passage, wanted: Sequence[str]) -> Passage:
    """The passage without a part of a fenced block; if that part has matches, without its one fence."""
    found = [(at, match) for at, (_, text) in enumerate(passage.lines) if (match := _FENCE.match(text))]
    if len(found) % 2 == 0:
        return passage
    begins = bool(found[0][1]["info"].strip())  # a fence that ends a block has nothing behind it
    at = found[-1 if begins else 0][0]
    before, after = passage.lines[:at], passage.lines[at + 1 :]
    outside = replace(passage, lines=before if begins else after)
    return outside if outside.terms(wanted) == passage.terms(wanted) else replace(passage, lines=before + after)


def _window_fit(fits: Sequence[frozenset[str]]) -> float:
    together = frozenset[str]().union(*fits)
    # Terms near the beginning of the window count slightly more, because definitions belong there.
    return len(together) + sum(len(fit) * (1 - index / 20) for index, fit in enumerate(fits)) / 20


def _overlap(first: Passage, second: Passage) -> bool:
    if (first.path, first.source_type) != (second.path, second.source_type):
        return False
    ours, theirs = ({number for number, _ in passage.lines if number} for passage in (first, second))
    return not ours or not theirs or bool(ours & theirs)


def _plain(text: str) -> str:
    """A title on one line and without markup."""
    return re.sub(r"[<>`*\[\]]", "", " ".join(text.split()))[:120]


def _language(passage: Passage) -> str:
    extension = passage.path.rpartition(".")[2].lower()
    if passage.source_type != "code" or not re.fullmatch(r"[a-z0-9]{1,10}", extension):
        return "text"
    return _LANGUAGES.get(extension, extension)
