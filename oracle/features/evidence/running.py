"""Looks for the trace of a program that is said to have run, and of its success."""

import re
from typing import Final

from oracle.features.evidence.deeds import Claim
from oracle.features.evidence.looks import not_searched
from oracle.features.evidence.naming import number_in
from oracle.features.evidence.paths import normal
from oracle.features.evidence.record import Done, stems
from oracle.features.evidence.words import ENGLISH, says, words

_CODE: Final = re.compile(r"`([^`\n]{2,200})`")
_ELSEWHERE: Final = re.compile(r"\s(?:on|in|against|for|with|to|again|after|before|from)\b")


def not_run(claim: Claim, done: Done) -> str:
    """Why no call can be the claimed run of a program; empty if one can."""
    runs = [call for call in done.runs if call.ok or not says("refused", call.result)]
    end = _ELSEWHERE.search(claim.object)
    named = [normal(word) for word in _CODE.findall(claim.text[: end.start() if end else None])]
    if re.search(r"\b(?:search(?:es)?|quer(?:y|ies)|look-?ups?|grep)\b", claim.object):
        searches = [call for call in done.calls if call.can("searching_tools")]
        return "fewer searches were made" if number_in(claim.object) > len(searches) else not_searched(claim, done)
    if any(call.tool.casefold() in (*named, *claim.object.casefold().split()) for call in done.calls):
        return ""
    given = " ".join(call.given for call in runs)
    if len(runs) < 2 and (claim.verb.startswith("re") or says("again", claim.object)):
        return "nothing was run twice"
    tests = [call for call in runs if says("tests", call.given)]
    if says("complete", claim.object) and tests and all(says("some_tests", call.given) for call in tests):
        return "only some tests were run"
    if not runs or any(word not in given and not all(stem in given for stem in stems(word)) for word in named):
        return "that was not run" if runs else "no call has run anything"
    kinds = ENGLISH["kinds_of_runs"]
    asked = [
        kinds[word[:4]]
        for word in re.findall(r"\w{4,}", claim.verb + " " + claim.object[: end.start() if end else None].casefold())
        if word[:4] in kinds
    ]
    return "" if named or not asked or any(re.search(each, given) for each in asked) else "that was not run"


def not_passed(claim: Claim, done: Done) -> str:
    """Why tests, a build or a linter cannot have passed; empty if the last run of them did, or a text says so."""
    kinds = ENGLISH["kinds_of_runs"]
    kind = next((kinds[word[:4]] for word in claim.verb.casefold().split() if word[:4] in kinds), "")
    if claim.verb in words("them") and not says("tests", done.question):
        return ""
    runs = [call for call in done.runs if says("tests", call.given)]
    sort = re.search(r"\b(unit|integration|regression|smoke|e2e|end-to-end)\b", claim.sentence.plain, re.IGNORECASE)
    if sort and any(sort[1].casefold() in call.result.casefold() for call in runs):
        return ""
    if sort and runs and any(says("sort", call.given) for call in runs):
        runs = [call for call in runs if sort[1].casefold() in call.given]
        if not runs:
            return "that was not run"
    fitting = [call for call in runs if re.search(kind, call.given)]
    if fitting:
        is_good = fitting[-1].ok and not says("failed", fitting[-1].result[-20_000:])
        return "" if is_good else "the last run has failed"
    if runs:
        return "that was not run"
    told = [*(call.result for call in done.successes), *done.said]
    return "" if any(says("told_to_pass", text[:200_000]) for text in told) else "no call has run that"
