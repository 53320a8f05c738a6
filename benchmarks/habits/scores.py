"""What a query cost and what it brought, judged by what its calls have returned and its answer says.

Rules:

- A call is **needed** if its result shows, for the first time, a missing fact of the answer or the name of a source of
  one; of what is to be looked for in vain, the first search in each place to look is. Every other call that was run is
  unneeded: in hindsight, so an honest look in the wrong place counts as well, under every control alike.
- A turn is needed if one of its calls is, or if it says a fact of the answer for the first time.
- An answer is **complete** if it says every fact, and the query has come across each: nothing is right by luck.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.habits.tasks import Fact, Question
from benchmarks.habits.world import Ran

OVER_BUDGET = frozenset({"max_iterations", "token_budget", "timeout"})

Says = Callable[[Fact, str], bool]
"""Whether a text says a fact."""


def has_token(fact: Fact, text: str) -> bool:
    """Scripted agents say a fact by its token."""
    return fact.token in text


@dataclass(frozen=True)
class Score:
    """One conversation under one control; the sums over its questions.

    Args:
        calls: the tool calls that were run.
        unneeded_calls: those of them that the answer did not need.
        refused_calls: calls that were made and not run.
        turns: turns of the model.
        unneeded_turns: those that brought nothing.
        tokens: as the budget counts them.
        reasons: why each query ended.
        facts: facts of a whole answer.
        facts_said: those that the answer says.
        wasted: the unneeded calls, each `tool(first argument)`.
    """

    calls: int = 0
    unneeded_calls: int = 0
    refused_calls: int = 0
    turns: int = 0
    unneeded_turns: int = 0
    tokens: int = 0
    reasons: tuple[str, ...] = ()
    facts: int = 0
    facts_said: int = 0
    wasted: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        return self.facts_said == self.facts

    @property
    def is_within_budget(self) -> bool:
        """Whether every query ended before a limit of turns, tokens or time did it."""
        return not OVER_BUDGET & set(self.reasons)

    def __add__(self, other: "Score") -> "Score":
        return Score(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})


def score(
    question: Question,
    ran: Sequence[Ran],
    said: Sequence[str],
    *,
    earlier: str,
    made: int,
    tokens: int,
    reason: str,
    says: Says = has_token,
) -> Score:
    """Judge a query.

    Args:
        question: what was asked.
        ran: the calls that were run.
        said: the visible text of each turn.
        earlier: the visible text of the conversation before it.
        made: how many calls the model made.
        tokens: as the budget counts them.
        reason: why the query ended.
        says: whether a text says a fact.
    """
    needed = needed_calls(question.facts, ran, earlier=earlier)
    unneeded = [call for call, is_needed in zip(ran, needed, strict=True) if not is_needed]
    known = {fact for fact in question.facts if is_known(fact, ran, earlier=earlier)}
    answer = "\n".join(said)
    useful = {call.turn for call, is_needed in zip(ran, needed, strict=True) if is_needed}
    useful |= set(_turns_that_say(question.facts, said, says))
    return Score(
        calls=len(ran),
        unneeded_calls=len(unneeded),
        refused_calls=made - len(ran),
        turns=len(said),
        unneeded_turns=len(said) - len(useful),
        tokens=tokens,
        reasons=(reason,),
        facts=len(question.facts),
        facts_said=sum(says(fact, answer) for fact in known),
        wasted=tuple(_brief(call) for call in unneeded),
    )


def needed_calls(facts: Sequence[Fact], ran: Sequence[Ran], *, earlier: str = "") -> list[bool]:
    """Which calls brought something that the answer needs and that was not there before."""
    seen, needed = earlier, []
    looked: set[str] = set()
    for number, call in enumerate(ran):
        missing = [fact for fact in facts if not is_known(fact, ran[:number], earlier=earlier)]
        is_first_look = call.is_search and call.group not in looked
        brings = any(
            fact.token in call.text if fact.exists else is_first_look and call.group in fact.groups for fact in missing
        )
        needed.append(brings or _shows_a_source(missing, call, seen))
        looked |= {call.group} if call.is_search else set()
        seen = f"{seen}\n{call.text}"
    return needed


def is_known(fact: Fact, ran: Iterable[Ran], *, earlier: str) -> bool:
    calls = list(ran)
    if not fact.places:
        return True
    if fact.exists:
        return fact.token in earlier or any(fact.token in call.text for call in calls)
    looked = {call.group for call in calls if call.is_search}
    return looked.issuperset(fact.groups)


def _shows_a_source(missing: Iterable[Fact], call: Ran, seen: str) -> bool:
    paths = [place.partition(":")[2] for fact in missing if fact.exists for place in fact.places]
    return any(path in call.text and path not in seen for path in paths if path)


def _turns_that_say(facts: Sequence[Fact], said: Sequence[str], says: Says) -> Iterable[int]:
    """The turns in which a fact is said for the first time, from 1."""
    for fact in facts:
        first = next((number for number, text in enumerate(said, start=1) if says(fact, text)), None)
        if first is not None:
            yield first


def _brief(call: Ran) -> str:
    first = next(iter(call.arguments.values()), "")
    return f"{call.tool}({str(first)[:40]})"
