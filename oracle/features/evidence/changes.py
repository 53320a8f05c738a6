"""Looks for the trace of a claimed change in the calls of the run, and for changes that have failed in silence."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oracle.features.evidence.deeds import Claim
from oracle.features.evidence.naming import names_path, number_in, other_name, places, targets
from oracle.features.evidence.paths import is_same, mentions, normal
from oracle.features.evidence.prose import Sentence
from oracle.features.evidence.record import Call, Done, stems
from oracle.features.evidence.words import ENGLISH, says, words

_PROGRAMS: Final = {
    "send": "mail|slack|curl|post|notify|send",
    "close": "close|resolve|merge|cancel",
    "remove": "rm|del|drop|clean|purge|git",
}
_TOOLS: Final = {"send": "sending_tools", "close": "closing_tools", "remove": "removing_tools"}
_SHARED: Final = 2
"""Words of an error that a sentence about it has."""


_PEOPLE: Final = re.compile(
    r"[\w.+-]+@[\w-]+\.[\w.-]*\w|(?<![^\s])(?!(?:The|All|Both|This|They|That|These|Those|Your|Everyone|Everybody|Done)\b)[A-Z][a-z]{2,20}\b(?![\w@.])"
)
_BARE_NUMBERS: Final = re.compile(r"(?<=\s)#?(\d{2,6})(?=,|\.?$|\s+(?:and|as|to|too)\b)")


def not_changed(claim: Claim, done: Done, *, has_code: bool) -> str:
    """What of a claimed change no call has made; empty if there is nothing.

    Args:
        claim: a deed that changes something.
        done: the run.
        has_code: the answer has a code block, in which something may have been changed for the user.
    """
    for each in targets(claim):
        if each.path not in done.written and not any(names_path(call, each.path) for call in done.writes):
            return f"no successful call has written {each.path!r}"
    if name := other_name(claim, done.writes):
        return f"no successful call has written {name!r}"
    if re.match(r"\s+(?:you|the gap|the loop)\b", claim.object):
        return ""
    given = "\n".join(call.given for call in done.writes)
    if claim.deed == "send" or claim.verb in words("by_number"):
        named = _PEOPLE.findall(claim.text[:80]) if claim.deed == "send" else _BARE_NUMBERS.findall(claim.object[:60])
        if lost := next((each for each in named if each.casefold() not in given), ""):
            return f"no successful call was about {lost!r}"
    for place in places(claim):
        if not any(place.casefold() in f"{call.given}\n{call.result[:5_000].casefold()}" for call in done.writes):
            return f"no successful call has written to {place!r}"
    return _none_of_its_kind(claim, done, has_code=has_code) or _too_few(claim, done)


def _none_of_its_kind(claim: Claim, done: Done, *, has_code: bool) -> str:
    tools, programs = (
        _TOOLS.get(claim.deed, ""),
        _PROGRAMS.get(claim.deed)
        or ENGLISH["programs"].get(
            claim.verb.removeprefix("re").removeprefix("-") if claim.verb not in ENGLISH["programs"] else claim.verb
        ),
    )
    made = [
        call for call in done.writes if claim.deed == "send" or claim.verb in words("telling") or not call.is_sending
    ]
    if programs and not any(_fits(call, tools, programs) for call in made):
        return "" if has_code and claim.deed == "remove" else f"no call has {claim.verb} anything"
    is_open = (has_code or says("scratch", claim.object)) and not done.has_failed_writes
    if made or is_open or targets(claim):
        return ""
    is_kept = re.search(r"\b(?:note|thread|vault|file|ticket)\b", claim.object) is not None
    is_weak = claim.verb in words("weak_verbs") and not is_kept and not done.has_failed_writes
    return "" if is_weak else "no call has changed anything"


def _fits(call: Call, tools: str, programs: str) -> bool:
    """Whether a call is of a kind: by its tool, by overwriting, or by the program that it runs."""
    is_tool = tools != "" and call.can(tools)
    return is_tool or bool(call.arguments.get("overwrite")) or re.search(rf"\b(?:{programs})", call.given) is not None


def _too_few(claim: Claim, done: Done) -> str:
    number = number_in(claim.object[:40]) if claim.is_sure else 0
    sizes = [
        max([1, *(len(each) for each in call.arguments.values() if isinstance(each, list))]) for call in done.writes
    ]
    is_program = any(call.can("running_tools") for call in done.writes)
    return f"{sum(sizes)} things were changed, not {number}" if number > sum(sizes) and not is_program else ""


def missing_state(sentence: Sentence, done: Done) -> str:
    """A file that is said to hold something new, where no call has written it; empty if there is none."""
    if done.is_asked_to_act and not sentence.plain.rstrip().endswith("?"):
        for each in mentions(sentence.text):
            is_new = says("now_holds", sentence.plain[each.end :]) and not says("modal", sentence.plain[: each.start])
            if (
                is_new
                and each.path not in done.written
                and not any(names_path(call, each.path) for call in done.writes)
            ):
                return f"no successful call has written {each.path!r}"
    return ""


def hidden_failures(listed: Sequence[Sentence], done: Done) -> Iterator[tuple[Sentence, str]]:
    """Sentences about a change that has failed, where the answer says of none that it failed.

    A call has failed if it changes something, and no later call of the tool with the same target was successful.
    """
    for at, call in enumerate(done.calls):
        later = (each for each in done.calls[at + 1 :] if each.ok and each.tool == call.tool)
        if not call.ok and call.is_writing and all(each.target != call.target for each in later):
            about = [each for each in listed if _is_about(each, call, done)]
            if about and not any(says("acknowledged", each.plain) for each in about):
                new = [each for each in about if says("now_so", each.plain) and not says("modal", each.plain)]
                yield from [(each, f"the call of {call.tool} for it has failed") for each in new[:1]]


def _is_about(sentence: Sentence, failed: Call, done: Done) -> bool:
    """Whether a sentence has what only a failed call was about: its path, or words of its target or of its error."""
    if paths := mentions(failed.target):
        return any(is_same(normal(each.path), normal(paths[0].path)) for each in mentions(sentence.text))
    others = {stem for each in done.successes for stem in stems(each.target)}
    known = others.union(*(stems(each.given + each.result[:2_000]) for each in done.successes))
    found = set(stems(sentence.text))
    return bool(found & set(stems(failed.target)) - others) or len(found & set(stems(failed.result)) - known) >= _SHARED
