"""Looks for the trace of a claimed look, a search or a reading in the calls of the run."""

import re
from collections.abc import Iterable
from typing import Final

from oracle.features.evidence.deeds import Claim
from oracle.features.evidence.naming import codes, content, names_path, number_in, targets
from oracle.features.evidence.prose import quotations
from oracle.features.evidence.record import Done, plain_words
from oracle.features.evidence.words import ENGLISH, says

_ASIDE: Final = (" for", " against", " to", " except", " but", " besides", " than", " from", " without", " not")
_SAID: Final = ("that", "whether", "if", "what", "how", "which", "who", "where", "why", "when")


def not_looked(claim: Claim, done: Done) -> str:
    """What was not read or searched that a claim is about; empty if there is nothing.

    Args:
        claim: a deed that changes nothing.
        done: the run.
    """
    if reason := _not_opened(claim, done):
        return reason
    if not done.reads:
        return "" if done.attached or says("your_words", claim.object) else "no call was made"
    if claim.deed == "search":
        return _not_there(claim, done) or not_searched(claim, done)
    if reason := _unknown(claim, done) or _too_few(claim, done):
        return reason
    if claim.deed in ("find", "other") or targets(claim):
        return ""
    is_part = claim.deed in ("read", "look") and says("whole", claim.object) and done.is_partial
    return "only a part was read" if is_part else _not_there(claim, done)


def not_known(claim: Claim, done: Done) -> str:
    """A path or a name in code that is the object of another verb, and that occurs nowhere; empty if there is none."""
    lost = next((each.path for each in targets(claim) if each.path not in done.paths), "")
    return (f"{lost!r} occurs in nothing that was read" if lost and done.calls else "") or _unknown(claim, done)


def _unknown(claim: Claim, done: Done) -> str:
    """A name in code or an identifier that occurs in nothing that was read."""
    if claim.deed == "find" or claim.object.lstrip().startswith(_SAID):
        return ""
    name = next((name for name in codes(claim.text) if plain_words(name) not in done.haystack), "")
    name = name or next(
        (each for each in re.findall(r"#\d+|\b[A-Z]{2,8}-\d+\b", claim.object) if each.casefold() not in done.raw), ""
    )
    return f"{name!r} was not read" if name else ""


def _too_few(claim: Claim, done: Done) -> str:
    """Why fewer things were read than a claim counts."""
    number = number_in(claim.object) if claim.deed in ("read", "look") else 0
    made = {call.given for call in done.reads if not call.can("listing_tools")}
    made -= {call.given for call in done.reads if claim.deed == "read" and call.can("searching_only")}
    read = max(len(done.opened), len(made))
    return f"{read} things were read, not {number}" if number > read else ""


def _not_there(claim: Claim, done: Done) -> str:
    """A place that the claim names, such as the web, and that no tool has looked at."""
    about = claim.sentence.plain if re.match(r"\s*(?:them|it|there|those|these)\b", claim.object) else claim.object
    tools = frozenset().union(*(call.words for call in done.successes))
    for area, wanted in ENGLISH["areas"].items():
        there = re.search(rf"\b(?:{area})\b", about, re.IGNORECASE)
        if there and tools.isdisjoint(wanted.split()) and there[0].casefold() not in done.shown:
            return f"no call has looked at {there[0]!r}"
    return ""


def _not_opened(claim: Claim, done: Done) -> str:
    """A file that the claim names, and that was not read, or not as a whole."""
    for each in targets(claim):
        path, before = each.path, claim.object[: each.start].rstrip()
        is_known = claim.deed in ("find", "search", "other") and path in done.paths
        if path.endswith("/") or before.rstrip("`* ").endswith(_ASIDE) or is_known:
            continue
        if path not in done.opened and not any(names_path(call, path) for call in done.runs if call.ok):
            return f"{path!r} was not read"
        is_whole = claim.deed in ("read", "look") and says("whole", claim.object)
        if is_whole and path not in done.whole and done.lines_of(path):
            return f"only a part of {path!r} was read"
    return ""


def _is_in_one(term: str, searches: Iterable[str]) -> bool:
    """Whether one of some searches has all words of a term."""
    own = content(term) or [term.casefold()]
    return any(all(stem in each for stem in own) for each in searches)


def not_searched(claim: Claim, done: Done) -> str:
    """Why no search can be the claimed one; empty if one can."""
    given = "\n".join(call.given for call in done.calls if call.can("searching_tools"))
    if not given:
        return "" if claim.verb == "looked" and done.reads else "no search was made"
    _, found, term = claim.text.partition("for ") if claim.object[:1] == " " else ("", claim.text, claim.text)
    if not found or term.startswith(("it", "this", "that", "them", "those", "these", "other")):
        return ""
    exact = [*codes(term), *(quoted for _, quoted in quotations(term))]
    lost = next((each for each in exact if not _is_in_one(each, given.split("\n"))), "")
    return f"no search for {lost!r} was made" if lost else ""
