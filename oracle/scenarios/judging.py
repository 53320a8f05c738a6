"""Compares what was played with what must happen, and says what differs."""

from collections.abc import Iterator
from dataclasses import dataclass

from bt_runtime.text import Mistake, format_mistakes, visible
from oracle.chunks import Done
from oracle.scenarios.differences import Difference, shown
from oracle.scenarios.expectations import EXPECTATIONS
from oracle.scenarios.model import Scenario
from oracle.scenarios.played import Played
from oracle.scenarios.story import story_of
from signals import parse

_MUST_EXPLAIN = frozenset({"max_iterations", "token_budget", "timeout", "no_progress", "error_limit", "error", "stuck"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a scenario went.

    Args:
        differences: none if it passed.
        played: what happened.
    """

    scenario: Scenario
    played: Played
    differences: tuple[Difference, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is as stated."""
        return not self.differences

    def report(self, source: str) -> str:
        """The differences with their places, and what happened; empty if it passed.

        Args:
            source: the text of the scenario's file.
        """
        if self.passed:
            return ""
        blocks = []
        for each in self.differences:
            place = self.scenario.place_of(each.path)
            what = "/".join(map(str, each.path[:1])) or "a rule of every query"
            mistake = Mistake(place, f"{self.scenario.name}: {what}", each.hint)
            text = format_mistakes([mistake], {place.file: source})
            blocks.append(f"{text}\n  expected: {visible(each.stated)}\n  got:      {visible(each.got)}")
        story = "\n".join(f"    {visible(line)}" for line in story_of(self.played))
        return "\n".join([*blocks, "  what happened:", story])


def judge(scenario: Scenario, played: Played) -> Verdict:
    """Compare."""
    found = [
        difference
        for name, stated in scenario.expect.items()
        for difference in EXPECTATIONS[name].compare((name,), stated, played)
    ]
    return Verdict(scenario, played, (*found, *_rules(played)))


def _rules(played: Played) -> Iterator[Difference]:
    """What holds for every query, and is not stated."""
    ends = [chunk for chunk in played.chunks if isinstance(chunk, Done)]
    if len(ends) != 1 or not isinstance(played.chunks[-1], Done):
        yield Difference((), "one 'done', as the last chunk", f"{len(ends)} of them")
        return
    answer = played.answer
    if answer.text != played.saved:
        yield Difference((), f"the conversation keeps the answer {shown(answer.text)}", shown(played.saved))
    if parse(answer.text).readings:
        yield Difference((), "no signal in the answer", shown(answer.text))
    if answer.open_calls:
        names = ", ".join(call.name for call in answer.open_calls)
        yield Difference((), "a result for each tool call", f"none for {names}")
    if ends[0].termination_reason in _MUST_EXPLAIN and "Stopped: " not in answer.text:
        yield Difference((), "a last sentence that says why the query stopped", shown(answer.text))
    if played.turns_played < played.turns_scripted:
        stated = f"all {played.turns_scripted} turns of the model are played"
        yield Difference((), stated, f"only {played.turns_played} were asked for")
