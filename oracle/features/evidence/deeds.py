"""Finds what an answer says that its author did: `I saved …`, `has been saved to …`, `All tests pass`.

No claims are: what was not done, will, could or should be done; conditions; questions; what `you` or others did; and
what stands in code blocks and quotations.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from oracle.features.evidence.prose import Sentence
from oracle.features.evidence.words import ENGLISH, deed_of, says, words

_TOKEN: Final = re.compile(r"[\w'-]+|[^\w\s]")
_BREAKS: Final = frozenset(",;.:(|")
_JOINS: Final = frozenset((",", ";", "and", "then", "but"))
_LONGEST_GAP: Final = 6
"""Adverbs between a subject and its verb."""
_DONE: Final = re.compile(
    r"[\W_]*(?:(?:all )?done|all set|completed?|task complete|finished|"
    r"everything (?:is|has been) (?:done|in place|saved|set up))\s*(?:[.!:,-]|$)",
    re.IGNORECASE,
)
_PASSIVE: Final = {"has": "been", "have": "been", "is": "now", "are": "now"}
"""The words that make a passive voice a report: `has been saved`, and not `is saved`, which may be how things are."""
_LOOKED: Final = re.compile(r"\s+(?:looking|at|in|into|through|over|up|for|across|inside|again|it|back)\b")


class Claim(NamedTuple):
    """A deed that an answer claims.

    Args:
        deed: what kind of deed (`english.json`), or `passes` of tests, or `done`.
        verb: the word for it.
        sentence: it is of.
        start: where its object begins in the sentence, and where that ends; of a passive verb, the whole clause.
        is_sure: it has the form of a report of its author; else others may have done it.
        lead: what stands before the subject in its clause.
    """

    deed: str
    verb: str
    sentence: Sentence
    start: int
    end: int
    is_sure: bool = True
    lead: str = ""

    @property
    def object(self) -> str:
        """The words of the object, without quotations."""
        return self.sentence.plain[self.start : self.end]

    @property
    def text(self) -> str:
        """The same with quotations."""
        return self.sentence.text[self.start : self.end]


class _Word(NamedTuple):
    text: str
    start: int
    end: int


class _Clause(NamedTuple):
    """The words of a sentence, in lower case."""

    sentence: Sentence
    words: Sequence[_Word]

    def verb(self, at: int) -> int:
        """The place of the first word that is no adverb and no comma."""
        end = min(at + _LONGEST_GAP, len(self.words))
        while at < end and (self.words[at].text == "," or _is_adverb(self.words[at].text)):
            at += 1
        is_ahead = [each.text for each in self.words[at : at + 2]] in (["went", "ahead"], ["gone", "ahead"])
        return self.verb(at + 3) if is_ahead else at

    def deed(self, at: int) -> str:
        """The deed of the verb at a place; empty if none is there."""
        return deed_of(self.words[at].text) if at < len(self.words) else ""

    def next_verb(self, at: int) -> int | None:
        """The place of a verb with the same subject, in the same clause or in one that is joined."""
        is_aside = False
        for place in range(at, len(self.words)):
            if self.words[place].text in words("others") or self.words[place].text == "|":
                return None
            is_aside = is_aside or self.words[place].text in words("relative")
            is_and = [each.text for each in self.words[place : place + 2]] == [",", "and"]
            if (
                (is_and or not is_aside)
                and self.words[place].text in _JOINS
                and self.deed(more := self.verb(place + 1 + is_and)) not in ("", "other")
                and not self._is_item(more)
            ):
                return more
        return None

    def _is_item(self, at: int) -> bool:
        """Whether a word stands between commas, as in a list of words that were searched for."""
        return [each.text for each in self.words[at - 1 : at + 2 : 2]] == [",", ","]

    def end(self, at: int) -> int:
        """Where the clause ends that a place is in, in characters."""
        for place in range(at, len(self.words)):
            word = self.words[place].text
            if word in words("ends") or (word in _JOINS and self.deed(self.verb(place + 1)) not in ("", "other")):
                return self.words[place].start
        return len(self.sentence.plain)

    def is_open(self, at: int) -> bool:
        """Whether the words before a place make it a condition, a denial or a plan."""
        for word in reversed(self.words[max(0, at - 4) : at]):
            if word.text in _BREAKS:
                return False
            if word.text in words("hypothetical") or word.text.endswith(("n't", "'ll", "'d")):
                return True
        return False

    def claim(
        self, at: int, deed: str = "", *, begin: int | None = None, is_sure: bool = True, lead: str = ""
    ) -> Claim:
        """That of the verb at a place."""
        verb, deed = self.words[at], deed or self.deed(at)
        if deed == "look" and "for" in [each.text for each in self.words[at + 1 : at + 3]]:
            deed = "search"
        start = verb.end if begin is None else begin
        return Claim(deed, verb.text, self.sentence, start, self.end(at + 1), is_sure, lead)


def claims(sentence: Sentence) -> Iterator[Claim]:
    """The deeds that a sentence claims for its author."""
    plain = sentence.plain
    if plain.rstrip("*_ )").endswith("?"):
        return
    if _DONE.match(plain):
        yield Claim("done", "done", sentence, 0, len(plain))
    clause = _Clause(sentence, [_Word(each[0].casefold(), each.start(), each.end()) for each in _TOKEN.finditer(plain)])
    found = [each for each in _of_subject(clause) if _is_done(each.verb, each.deed, each.object)]
    bare = (each for each in _bare(clause) if _is_done(each.verb, each.deed, each.object))
    yield from [*found, *_passive(clause)] or bare
    yield from _passes(clause)


def _of_subject(clause: _Clause) -> Iterator[Claim]:
    plain, after = clause.sentence.plain, 0
    for at, word in enumerate(clause.words):
        if at < after or plain[word.start : word.end] not in ("I", "I've") or clause.is_open(at):
            continue
        place = clause.verb(at + 1)
        if place >= len(clause.words):
            return
        has_aux = word.text == "i've" or (place > at + 1 and clause.words[at + 1].text == "have")
        if has_aux and at and clause.words[at - 1].text in ("when", "after"):
            continue
        base = clause.verb(place + 1) if clause.words[place].text == "did" else len(clause.words)
        if base < len(clause.words) and (deed := deed_of(ENGLISH["bases"].get(clause.words[base].text, ""))):
            yield clause.claim(base, deed)
        more: int | None = place if clause.deed(place) else None
        while more is not None:
            yield clause.claim(more, lead=plain[_start(clause, at) : word.start] if more == place else "")
            after = more + 1
            more = clause.next_verb(after)


def _bare(clause: _Clause) -> Iterator[Claim]:
    """Participles that begin a sentence or a cell of a table: `Saved the note to …`."""
    plain, found = clause.sentence.plain, clause.words
    for begin in [0, *(at for at, word in enumerate(found) if word.text == "|" and plain.startswith("|"))]:
        at = begin
        while at < len(found) and (found[at].text in words("openers") or not found[at].text[0].isalnum()):
            at += 1
        if at < len(found) and clause.deed(at) not in ("", "other") and found[at].text not in words("no_participles"):
            rest = plain[found[at].end :].lstrip()
            is_object = rest[:1] in ".:!`[*" or rest[0].isdigit() or rest.split()[0].casefold() in words("determiners")
            more = clause.next_verb(at + 1)
            if is_object and not says("dated", plain[found[at].end : clause.end(at + 1)]):
                yield from (clause.claim(each, is_sure=False) for each in (at, more) if each is not None)
            return


def _passive(clause: _Clause) -> Iterator[Claim]:
    """The passive voice, where others may have done it: `has been saved to …`, `is now saved in …`."""
    plain = clause.sentence.plain
    for at, word in enumerate(clause.words):
        if (mark := _PASSIVE.get(word.text)) is None:
            continue
        place = clause.verb(at + 1)
        deed, between = clause.deed(place), [each.text for each in clause.words[at + 1 : place]]
        if deed in ("", "try", "find", "ask") or mark not in between:
            continue
        start, end = _start(clause, at), clause.end(place + 1)
        subject, rest = plain[start : word.start], plain[clause.words[place].end : end]
        others = ("advice", subject), ("advice", rest[:15]), ("reported", plain), ("dated", plain)
        is_other = any(says(name, text) for name, text in others) or not _is_done(clause.words[place].text, deed, rest)
        if not is_other and not says("nothing", subject.lstrip("*-_ ")):
            yield clause.claim(place, begin=start, is_sure=False)
            more = place + 1
            is_joined = more < len(clause.words) and clause.words[more].text in ("and", ",")
            if is_joined and clause.deed(more := clause.verb(more + 1)) not in ("", "other"):
                yield clause.claim(more, is_sure=False)


def _start(clause: _Clause, at: int) -> int:
    """Where the subject begins whose verb is at a place."""
    if clause.words[at - 1].text == "and":
        return clause.words[at].start
    for place in range(at - 1, max(-1, at - 25), -1):
        is_joined = clause.words[place].text == "and" and clause.words[place - 1].text == ","
        if is_joined or clause.words[place].text in words("ends") or clause.words[place].text in (":", "|"):
            return clause.words[place].end
    return max(0, clause.words[at].start - 150)


def _passes(clause: _Clause) -> Iterator[Claim]:
    """`All tests pass`, `the tests of the package still pass`, `CI is green`."""
    plain, found = clause.sentence.plain, clause.words
    if says("no_pass", plain):
        return
    for at, word in enumerate(found):
        if word.text not in words("suites") or clause.is_open(at):
            continue
        for place in range(at + 1, min(at + 9, len(found))):
            if found[place].text in words("others") or found[place].text in _BREAKS:
                break
            is_state = found[place].text in words("is_passed") and clause.words[place - 1].text in words("linking")
            is_active = found[place].text in words("passes") and found[place - 1].text not in (
                "is",
                "are",
                "was",
                "were",
            )
            behind = plain[found[place].end :][:10]
            is_clean = found[place].text in ("reports", "finds", "shows") and says("nothing", behind)
            if is_active or is_state or is_clean:
                before, behind = plain[max(0, word.start - 80) : word.start], plain[found[place].end :][:40]
                if not (says("advice", before) or says("advice", behind) or says("reported", before)):
                    yield Claim("passes", word.text, clause.sentence, word.start, len(plain))
                break


def _is_done(verb: str, deed: str, behind: str) -> bool:
    """Whether the words behind a verb make it a deed: not `ran into`, `found it hard`, `wrote nothing`."""
    if deed != "find" and says("nothing", behind):
        return False
    if verb == "let":
        return re.match(r"\s+\S+(?:\s+\S+){0,3}\s+know\b", behind) is not None
    if verb in words("looking"):
        return _LOOKED.match(behind) is not None or "`" in behind
    wrong = ENGLISH["no_deeds"].get(verb)
    return wrong is None or re.match(rf"\s+(?:{wrong})\b", behind) is None


def _is_adverb(word: str) -> bool:
    return word in words("adverbs") or (word.endswith("ly") and word not in words("no_adverbs"))
