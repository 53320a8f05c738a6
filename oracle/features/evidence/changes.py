"""Looks for the trace of a claimed change in the calls of the run, and for changes that have failed in silence."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from oracle.features.evidence.deeds import Claim, claims
from oracle.features.evidence.naming import content, foreign, names_path, targets
from oracle.features.evidence.paths import is_same, mentions, normal
from oracle.features.evidence.prose import Sentence
from oracle.features.evidence.record import Call, Done, stems
from oracle.features.evidence.words import ENGLISH, says, words

_MOST_FAILED: Final = 5
"""Failed changes that are looked at, the latest ones."""
_TOOLS: Final = {"send": "sending_tools", "close": "closing_tools", "remove": "removing_tools"}


def not_changed(claim: Claim, done: Done, *, has_code: bool) -> str:
    """What of a claimed change no call has made; empty if there is nothing.

    Args:
        claim: a deed that changes something.
        done: the run.
        has_code: the answer has a code block, in which something may have been changed for the user.
    """
    is_shown = has_code or says("scratch", claim.object) or ('"' in claim.sentence.text and not done.calls)
    is_kept = claim.verb in words("keeping") or claim.deed in ("send", "close") or says("kept", claim.object)
    is_here = is_shown and not (is_kept or done.writes or done.has_failed_writes)
    for each in targets(claim):
        if not _is_written(each.path, done):
            return f"no successful call has written {each.path!r}"
    if re.match(r"\s+(?:you|the gap|the loop)\b", claim.object):
        return ""
    return _none_of_its_kind(claim, done, is_here=is_here) or ("" if is_here else _other_things(claim, done))


def _is_written(path: str, done: Done) -> bool:
    """Whether a successful change or program names a file."""
    made = [*done.writes, *(call for call in done.runs if call.ok)]
    return path in done.written or any(names_path(call, path) for call in made)


def _none_of_its_kind(claim: Claim, done: Done, *, is_here: bool) -> str:
    is_told = claim.deed == "send" or claim.verb in words("telling")
    made = [call for call in done.writes if is_told or not call.is_sending]
    tools, programs = _TOOLS.get(claim.deed, ""), _programs(claim)
    ran = [call for call in done.runs if call.ok and call not in made]
    if programs and not is_here and not any(_fits(call, tools, programs) for call in [*made, *ran]):
        return f"no call has {claim.verb} anything"
    is_weak = claim.is_sure and claim.verb in words("weak_verbs") and not says("kept", claim.object)
    is_open = claim.deed == "other" or (is_weak and not done.has_failed_writes)
    return "" if made or is_here or is_open or targets(claim) else "no call has changed anything"


def _programs(claim: Claim) -> str:
    """What the name of a tool or a program has that does what a verb says; empty if many of them can."""
    known = ENGLISH["programs"]
    stem = claim.verb.removesuffix("d").removesuffix("e")
    return next((str(known[name]) for name in (claim.deed, stem, re.sub("^re-?", "", stem)) if name in known), "")


def _fits(call: Call, tools: str, programs: str) -> bool:
    """Whether a call is of a kind: by its tool, by overwriting, or by the program that it runs."""
    is_tool = tools != "" and call.can(tools)
    is_over = bool(call.arguments.get("overwrite")) and tools not in (_TOOLS["send"], _TOOLS["close"])
    return is_tool or is_over or re.search(rf"(?:\b|_)(?:{programs})", call.given) is not None


def _other_things(claim: Claim, done: Done) -> str:
    """What a claim names that no successful change was about; empty if there is nothing."""
    if not done.writes or (claim.deed == "other" and claim.is_sure):
        return ""
    known = done.changed
    if claim.deed == "send":
        known = done.addressed
        is_person = claim.is_sure or claim.verb in words("telling_people")
        if name := foreign(f"to {claim.text.strip()}" if is_person else claim.text, known, has_numbers=False):
            return f"nothing was sent to {name!r}"
        return ""
    if name := foreign(f"{claim.lead} {claim.text}", known):
        return f"no successful call was about {name!r}"
    own = content(re.split(r",|\b(?:since|as|so|when|after|before|until)\b", claim.object)[0])
    is_other = own and not targets(claim) and not any(stem in known for stem in own)
    if is_other and not claim.is_sure:
        return "no successful call was about that"
    is_odd = claim.verb in words("editing") or says("scratch", claim.object)
    is_new = not is_odd and not any(stem in done.question for stem in own)
    return "no successful call was about that" if is_other and is_new else ""


def hidden_failures(listed: Sequence[Sentence], done: Done) -> Iterator[tuple[Sentence, str]]:
    """Sentences about a change that has failed, where the answer says of none that it failed.

    A call has failed if it changes something, and no later call of the tool with the same target was successful.
    """
    failed = [at for at, call in enumerate(done.calls) if not call.ok and call.is_writing]
    for at in failed[-_MOST_FAILED:]:
        call = done.calls[at]
        later = (each for each in done.calls[at + 1 :] if each.ok and each.tool == call.tool)
        if all(each.target != call.target for each in later):
            about = _about(listed, call, done)
            if not any(says("acknowledged", each.plain) for each in about):
                so = "now_so" if mentions(call.target) else "so"
                new = [each for each in about if says(so, each.plain) and not says("modal", each.plain)]
                told = (each for each in new if not _is_run(each))
                yield from [(each, f"the call of {call.tool} for it has failed") for each in islice(told, 1)]


def _is_run(sentence: Sentence) -> bool:
    """Whether a sentence says only that something was run."""
    made = list(claims(sentence))
    return bool(made) and all(claim.deed == "run" and claim.end > len(sentence.plain) - 3 for claim in made)


def _about(listed: Sequence[Sentence], failed: Call, done: Done) -> list[Sentence]:
    """The sentences about a failed call: with its path, else words of its target, of its error, or of what it names."""
    found = [(each, set(stems(each.text))) for each in listed]
    for path in mentions(failed.target)[:1]:
        wanted = normal(path.path)
        same = [each for each in listed if any(is_same(normal(m.path), wanted) for m in mentions(each.text))]
        name = set(stems(re.split(r"[/.]", path.path)[-2])) if "." in path.path else set()
        name -= {stem for each in done.successes for stem in stems(each.given)}
        return same or [each for each, words in found if words & name]
    others = {stem for each in done.writes for stem in stems(each.target)}
    known = others.union(*(stems(each.given + each.result[:2_000]) for each in done.successes))
    target, error = set(stems(failed.target)) - others, set(stems(failed.result)) - known
    named = set(stems(done.lines_about([failed]))) - set(stems(done.lines_changed)) - others
    about = [each for each, words in found if words & target or len(words & error) > 1]
    return about or [each for each, words in found if words & named]
