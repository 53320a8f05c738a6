"""The most that a run can cost, and what it is likely to cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.eval import judge
from benchmarks.eval.meter import DEAREST, PRICES_OF, listed_price
from benchmarks.habits.players import PLAYERS
from benchmarks.habits.tasks import Task
from oracle.decision import AgentConfig
from oracle.llm.protocol import Usage

LIKELY = Usage(input_tokens=0, cache_creation_tokens=6_000, cache_read_tokens=25_000, output_tokens=3_000)
"""A guess at one question under one control. Scripted agents without habits, with the real prompt and tools, write
1,600 tokens to the cache and read 11,000; a model looks around more, and thinks."""
LIKELY_S = 25


@dataclass(frozen=True)
class Bound:
    """The limits of all queries together, the judge's requests included.

    Args:
        questions: each is asked under every control.
        requests: to the provider.
        tokens: as a query's budget counts them: without cache reads; a query may exceed it by the input of one turn.
        dollars: if all of them are of the dearest kind, and each turn reads the whole budget from the cache.
        likely_dollars: a guess.
    """

    questions: int
    requests: int
    tokens: int
    dollars: float
    likely_dollars: float

    def lines(self, model: str, judging: str, *, budget_dollars: float) -> list[str]:
        unlisted = [each for each in dict.fromkeys((model, judging)) if each and listed_price(each) is None]
        minutes = self.questions * len(PLAYERS) * LIKELY_S / 60
        return [
            f"Questions: {self.questions}, under {len(PLAYERS)} controls each, to {model}.",
            f"The judge is {judging or 'left out'}.",
            f"At most {self.requests:,} requests and {self.tokens:,} tokens without cache reads.",
            f"At most ${self.dollars:,.2f} at the list prices of {PRICES_OF}.",
            *(f"{each} is not on the list: it counts as the dearest model that is." for each in unlisted),
            f"A guess at what it will be: ${self.likely_dollars:,.2f} and {minutes:.0f} minutes.",
            f"No request is sent once the provider has reported ${budget_dollars:,.2f} (--budget).",
        ]


def bound(tasks: Sequence[Task], model: str, judging: str) -> Bound:
    """The bound of some conversations.

    Args:
        tasks: what is left to ask.
        model: answers.
        judging: judges; empty if nothing does.
    """
    price, judges = listed_price(model) or DEAREST, listed_price(judging) or DEAREST
    questions = sum(len(task.questions) for task in tasks)
    requests, tokens, dollars = 0, 0, 0.0
    for player in PLAYERS:
        limits = AgentConfig().with_limits(player.limits)
        most = Usage(0, limits.token_budget, 0, 0), Usage(0, 0, 0, limits.token_budget)
        reads = Usage(0, 0, limits.token_budget, 0)
        requests += questions * limits.max_iterations
        tokens += questions * limits.token_budget
        dollars += questions * (max(map(price.dollars, most)) + limits.max_iterations * price.dollars(reads))
    likely = questions * len(PLAYERS) * price.dollars(LIKELY)
    if judging:
        said = Usage(judge.INPUT_PER_QUERY, 0, 0, judge.MOST_OUTPUT_TOKENS)
        better = Usage(judge.INPUT_PER_COMPARISON, 0, 0, judge.MOST_OUTPUT_TOKENS)
        for count, usage in (
            (questions * len(PLAYERS) * judge.REQUESTS_PER_QUERY, said),
            (len(tasks) * judge.REQUESTS_PER_COMPARISON, better),
        ):
            requests += count
            tokens += count * ((usage.input_tokens or 0) + (usage.output_tokens or 0))
            dollars += count * judges.dollars(usage)
            likely += count * judges.dollars(usage) / 3
    return Bound(questions, requests, tokens, dollars, likely)
