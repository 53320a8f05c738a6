"""The result of a verification: a verdict on each property, the figures, and the bounds that it holds within."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from bt_runtime.text.phrases import counted
from oracle.authoring.verifying.stories import Counterexample

Verdict = Literal["proven", "refuted", "not_decided"]

WORDS: Final[dict[Verdict, str]] = {"proven": "proven", "refuted": "REFUTED", "not_decided": "not decided"}


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one property.

    Args:
        text: the sentence for people.
        verdict: `proven` within the bounds, `refuted` by a counterexample, or `not_decided`.
        problem: what is wrong, or why it is not decided; empty if it is proven.
        story: the shortest counterexample; `None` if there is none.
        is_rule: the tree declares the property.
        others: further counterexamples, in which something else is wrong or other nodes lead to it.
    """

    name: str
    text: str
    verdict: Verdict
    problem: str = ""
    story: Counterexample | None = None
    is_rule: bool = False
    others: tuple[Counterexample, ...] = ()

    def lines(self) -> list[str]:
        """What is wrong, and the stories."""
        lines = [*self.problem.splitlines(), *(self.story.lines() if self.story else [])]
        for story in self.others:
            lines += ["Another way:", *story.lines()]
        return lines


@dataclass(frozen=True, slots=True)
class Report:
    """The verdicts on one tree.

    Args:
        tree: its name.
        results: in the order of the properties.
        turns: the most turns of a run that was explored.
        states: different states.
        transitions: events that were played.
        ends: of these, those that ended a run.
        megabytes: the most memory that the process has had.
        bound: what stopped the exploration; empty if it is complete.
    """

    tree: str
    results: tuple[Result, ...]
    turns: int
    states: int = 0
    transitions: int = 0
    ends: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    bound: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of all verdicts."""
        verdicts = {result.verdict for result in self.results}
        order: tuple[Verdict, ...] = ("refuted", "not_decided")
        return next((verdict for verdict in order if verdict in verdicts), "proven")

    def result(self, name: str) -> Result:
        """The verdict on the property of that name.

        Raises:
            KeyError: there is none.
        """
        try:
            return next(result for result in self.results if result.name == name)
        except StopIteration:
            raise KeyError(name) from None

    def lines(self) -> list[str]:
        """The report as text."""
        done = f"stopped at {self.bound}" if self.bound else "complete"
        lines = [f"{self.tree}: {WORDS[self.verdict]}"]
        width = max((len(result.name) for result in self.results), default=0)
        for result in self.results:
            lines.append(f"  {WORDS[result.verdict]:<11}  {result.name:<{width}}  {result.text}")
            lines += [f"      {line}" for line in result.lines()]
        lines.append(
            f"  explored: up to {counted(self.turns, 'turn')}, {self.states:,} states, {self.transitions:,} "
            f"transitions, {self.ends:,} ends; {self.seconds:.1f} s, {self.megabytes:.0f} MB; {done}"
        )
        return lines

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "tree": self.tree,
            "verdict": self.verdict,
            "properties": [
                {
                    "name": result.name,
                    "text": result.text,
                    "verdict": result.verdict,
                    "problem": result.problem,
                    "is_rule": result.is_rule,
                    "story": None if result.story is None else result.story.lines(),
                    "other_stories": [story.lines() for story in result.others],
                }
                for result in self.results
            ],
            "bounds": {"turns": self.turns, "stopped_at": self.bound or None},
            "states": self.states,
            "transitions": self.transitions,
            "ends": self.ends,
            "seconds": round(self.seconds, 3),
            "megabytes": round(self.megabytes, 1),
        }
