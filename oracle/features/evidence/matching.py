"""Matches the claims of an answer with what a run did and read, by rules: the answer and a `Done` in, a list out.

In doubt a claim counts as matched. What rules cannot tell, such as whether a summary is right, is no claim.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple

from oracle.features.evidence.changes import hidden_failures, not_changed
from oracle.features.evidence.citing import cited
from oracle.features.evidence.deeds import Claim, claims
from oracle.features.evidence.looks import not_known, not_looked
from oracle.features.evidence.paths import is_same, mentions, normal
from oracle.features.evidence.prose import Sentence, sentences, tidied
from oracle.features.evidence.record import Done, stems
from oracle.features.evidence.running import not_passed, not_run
from oracle.features.evidence.words import says, words

MOST: Final = 50
"""Unmatched claims that are listed."""
_REPEATED: Final = 0.85
"""The share of the words of a sentence that a result has, if the sentence repeats it."""
_MOST_SENTENCES: Final = 5_000
_ITEM: Final = re.compile(r"(?:[-*+]|\d+[.)])\s+([`*\"]{1,3}[^`*\"\n]{2,80}[`*\"]{1,3})")


class Unmatched(NamedTuple):
    """A statement of an answer without a match.

    Args:
        quote: the sentence as it stands in the answer.
        kind: what it claims.
        reason: what was looked for and not found, as a clause.
        start: its place in the answer.
    """

    quote: str
    kind: Literal["deed", "citation", "quotation"]
    reason: str
    start: int


def unmatched(answer: str, done: Done, *, told_at: int | None = None) -> tuple[Unmatched, ...]:
    """The statements of an answer that have no match in what was done and read; at most `MOST`.

    A statement that a later sentence of the answer takes back is none: `Correction: I did not run the tests`.

    Args:
        answer: the text that the user reads, in Markdown; its first 200,000 characters and 5,000 sentences count.
        done: the run up to now.
        told_at: the place in the answer from which on its author knows of unmatched statements; `None`: nowhere.
    """
    text = tidied(answer)
    listed = list(islice(sentences(text), _MOST_SENTENCES))
    found: dict[str, Unmatched] = {}
    for sentence, made in _claims({each.text: each for each in listed}.values()):
        reasons = (_missing(claim, done, has_code="```" in answer) for claim in made)
        if reason := next(filter(None, reasons), ""):
            found[sentence.text] = _unmatched(answer, sentence, "deed", reason)
        if len(found) == MOST:
            break
    for sentence, reason in hidden_failures(listed, done):
        found.setdefault(sentence.text, _unmatched(answer, sentence, "deed", reason))
    for kind, sentence, reason in islice(cited(text, listed, done), MOST):
        found.setdefault(sentence.text, _unmatched(answer, sentence, kind, reason))
    corrections = [each for each in listed if _corrects(each, told_at)] if found else []
    left = [each for each in found.values() if not any(_takes_back(other, each) for other in corrections)]
    return tuple(sorted(left, key=lambda each: each.start)[:MOST])


def _claims(listed: Iterable[Sentence]) -> Iterator[tuple[Sentence, list[Claim]]]:
    """The claims of each sentence; a list's item that begins with a name has those of the sentence above the list."""
    above: list[Claim] = []
    for sentence in listed:
        made = list(claims(sentence))
        is_item = sentence.text[:1] in "-*+0123456789"
        if not is_item:
            is_intro = sentence.plain.rstrip("* ").endswith(":")
            above = [each for each in made if is_intro and each.deed in ("search", "read", "look")]
        elif not made and above and (item := _ITEM.match(sentence.text)) is not None:
            made = [Claim(above[0].deed, above[0].verb, sentence, item.start(1), item.end())]
        yield sentence, made


def _missing(claim: Claim, done: Done, *, has_code: bool) -> str:
    """What was looked for in vain; empty if the claim has a match."""
    if not claim.is_sure and (not done.is_asked_to_act or _is_reported(claim, done)):
        return ""
    is_change = claim.deed in ("write", "remove", "send", "close") or (claim.deed == "other" and not claim.is_sure)
    if is_change:
        return not_changed(claim, done, has_code=has_code)
    return _CHECKS.get(claim.deed, not_looked)(claim, done)


def _not_done(_: Claim, done: Done) -> str:
    return "no call has changed anything" if done.is_asked_to_act and not done.writes else ""


_CHECKS: Final[dict[str, Callable[[Claim, Done], str]]] = {
    "done": _not_done,
    "run": not_run,
    "passes": not_passed,
    "ask": not_known,
    "try": not_known,
    "other": not_known,
}


def _is_reported(claim: Claim, done: Done) -> bool:
    """Whether a sentence that need not be about its author repeats what was read."""
    found = [stem for stem in stems(claim.sentence.plain) if len(stem) > 3]
    targets = [each.path for each in mentions(claim.text)]
    failed = [
        normal(str(value))
        for call in done.calls
        if not call.ok and call.is_writing
        for value in call.arguments.values()
    ]
    if any(each.lines and each.path in done.opened for each in mentions(claim.sentence.text)):
        return True  # it is about what stands in those lines
    if len(found) < 3 or any(is_same(normal(each), other) for each in targets for other in failed):
        return False
    if targets and claim.deed in ("close", "remove"):
        return False
    if targets and all(each in done.opened and each not in done.written for each in targets):
        return True
    asked = frozenset(stems(done.question))
    if not targets and sum(stem in asked for stem in found) >= _REPEATED * len(found):
        return True
    return any(sum(stem in known for stem in found) >= _REPEATED * len(found) for known in done.read)


def _unmatched(
    answer: str, sentence: Sentence, kind: Literal["deed", "citation", "quotation"], reason: str
) -> Unmatched:
    return Unmatched(answer[sentence.start : sentence.start + len(sentence.text)], kind, reason, sentence.start)


def _corrects(sentence: Sentence, told_at: int | None) -> bool:
    """Whether a sentence takes something back: after the note, by any denial; before it, by calling it wrong."""
    was_told = told_at is not None and sentence.start >= told_at
    return says("corrects" if was_told else "called_wrong", sentence.plain) or says("own_words", sentence.plain)


def _takes_back(correction: Sentence, found: Unmatched) -> bool:
    """Whether a correction is about an earlier statement: it shares a path or a word."""
    if correction.start <= found.start:
        return False
    if found.kind == "quotation" and says("own_words", correction.plain):
        return True
    paths = [normal(each.path) for each in mentions(found.quote)]
    if any(is_same(one, normal(other.path)) for one in paths for other in mentions(correction.text)):
        return True
    own = {stem[:4] for stem in stems(found.quote) if len(stem) > 3} - words("common")
    return not own or not own.isdisjoint(stem[:4] for stem in stems(correction.text))
