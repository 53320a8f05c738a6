"""When what was found is enough, and which further call is needless.

The heuristic is the default implementation of `SufficiencyJudge`; a trained model can replace it.

Where what was gathered suffices, a call that can only repeat what is known is not run. The rules err on the side of
running a call:

- A call that writes, and a read of anything that was not read, always run.
- A search runs if at least half of its words are **leads**: not searched for before, and words of the question or of
  what was found. So who follows a name from one file to the next is never held up. It is held back if most of its
  words were searched for before, or half of them where more was tried without success.
- Words that were neither searched for nor found may be a synonym or another language: two different searches without
  success come first, unless the model says that it has what it needs.
- A call that was made a moment ago is left to the `no_progress` guard, as it may be one who waits for a job, until
  another one was held back.
"""

import json
from collections.abc import Sequence
from typing import Final, Protocol

from oracle.agent.gathering import OPEN, Sufficiency
from oracle.decision import ToolAction, canonical_arguments
from oracle.decision.progress import LONGEST_PERIOD
from oracle.gathering.gathered import Gathered, Tried, searched

_LEADS = 0.5
_OLD_WORDS = 0.5
_WORDINGS = 2
"""Different searches in a row without success, after which other words are expected to find nothing either."""

_KNOWN_WEIGHT: Final = 2
"""A call that brings what is known weighs more than a turn that finds nothing: other words may still find something."""
_ENOUGH: Final = 2
_FIRM: Final = 4
_ENOUGH_WITHOUT: Final = 3
_FIRM_WITHOUT: Final = 6
"""Empty turns that count where nothing was found at all."""
ANSWERED: Final = Sufficiency("answered")


class SufficiencyJudge(Protocol):
    """Says whether what was gathered suffices.

    A judge must be a pure function: a replay asks again, and must get the same verdict.
    """

    @property
    def name(self) -> str:
        """For logs."""
        ...

    def judge(self, gathered: Gathered) -> Sufficiency:
        """The verdict after the tools of a turn; must not wait."""
        ...


class HeuristicSufficiency:
    """Judges by what the sources have answered, and how many turns of tools in a row have brought nothing new.

    - `said_so`: the model itself said so beside its last calls, and something was found. Firm at once.
    - `nothing_new`: something was found, and then one call brought what was known, or two turns found nothing. Firm
      after twice as much.
    - `answered`: the sources that the question needs have answered.
    - `nothing_found`: three turns in a row found nothing, and nothing was found before. Firm after six.
    """

    name = "heuristic"

    def judge(self, gathered: Gathered) -> Sufficiency:
        """The verdict."""
        if gathered.has_found:
            if gathered.said_sufficient:
                return Sufficiency("said_so", is_firm=True)
            weight = _KNOWN_WEIGHT * gathered.known_calls + gathered.empty_turns
            if weight >= _ENOUGH:
                return Sufficiency("nothing_new", is_firm=weight >= _FIRM)
            return ANSWERED if gathered.answers_question else OPEN
        empty = gathered.empty_turns
        return Sufficiency("nothing_found", is_firm=empty >= _FIRM_WITHOUT) if empty >= _ENOUGH_WITHOUT else OPEN


def why_needless(
    gathered: Gathered,
    verdict: Sufficiency,
    *,
    tool: str,
    arguments: object,
    writes: bool,
    recent: Sequence[ToolAction] = (),
    is_first: bool = True,
) -> str:
    """Why a call need not be run; empty if it may bring something.

    Args:
        gathered: the results of all earlier calls of the query.
        verdict: whether that suffices.
        tool: the name of the tool that the model calls.
        arguments: the JSON object that the model sent, unchanged.
        writes: the tool changes data.
        recent: the latest actions, oldest first.
        is_first: no call was held back since anything new was found.
    """
    if verdict.reason in ("", "answered") or writes:
        return ""
    canonical = canonical_arguments(arguments)
    before = [each for each in gathered.repeatable if each.tool == tool and each.brought != "error"]
    if any(each.arguments == canonical for each in before):
        # Once one was held back, the guard no longer sees what the model repeats.
        latest = recent[-LONGEST_PERIOD:] if is_first else ()
        at_once = any((each.tool, each.arguments) == (tool, canonical) for each in latest)
        return "" if at_once else "the same call was run before, and nothing has changed since"
    words, shown = searched(arguments)
    return _why_search(gathered, verdict, words, before) if shown else _why_read(verdict, arguments, before)


def _why_read(verdict: Sufficiency, arguments: object, before: Sequence[Tried]) -> str:
    named = _named(arguments)
    is_known = any(each.brought == "known" and _named(json.loads(each.arguments)) == named for each in before)
    return "reading on in it brought nothing new" if verdict.is_firm and named and is_known else ""


def _named(arguments: object) -> frozenset[str]:
    """What a read is of: its arguments that are text, without numbers of lines and the like."""
    return (
        frozenset(each for each in arguments.values() if isinstance(each, str))
        if isinstance(arguments, dict)
        else frozenset()
    )


def _why_search(gathered: Gathered, verdict: Sufficiency, words: frozenset[str], before: Sequence[Tried]) -> str:
    searches = [each for each in before if each.is_search]
    old = frozenset[str]().union(*(each.words for each in searches))
    leads = (words - old) & (gathered.words | gathered.question)
    if not searches or (words and len(leads) >= _LEADS * len(words)):
        return ""
    share = len(words & old) / len(words) if words else 1
    if share > _OLD_WORDS or (share == _OLD_WORDS and verdict.is_firm):
        return "these words were searched for before"
    if verdict.reason == "said_so":
        return "you have what you need, and neither the question nor a result has these words"
    if verdict.is_firm and gathered.dry_wordings >= _WORDINGS:
        return "the last searches brought nothing new, and neither the question nor a result has these words"
    return ""
