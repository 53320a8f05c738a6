"""The answers of the offline model: an opening, quoted passages, and a signal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from oracle.core.chunks import SourceType
from oracle.llm.offline_extracts import Passage, quotation

_SELF = "I am the offline model: no language model, a search that quotes."
_HOW_TO = "With `ANTHROPIC_API_KEY` set, a language model answers in my place."
_MAX_QUOTED_CHARS = 4800
_MAX_PASSAGE_CHARS = 1600
_FAIR_COVERAGE = 0.34
_MOST_MISSING = 3


@dataclass(frozen=True, slots=True)
class OfflineAnswer:
    """An answer in parts.

    Args:
        opening: the first paragraph.
        passages: quoted after it, as far as they fit.
        closing: the last paragraph; may be empty.
        signal: the XML of the signal.
    """

    opening: str
    passages: tuple[Passage, ...]
    closing: str
    signal: str

    def render(self, *, max_chars: int) -> str:
        """The whole text with the signal at its end, the passages cut to fit; without signal if it does not fit."""
        if self.exceeds(max_chars):
            return f"{self.opening}\n\n{self.closing}".strip()[:max_chars]
        fixed = len(self.opening) + len(self.closing) + len(self.signal) + 8
        room = min(_MAX_QUOTED_CHARS, max_chars - fixed)
        parts = [self.opening]
        for passage in self.passages:
            if room < 120:
                break
            quoted = quotation(passage, max_chars=min(_MAX_PASSAGE_CHARS, room - 80))
            parts.append(quoted)
            room -= len(quoted) + 2
        parts += [part for part in (self.closing, self.signal) if part]
        return "\n\n".join(parts)

    def exceeds(self, max_chars: int) -> bool:
        """Whether the text does not fit even without passages."""
        return len(self.opening) + len(self.closing) + len(self.signal) + 8 > max_chars


def conversation() -> OfflineAnswer:
    """The answer to small talk, and to what only a language model can do."""
    return OfflineAnswer(
        f"{_SELF} I cannot hold a conversation, but I can look things up in the project's code and in the notes: "
        f"ask with words that are likely to stand there. {_HOW_TO}",
        (),
        "",
        signal("context_sufficient", 0.9, sources_found=0, source_types=[]),
    )


def web_wanted(terms: Sequence[str]) -> OfflineAnswer:
    """The answer to a question about the world outside."""
    return OfflineAnswer(
        f"{_SELF} I have nothing to search for this: it may ask for the web, for general knowledge, or for notes that "
        f"are not set up. {_HOW_TO}",
        (),
        "",
        _web_signal(terms),
    )


def still_wanted(terms: Sequence[str]) -> OfflineAnswer:
    """The answer to a question about the world outside after further tools were offered."""
    return OfflineAnswer("None of the tools that are offered now searches the web.", (), "", _web_signal(terms))


def _web_signal(terms: Sequence[str]) -> str:
    return signal(
        "need_capability",
        0.9,
        capability="web_search",
        reason=f"nothing is offered to search for: {' '.join(terms)}",
        workaround="set ANTHROPIC_API_KEY for a model that can search the web",
    )


def search_wanted(terms: Sequence[str]) -> OfflineAnswer:
    """The answer to a question that may be about the project, without search tools: `stuck` requests some."""
    stuck = signal(
        "stuck",
        0.8,
        attempted=["answering without a search"],
        blocker=f"no search was offered for {' '.join(terms)}",
        suggestions=["offer the tools that read"],
    )
    return OfflineAnswer(f"{_SELF} I was offered no search for this question, so I ask for one.", (), "", stuck)


def passages_found(
    passages: Sequence[Passage], *, missing: Sequence[str], coverage: float, was_stuck: bool = False
) -> OfflineAnswer:
    """The answer to a question with matching passages.

    Args:
        passages: the best first.
        missing: the terms that occur in none of them.
        coverage: the share of the terms that occur in them, 0 to 1.
        was_stuck: whether an earlier answer of this query has introduced the model.
    """
    place, further = passages[0].place.replace("`", ""), len(passages) - 1
    match = f"{'Best' if coverage >= _FAIR_COVERAGE else 'Nearest'} match: `{place}`"
    opening = f"{match}." if not further else f"{match}; {further} more {'follows' if further == 1 else 'follow'}."
    opening = opening if was_stuck else f"{_SELF} {opening}"
    closing = f"None of these passages mentions: {', '.join(missing)}." if 0 < len(missing) <= _MOST_MISSING else ""
    types = sorted({passage.source_type for passage in passages})
    if coverage < _FAIR_COVERAGE:
        about = f"passages about {', '.join(missing)}"
        found = signal("partial_answer", 0.4, missing=about, caveat="weak matches only")
    else:
        confidence = round(0.4 + 0.5 * coverage, 2)
        found = signal("context_sufficient", confidence, sources_found=len(passages), source_types=types)
    return OfflineAnswer(opening, tuple(passages), closing, found)


def nothing_found(
    terms: Sequence[str], attempted: Sequence[str], failed: Sequence[str], *, was_stuck: bool
) -> OfflineAnswer:
    """The answer to a question without matching passages.

    Args:
        terms: the terms of the question.
        attempted: the searches made.
        failed: the errors among them.
        was_stuck: whether it was stuck in this query before; it then gives up.
    """
    words = ", ".join(terms) or "that"
    opening = f"I found nothing elsewhere about {words}." if was_stuck else f"{_SELF} I found nothing about {words}."
    if failed:
        opening += f" A search failed: {_one_line(failed[-1])}"
    closing = f"Other words may help, such as names from the code or the title of a note. {_HOW_TO}"
    if was_stuck or not attempted:
        closing = "" if was_stuck and attempted else closing
        return OfflineAnswer(opening, (), closing, signal("partial_answer", 0.6, missing=f"anything about {words}"))
    blocker = "the searches failed" if failed else f"nothing matches {words}"
    stuck = signal("stuck", 0.8, attempted=list(attempted), blocker=blocker, suggestions=["search elsewhere"])
    return OfflineAnswer(opening, (), closing, stuck)


def saved(content: str, done: tuple[str, Mapping[str, Any], str, bool] | None) -> OfflineAnswer:
    """The answer to a request to save a note.

    Args:
        content: the text of the note.
        done: the tool, its arguments, its result and whether that is an error; `None` if no tool could be called.
    """
    if done is None or done[3]:
        why = "no tool could be called any more" if done is None else _one_line(done[2])
        failed = signal("partial_answer", 0.7, missing="the note was not saved", caveat=why)
        return OfflineAnswer(f"{_SELF} I could not save that: {why}", (), "", failed)
    name, arguments, _, _ = done
    where = (
        f"the thread `{arguments.get('thread')}`" if name == "thread_push" else f"the note `{arguments.get('path')}`"
    )
    kind: SourceType = "thread" if name == "thread_push" else "vault"
    note = Passage(str(arguments.get("thread") or arguments.get("path")), kind, None, "", _lines(content), 0)
    stored = signal("context_sufficient", 0.9, sources_found=1, source_types=[kind])
    return OfflineAnswer(f"{_SELF} I have saved this in {where}, word for word.", (note,), "", stored)


def too_much(passages: Sequence[Passage]) -> OfflineAnswer:
    """The answer to a request to write or change anything other than a dictated note."""
    opening = f'{_SELF} I can save what you dictate ("remember that …"), but I cannot write or change anything else.'
    if passages:
        opening += " These passages may be the ones that you mean."
    wanted = signal(
        "need_capability",
        0.9,
        capability="language_model",
        reason="the request takes writing or editing",
        workaround="set ANTHROPIC_API_KEY, or dictate the text",
    )
    return OfflineAnswer(opening, tuple(passages), _HOW_TO, wanted)


def signal(kind: str, confidence: float, **fields: object) -> str:
    """The XML of a signal; lists are JSON."""
    body = [f"  <confidence>{confidence}</confidence>"]
    for name, value in fields.items():
        text = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
        body.append(f"  <{name}>{escape(text)}</{name}>")
    return "\n".join([f'<signal type="{kind}">', *body, "</signal>"])


def _lines(text: str) -> tuple[tuple[int | None, str], ...]:
    return tuple((None, line) for line in text.splitlines())


def _one_line(text: str) -> str:
    """A tool's error on one line and without markup."""
    return " ".join(text.replace("<", "(").replace("`", "'").split())[:200]
