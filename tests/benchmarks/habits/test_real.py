"""The questions for a real model, asked of one that is scripted; and how an answer in its own words is judged."""

from collections.abc import AsyncGenerator

import pytest

from benchmarks.habits import real
from benchmarks.habits.mind import Mind
from benchmarks.habits.players import PLAYERS
from benchmarks.habits.tasks import ATTEMPTS, BARREN, COMPOUND, DEAD, PLAIN, REFUND, SIGNS, TASKS, Fact
from benchmarks.habits.view import view_of
from oracle.models.protocol import ModelEvent, ModelRequest
from oracle.testing import ScriptedModel

ABSENT = BARREN[0].questions[0].facts[0]
SAID = {
    "a constant": (ATTEMPTS, "It tries 7 times (`src/ferry/retries.py:3`).", True),
    "another figure": (ATTEMPTS, "It tries 17 times, or 7.5.", False),
    "text in quotes": (DEAD, "They go to the queue `ferry.undelivered.v2`.", True),
    "in another language": (REFUND, "Nach 14 Werktagen.", True),
    "a name": (SIGNS, "Das zeichnet Amara Obi.", True),
    "nothing found": (ABSENT, "I did not find drones in the code.", True),
    "something found": (ABSENT, "Drones are in src/drones.py.", False),
}
STATED = {fact.key: fact for task in TASKS for question in task.questions for fact in question.facts if fact.places}


@pytest.mark.parametrize(("fact", "answer", "said"), SAID.values(), ids=SAID)
def test_a_fact_is_said_by_its_value(fact, answer, said) -> None:
    assert real.says_value(fact, answer) == said


@pytest.mark.parametrize("fact", [pytest.param(fact, id=key) for key, fact in STATED.items() if not fact.write])
def test_each_fact_says_itself_and_an_empty_phrase_says_none(fact: Fact) -> None:
    assert real.says_value(fact, fact.token)
    assert not real.says_value(fact, "There is an answer.")


class Thorough:
    """Answers every question as an agent without habits does."""

    name = "thorough"
    has_web_search = True

    async def aclose(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        asked = str([message["content"] for message in request.messages if message["role"] == "user"])
        found = [(asked.rfind(question.text), task, question) for task in TASKS for question in task.questions]
        _, task, question = max(found, key=lambda each: each[0])
        turn = Mind(view_of(request, question), task, "seed", 1.0).sensible()
        async for event in ScriptedModel([turn]).stream(request):
            yield event


async def test_every_question_is_asked_under_every_control_and_scored_like_a_scripted_one() -> None:
    lines: list[str] = []
    tasks = (PLAIN[0], next(task for task in COMPOUND if len(task.questions) == 2))
    played = await real.measure(Thorough(), write=lines.append, tasks=tasks)
    assert [(each.conversation.task.name, each.player) for each in played] == [
        (task.name, player.name) for task in tasks for player in PLAYERS
    ]
    by_tree = [each.score for each in played if each.player == "tree"]
    assert [score.is_complete for score in by_tree] == [True, True]
    assert [score.unneeded_calls for score in by_tree] == [0, 0]
    assert lines[0].startswith("attempts             tree     2 turns,  1 calls,  0 unneeded")
    assert any(line.strip().startswith("unneeded calls, less than legacy") for line in lines)


def test_nothing_is_written_and_the_cost_has_an_upper_bound() -> None:
    assert not any(fact.write for task in real.ASKED for question in task.questions for fact in question.facts)
    assert real.bound() < 3_000_000
    assert real.bound(real.ASKED[:1]) == len(PLAYERS) * real.TOKENS_PER_QUERY
