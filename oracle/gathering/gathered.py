"""What the tools have found for a question.

It is a record of what they were asked, and what each call brought that was not known before. Rules:

- A call is a **search** if one of its arguments has words to look for; else it is a read of what its arguments name.
- A call brings something **new** if a source was not cited before, or if enough lines of its text were not seen before:
  half of a search's, a quarter of a read's, because a page of a file may overlap with the one before.
- A call that **writes** changes what there is to find: from then on nothing counts as known.
- An error is neither: nothing is learned of what there is.
"""

import re
from collections.abc import Iterable
from dataclasses import field
from functools import lru_cache
from typing import Any, Final, Literal

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.agent.gathering import Findings
from oracle.core.encoding import held_frozen
from oracle.core.search.query import STOP_WORDS, fold, stem, tokens

_NOTES: Final = frozenset({"vault", "thread"})
_NAMED: Final = (
    (
        frozenset({"code"}),
        re.compile(r"\b(?:source )?(?:code|quellcode|codebase|c[oó]digo|codice|kodzie|implement\w*)\b", re.IGNORECASE),
    ),
    (
        _NOTES,
        re.compile(
            r"\b(?:deci(?:de|ded|sion|sions)|agreed|notes?|vault|threads?|polic(?:y|ies)|adrs?|runbook|minutes"
            r"|entschied\w*|entscheidung\w*|festgelegt|vereinbart|beschl[ou]ss\w*|notiz\w*|d[ée]cid\w*|d[ée]cision\w*|decis\w*|nota)\b",
            re.IGNORECASE,
        ),
    ),
)
"""The groups that words of a question name."""
_ALL: Final = re.compile(
    r"\b(?:all|any|every\w*|each|both|list|table|count|how many|compare|overview|review|summar\w+|go through|write up"
    r"|instal?lments|parts|complete(?:ly)?|exhaustive\w*"
    r"|alle[nrs]?|jede[mnrs]?|s[äa]mtliche\w*|liste|tabelle|[üu]berall|wie viele|vergleich\w*|[üu]bersicht|teilen"
    r"|tou(?:s|tes)|toute|chaque|tableau|combien|compare[rz]?|r[ée]sume\w*"
    r"|tod[oa]s?|cada|lista|tabla|cu[áa]nt[oa]s|compara\w*|resum\w*|tutt[ie]|ogni|wszystk\w+|ka[żz]d\w+)\b",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r"[,;?:]|\b(?:and|und|et|y|e|i|oraz)\b", re.IGNORECASE)
_MANY_PARTS: Final = 4
_LONGEST: Final = 2_000


def groups_named(question: str) -> tuple[frozenset[str], ...]:
    """Sets of tool groups: a question that names code and decisions is answered when one group of each has answered."""
    return tuple(groups for groups, words in _NAMED if words.search(question[:_LONGEST]))


def asks_for_all(question: str) -> bool:
    """Whether it asks for each of many things, so that no first answer is enough."""
    text = question[:_LONGEST]
    return len(question) > _LONGEST or _ALL.search(text) is not None or len(_PARTS.findall(text)) >= _MANY_PARTS


Brought = Literal["new", "known", "nothing", "error"]

SEARCH_ARGUMENTS: Final = frozenset(
    {"query", "q", "question", "pattern", "search", "terms", "text", "words", "keywords"}
)
"""The arguments that have words to look for."""
_MOST_KEPT: Final = 20_000
"""Lines and words that are remembered; beyond that everything counts as new."""
_MOST_OF_A_TURN: Final = 2
"""Calls of a turn that count: the model made them without having seen the result of the others."""
_SEVERAL: Final = 3
"""Calls of the first turn after which further ones can be chosen by what these have brought."""
_MANY: Final = 5
"""Calls that have brought something new: what answers a question may have none of its words."""
_LONGEST_SHOWN: Final = 60
_LONGEST_READ: Final = 200_000
_NEW_SHARE: Final = {True: 0.5, False: 0.25}
"""The share of unseen lines that counts as new, by whether the call is a search."""
_WORD = re.compile(r"[^\W\d_]")


@held_frozen
class GatheredResult:
    """The result of one call that was run.

    Args:
        tool: its name.
        arguments: the JSON object that the model sent, unchanged.
        canonical: its canonical JSON text.
        group: of the tool; empty if there is no such tool.
        text: what the tool returned to the model.
        sources: the paths of what the text rests on.
        is_error: the call failed; `text` says why.
        is_empty: the call succeeded, but its result has no content.
        writes: the tool changes data.
    """

    tool: str
    arguments: Any
    canonical: str
    group: str = ""
    text: str = ""
    sources: tuple[str, ...] = ()
    is_error: bool = False
    is_empty: bool = False
    writes: bool = False


@held_frozen
class Tried:
    """One call as it is remembered.

    Args:
        turn: the number of the turn that made the call, from 1.
        arguments: canonical JSON text.
        words: what it searched for, as stems; none if it is a read.
        shown: what it searched for, as the model wrote it, on one short line.
        brought: `new`, `known`, `nothing` or `error`, by what its result added.
        new_sources: how many sources were not cited before.
    """

    turn: int
    tool: str
    group: str
    arguments: str
    words: frozenset[str]
    shown: str
    brought: Brought
    new_sources: int = 0

    @property
    def is_search(self) -> bool:
        """Whether it has words to look for."""
        return bool(self.shown)


@dataclass(frozen=True)
class Gathered(Findings):
    """What is known from the calls of a query.

    Args:
        question: the words of the question, as stems.
        needs: sets of groups that the question names; one of each has to find something.
        needs_all: the question asks for each of many things, so that no first answer is enough.
        since: how many of `tried` came before the last write; only later ones can be repeated.
        known_calls: the calls of the dry turns that brought what was known; of each turn, two at most count.
        empty_turns: those of the dry turns in which nothing was found at all.
        said_sufficient: in its last turn with tools the model said that it has what it needs.
        lines: hashes of the lines that were seen since the last write.
        words: the words that were seen in results, as stems.
        groups_tried: the groups of the tools that were called.
    """

    tried: tuple[Tried, ...] = ()
    question: frozenset[str] = frozenset()
    needs: tuple[frozenset[str], ...] = ()
    needs_all: bool = False
    since: int = 0
    known_calls: int = 0
    empty_turns: int = 0
    said_sufficient: bool = False
    lines: frozenset[int] = field(default=frozenset(), repr=False)
    words: frozenset[str] = field(default=frozenset(), repr=False)
    groups_tried: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: str) -> "Gathered":
        """Nothing yet, for a question."""
        return cls(question=words_of(question), needs=groups_named(question), needs_all=asks_for_all(question))

    @property
    def has_found(self) -> bool:
        """Whether any call has found anything."""
        return bool(self.groups_found)

    @property
    def has_several(self) -> bool:
        """Whether the first turn has looked in three ways at once, and each group that the question names has answered.

        Of a question that asks for many things, and after a write, this is never known.
        """
        return self._have_answered and sum(each.turn == self.tried[0].turn for each in self.tried) >= _SEVERAL

    @property
    def answers_question(self) -> bool:
        """Whether the sources that the question needs have answered, as far as words and numbers can show.

        Each group that it names has found something; something was read, or looked for in two turns; and the results
        have three quarters of its words, on their own or in an identifier. Or five calls
        have brought something new after a first turn that looked in three ways at once, as an answer may have none of
        its words: one look at a time may be a way from name to name. Of a question that asks for many things, and
        after a write, this is never known.
        """
        if not self._have_answered:
            return False
        new = [each for each in self.tried if each.brought == "new"]
        has_gone_on = len({each.turn for each in self.tried}) > 1
        if not (has_gone_on or any(not each.is_search for each in new)):
            return False
        seen = "\n".join(self.words)
        missing = sum(word.lstrip("=") not in seen for word in self.question)
        has_words = bool(self.question) and missing <= len(self.question) // 4
        return has_words or (self.has_several and has_gone_on and len(new) >= _MANY)

    @property
    def _have_answered(self) -> bool:
        """Whether each group that the question names has found something, and no more can be asked of them."""
        is_open = self.needs_all or self.since or any(need.isdisjoint(self.groups_found) for need in self.needs)
        return self.has_found and not is_open

    @property
    def repeatable(self) -> tuple[Tried, ...]:
        """The calls that would bring the same again: those since the last write."""
        return self.tried[self.since :]

    @property
    def dry_wordings(self) -> int:
        """How many different searches have found nothing since something new was found; repeated ones count once."""
        at = max((n for n, each in enumerate(self.tried, 1) if each.brought == "new"), default=0)
        before = {each.words for each in self.tried[:at]}
        dry = {each.words for each in self.tried[at:] if each.is_search and each.brought in ("known", "nothing")}
        return len(dry - before)

    def knows(self, text: str) -> bool:
        """Whether each line of a text was seen since the last write."""
        return _lines(text) <= self.lines

    def after(self, results: Iterable[GatheredResult], *, turn: int, said_sufficient: bool = False) -> "Gathered":
        """What is known after the tools of a turn.

        Args:
            results: of the calls that were run, in the model's order; without those that were refused or cancelled.
            turn: its number.
            said_sufficient: the model said in this turn that it has what it needs.
        """
        state, brought = self, list[Brought]()
        for found in results:
            state = state._with(found, turn)
            brought.append(state.tried[-1].brought)
        if not brought:
            return self
        dry, known, empty = self.dry_turns, self.known_calls, self.empty_turns
        if "new" in brought:
            dry = known = empty = 0
        elif "known" in brought:
            dry, known = dry + 1, known + min(brought.count("known"), _MOST_OF_A_TURN)
        elif "nothing" in brought:
            dry, empty = dry + 1, empty + 1
        return _changed(
            state,
            dry_turns=dry,
            known_calls=known,
            empty_turns=empty,
            said_sufficient=said_sufficient,
            failed_tools=_failed(state.tried) if self.failed_tools or "error" in brought else (),
        )

    def _with(self, found: GatheredResult, turn: int) -> "Gathered":
        words, shown = searched(found.arguments)
        lines = _lines(found.text)
        new_sources = frozenset(found.sources) - self.sources
        brought = self._brought(found, lines, is_new=bool(new_sources), is_search=bool(shown))
        tried = Tried(
            turn,
            found.tool,
            found.group,
            found.canonical,
            words,
            shown,
            brought,
            len(new_sources),
        )
        writes = found.writes and not found.is_error
        learns = brought in ("new", "known")
        seen = frozenset() if writes else self.lines
        return _changed(
            self,
            tried=(*self.tried, tried),
            sources=self.sources | new_sources if new_sources else self.sources,
            since=len(self.tried) + 1 if writes else self.since,
            lines=_grown(seen, lines) if learns else seen,
            words=_grown(self.words, words_of(found.text)) if learns else self.words,
            groups_tried=_added(self.groups_tried, found.group),
            groups_found=_added(self.groups_found, found.group) if learns else self.groups_found,
            empty_searches=_added(self.empty_searches, shown) if brought == "nothing" else self.empty_searches,
        )

    def _brought(self, found: GatheredResult, lines: frozenset[int], *, is_new: bool, is_search: bool) -> Brought:
        if found.is_error:
            return "error"
        if found.is_empty:
            return "nothing"
        if found.writes or is_new or len(self.lines) >= _MOST_KEPT:
            return "new"
        unseen = len(lines - self.lines)
        return "new" if unseen and unseen >= _NEW_SHARE[is_search] * len(lines) else "known"


def _changed(gathered: Gathered, **changes: Any) -> Gathered:  # noqa: ANN401  any of the fields
    """`dataclasses.replace` without the constructor, which checks nothing."""
    other = object.__new__(Gathered)
    object.__setattr__(other, "__dict__", gathered.__dict__ | changes)
    return other


def _failed(tried: Iterable[Tried]) -> tuple[str, ...]:
    """Names of the tools whose last call failed, in the order of their first calls."""
    last = {each.tool: each.brought for each in tried}
    return tuple(tool for tool, end in last.items() if end == "error")


def searched(arguments: object) -> tuple[frozenset[str], str]:
    """What a call searches for: the stems of its words, and the text as it is shown; nothing if it is a read."""
    if not isinstance(arguments, dict):
        return frozenset(), ""
    texts = [value for name, value in arguments.items() if name in SEARCH_ARGUMENTS and isinstance(value, str)]
    if not texts:
        return frozenset(), ""
    text = " ".join(" ".join(texts).split())
    return words_of(text), truncated(text, _LONGEST_SHOWN)


@lru_cache(maxsize=256)
def words_of(text: str) -> frozenset[str]:
    """The words of a text that say what it is about, as stems without case; identifiers as a whole."""
    found = (fold(token) for token in tokens(text[:_LONGEST_READ]) if _WORD.search(token))
    return frozenset(stem(word) for word in found if len(word) > 1 and word not in STOP_WORDS)


def _lines(text: str) -> frozenset[int]:
    """Hashes of the lines that say anything."""
    stripped = [" ".join(line.split()) for line in text[:_LONGEST_READ].splitlines()]
    return frozenset([hash(line) for line in stripped if line])


def _grown(known: frozenset[Any], more: frozenset[Any]) -> frozenset[Any]:
    return known if len(known) >= _MOST_KEPT or more <= known else known | more


def _added(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if not name or name in names else (*names, name)
