"""The conversations for a real model, and how an answer in its own words is judged.

The model says facts in words of its own and in the language of the question, so a fact counts as said if the answer
has its value: `7` of `MOST_ATTEMPTS = 7`. What cannot be decided so is left to the judge, if there is one.
"""

import re

from benchmarks.habits.tasks import BARREN, COMPOUND, LONG, PLAIN, TALK, TASKS, WRITING, Fact, Question, Task
from signals import SignalType

ASKS_BACK = Task(
    "asks back", (Question("Replace our note about it with the new text.", (Fact("what is meant", "?", ()),)),)
)
"""Only the user knows what is meant, so the answer is a question."""

ASKED: tuple[Task, ...] = (
    *PLAIN[::3],
    *COMPOUND[::2],
    *LONG[3:8:2],
    next(task for task in LONG if task.name == "tour"),
    *BARREN[1:],
    TALK[0],
    ASKS_BACK,
)
"""Some of the questions, because each costs money under three controls."""
ALL: tuple[Task, ...] = (*(task for task in TASKS if task not in WRITING), ASKS_BACK)
"""Every question but those that ask for a note: the next control would find it."""
BY_NAME = {task.name: task for task in ALL}

_GIVES_UP: frozenset[SignalType] = frozenset({"partial_answer", "stuck", "need_capability"})
_VALUE = re.compile(r'"([^"]+)"$|= ([\d._]+)$')
_WORDS = {
    "who signs": "Amara",
    "why": r"worker|schreib|écri",
    "spanish": r"translat|tradu",
    "auditor": "Kestrel",
    "cause": "Corvid",
    "objection": r"Norw|Norv",
    "state": r"quarter|Quartal|kwarta",
    "restore": "rewind",
    "staging": "/staging fork",
    "postgres 18": "I/O|generated|asyn",
    "python 3.14": r"template|lazi",
    "kubernetes": "cgroup",
}
"""What an answer has that says a fact which is no figure, in any of the languages asked in."""
_NOTHING = re.compile(r"\b(no|not|nothing|none|never|kein\w*|nicht\w*|pas|rien|aucun\w*|nie|nada)\b", re.IGNORECASE)


def says_value(fact: Fact, text: str) -> bool:
    """Whether a text says a fact in words of its own: by its value, its figures, or the words that it must have."""
    if not fact.places:
        return ("?" in text) if fact.token == "?" else bool(text.strip())
    if not fact.exists:
        return _NOTHING.search(text) is not None
    if fact.key in _WORDS:
        return re.search(_WORDS[fact.key], text, re.IGNORECASE) is not None
    value = _VALUE.search(fact.token)
    wanted = [value[1] or value[2]] if value else re.findall(r"\d[\d.:]*", fact.token)
    plain = text.replace(",", "").replace("_", "")
    return bool(wanted) and all(
        re.search(rf"(?<![\w.]){re.escape(each.replace('_', ''))}(?!\w|[.:]\d)", plain) for each in wanted
    )


def needs_judge(fact: Fact, text: str) -> bool:
    """Whether the value does not decide: it is not there, or what was looked for is nowhere and any "not" would do."""
    return bool(fact.places) and (not fact.exists or not says_value(fact, text))


def fitting_signals(task: Task, *, is_complete: bool) -> frozenset[SignalType]:
    """The signals that are right for the last response of an answer."""
    if task is ASKS_BACK:
        return frozenset({"partial_answer"})
    barren = all(not fact.exists for question in task.questions for fact in question.facts)
    enough: frozenset[SignalType] = frozenset({"context_sufficient"}) if is_complete else frozenset()
    return enough | (_GIVES_UP if barren or not is_complete else frozenset())
