"""The conversations: 104 agents with old habits, and 40 good ones.

Tasks go to habits in turn, by position alone; nobody has chosen a task for a habit because of how it ends. Only those
who give up need a task of more than one look, else there is nothing to give up.
"""

from dataclasses import dataclass

from benchmarks.habits.bad_habits import GATHERING, TALKING, Agent
from benchmarks.habits.error_habits import CIRCLING
from benchmarks.habits.good_habits import (
    answers_in_parts,
    asks_for_a_turn_once,
    errs_once,
    talks_beside_calls,
    thorough,
    thorough_in_parallel,
)
from benchmarks.habits.tasks import BARREN, COMPOUND, LONG, PLAIN, TALK, WRITING, Task

OLD = {**GATHERING, **TALKING, **CIRCLING}
_NEED_WORK = frozenset({"gives_up_stuck", "gives_up_partly", "asks_before_each_call"})


@dataclass(frozen=True)
class Conversation:
    """An agent with a task.

    Args:
        habit: the name of the agent.
        agent: says what it does in a turn.
        task: what the user asks.
        is_good: the agent has no old habit.
    """

    habit: str
    agent: Agent
    task: Task
    is_good: bool

    @property
    def name(self) -> str:
        return f"{self.habit}: {self.task.name}"


def _old() -> list[Conversation]:
    found = []
    for number, (habit, agent) in enumerate(OLD.items()):
        plain = [PLAIN[(3 * number + offset) % len(PLAIN)] for offset in (0, 8, 17)]
        compound = [COMPOUND[(4 * number + offset) % len(COMPOUND)] for offset in range(4)]
        tasks = compound if habit in _NEED_WORK else [*plain, compound[0]]
        found += [Conversation(habit, agent, task, is_good=False) for task in tasks]
    return found


def _good() -> list[Conversation]:
    long = [
        Conversation(agent.__name__, agent, task, is_good=True)
        for task in LONG
        for agent in ((answers_in_parts,) if task.parts > 1 else (thorough, thorough_in_parallel))
    ]
    agents = (thorough, talks_beside_calls, asks_for_a_turn_once, errs_once)
    rest = [*COMPOUND, *BARREN, *WRITING, *TALK, PLAIN[0], PLAIN[12]]
    return long + [
        Conversation(agent.__name__, agent, task, is_good=True)
        for task, agent in zip(rest, agents * len(rest), strict=False)
    ]


CONVERSATIONS: tuple[Conversation, ...] = (*_old(), *_good())
