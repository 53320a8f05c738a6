"""Looks for the trace of a claimed look, a search or a reading in the calls of the run."""

import re
from typing import Final

from oracle.features.evidence.deeds import Claim
from oracle.features.evidence.naming import codes, names_path, number_in, other_name, targets
from oracle.features.evidence.paths import mentions, normal
from oracle.features.evidence.prose import Sentence
from oracle.features.evidence.record import Done, plain_words, stems
from oracle.features.evidence.words import ENGLISH, says, words

_EVERY: Final = re.compile(
    r"\b(?:every|each|all|the (?:whole|entire|complete|full))\s+(?:of\s+)?(?:[\w-]+\s+){0,4}?"
    r"(?:files?|notes?|modules?|threads?|documents?|tests?|pages?|folder|directory)\b"
)
_TERM: Final = re.compile(r"\bfor\s+(?:the\s+(?:words?|terms?|string|name)\s+)?(?:~+|`[^`]+`|\*\*[^*]+\*\*)")

_LISTED: Final = re.compile(r"(?:[-*+]|\d+[.)])\s+[`*\"]{1,3}([^`*\"\n]{2,80})[`*\"]")


def not_looked(claim: Claim, done: Done) -> str:
    """What was not read or searched that a claim is about; empty if there is nothing.

    Args:
        claim: a deed that changes nothing.
        done: the run.
    """
    if reason := _not_opened(claim, done):
        return reason
    if not done.successes:
        return "" if done.attached or says("your_words", claim.object) else "no call was made"
    if reason := _unknown(claim, done) or _too_few(claim, done):
        return reason
    if claim.deed == "find" or (claim.deed != "search" and targets(claim)):
        return ""
    return _not_there(claim, done) or (not_searched if claim.deed == "search" else _too_little)(claim, done)


def _unknown(claim: Claim, done: Done) -> str:
    """A name that occurs in nothing that was read: of a thread or ticket, or one in code."""
    if (name := other_name(claim, done.calls)) and name.casefold() not in done.haystack:
        return f"{name!r} was not read"
    is_said = claim.deed == "find" or claim.object.lstrip().startswith(("that", "whether", "if"))
    unknown = next((name for name in codes(claim.text) if plain_words(name) not in done.haystack), "")
    return f"{unknown!r} was not read" if unknown and not is_said else ""


def _too_few(claim: Claim, done: Done) -> str:
    """Why fewer things were read than a claim counts."""
    number = number_in(claim.object, alone=True) if claim.deed in ("read", "look") else 0
    if number and (left := _unread(claim, done)):
        return f"{left!r} was not read"
    made = {call.given for call in done.successes if not (call.is_writing or call.can("listing_tools"))}
    read = max(len(done.opened), len(made))
    return f"{read} files were read, not {number}" if number > read else ""


def _not_there(claim: Claim, done: Done) -> str:
    """A place that the claim names, such as the web, and that no tool has looked at."""
    about = claim.sentence.plain if re.match(r"\s*(?:them|it|there|those|these)\b", claim.object) else claim.object
    tools = frozenset().union(*(call.words for call in done.successes))
    for area, wanted in ENGLISH["areas"].items():
        there = re.search(rf"\b(?:{area})\b", about, re.IGNORECASE)
        if there and tools.isdisjoint(wanted.split()) and there[0].casefold() not in done.shown:
            return f"no call has looked at {there[0]!r}"
    return ""


def _unread(claim: Claim, done: Done) -> str:
    """A known file below a folder of the claim that was not read; empty if there is none."""
    folders = [normal(each.path) for each in mentions(claim.text) if each.path.endswith("/")]
    below = (path for path in sorted(done.paths) if any(path.startswith(f"{each}/") for each in folders))
    return next((path for path in below if path not in done.opened), "")


def _too_little(claim: Claim, done: Done) -> str:
    """What is missing of several things, or of anything that the claim names in its own words."""
    about, calls = claim.object, [call for call in done.successes if not call.is_writing]
    if number_in(about, alone=True):
        return ""
    if (every := _EVERY.search(about)) is not None:
        left = _unread(claim, done)
        if left and claim.deed == "read":
            return f"{left!r} was not read"
        return "" if left or any(call.can("searching_tools") for call in calls) else f"not {every[0]} was read"
    text = re.split(r"\b(?:that|whether|if|how|what|and found|for)\b", about)[0]
    found = [word for word in re.findall(r"[^\W\d_]{4,}", text.casefold()) if word not in words("weak")]
    return "" if not found or any(word[:5] in done.stems for word in found) else "nothing like that was read"


def _not_opened(claim: Claim, done: Done) -> str:
    """A file that the claim names, and that was not read, or not as a whole."""
    for each in targets(claim):
        path, before = each.path, claim.object[: each.start].rstrip()
        if (
            path.endswith("/")
            or before.endswith((" for", " against", " to"))
            or (claim.deed in ("find", "search") and path in done.paths)
        ):
            continue
        if path not in done.opened and not any(names_path(call, path) for call in done.runs if call.ok):
            return f"{path!r} was not read"
        if (
            claim.deed in ("read", "look")
            and says("whole", claim.object)
            and path not in done.whole
            and done.lines_of(path)
        ):
            return f"only a part of {path!r} was read"
    return ""


def not_searched(claim: Claim, done: Done) -> str:
    """Why no search can be the claimed one; empty if one can."""
    given = " ".join(call.given for call in done.calls if call.can("searching_tools"))
    if not given:
        return "no search was made"
    plain_term = re.search(r"\bfor\s+([^~`*.]{3,60})", claim.object)
    asked = re.findall(r"[^\W\d_]{4,}", plain_term[1].casefold()) if plain_term else []
    if asked and not any(word[:5] in done.stems or word in words("weak") for word in asked):
        return "no search for that was made"
    if (term := _TERM.search(claim.object)) is not None:
        found = list(stems(claim.text[term.start() + 3 : term.end()]))
        if found and not any(word in given for word in found):
            return "no search for that was made"
    return ""


def not_listed(sentence: Sentence, intro: str, done: Done) -> str:
    """A term of a list of searches that was not searched for; empty if there is none."""
    term = _LISTED.match(sentence.text)
    if term is None or not intro.endswith(":") or not re.search(r"\b(?:looked|searched)\s+for\b", intro):
        return ""
    given = [call.given for call in done.calls if call.can("searching_tools")]
    return "" if any(term[1].casefold() in each for each in given) else f"no search for {term[1]!r} was made"
