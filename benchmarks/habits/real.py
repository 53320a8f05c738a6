"""The same questions, controls and scores for a real model; `make eval` asks them.

The agent is the model itself, so there is no obedience to assume. It says facts in words of its own and in the language
of the question, so a fact counts as said if the answer has its value: `7` of `MOST_ATTEMPTS = 7`. It must have come
across the fact as well, as always.
"""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.habits.conversations import Conversation
from benchmarks.habits.good_habits import thorough
from benchmarks.habits.players import PLAYERS, Player, oracle_with_legacy
from benchmarks.habits.playing import Played
from benchmarks.habits.report import table
from benchmarks.habits.scores import Score, score
from benchmarks.habits.tasks import BARREN, COMPOUND, LONG, PLAIN, Fact, Task
from benchmarks.habits.world import World
from oracle.answering import Ask, Oracle
from oracle.chunks import Chunk, Content, Done, ToolCalled
from oracle.models import Model
from oracle.models.protocol import ModelEvent, ModelRequest, TextDelta
from signals import parse

TOKENS_PER_QUERY = 40_000
ASKED: tuple[Task, ...] = (*PLAIN[::3], *COMPOUND[::2], *LONG[3:8:2], *BARREN[1:])
"""Some of the questions, because each costs money under three controls; none of them writes."""

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


class CountedModel:
    """Keeps the text of each turn of a query."""

    def __init__(self, model: Model) -> None:
        self.texts: list[str] = []
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def has_web_search(self) -> bool:
        """The stand-in's pages are searched, not the real web."""
        return False

    async def aclose(self) -> None:
        """Do nothing; the caller closes the model."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        number = len(self.texts)
        self.texts.append("")
        async with aclosing(self._model.stream(replace(request, web_search=False))) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    self.texts[number] += event.text
                yield event


def bound(tasks: Sequence[Task] = ASKED) -> int:
    """The most tokens that the questions use, about."""
    return sum(len(task.questions) for task in tasks) * len(PLAYERS) * TOKENS_PER_QUERY


async def measure(model: Model, *, write: Callable[[str], None], tasks: Sequence[Task] = ASKED) -> list[Played]:
    """Ask every question under every control and write the table of the scripted conversations.

    Args:
        model: answers.
        write: gets each line.
        tasks: what is asked.
    """
    played: list[Played] = []
    with TemporaryDirectory(prefix="oracle-eval-habits-") as name:
        for each in ("world", "trees"):
            (Path(name) / each).mkdir()
        counted = CountedModel(model)
        world = World(Path(name) / "world", turn=lambda: len(counted.texts))
        oracle = oracle_with_legacy(counted, world.tools(), trees=Path(name) / "trees")
        for task in tasks:
            for player in PLAYERS:
                found = await _score(oracle, counted, world, task, player)
                played.append(Played(Conversation("model", thorough, task, is_good=False), player.name, 1.0, found))
                write(_line(played[-1]))
    for line in [
        "",
        f"{len(tasks)} conversations with {model.name} about the product of docs/measured.md",
        *table(played),
    ]:
        write(line)
    return played


async def _score(oracle: Oracle, model: CountedModel, world: World, task: Task, player: Player) -> Score:
    """Ask the questions of a conversation, and judge the answers."""
    total, earlier, context_id = Score(), "", None
    limits = {**player.limits, "token_budget": TOKENS_PER_QUERY}
    for question in task.questions:
        world.reset()
        model.texts = []
        chunks: list[Chunk] = []
        query = await oracle.open(
            Ask(question.text, tree=player.tree, limits=limits, context_id=context_id), emit=chunks.append
        )
        await query.run()
        done = chunks[-1]
        assert isinstance(done, Done)
        total += score(
            question,
            world.ran,
            [parse(text).text for text in model.texts],
            earlier=earlier,
            made=sum(isinstance(chunk, ToolCalled) for chunk in chunks),
            tokens=done.tokens_used,
            reason=done.termination_reason,
            says=says_value,
        )
        earlier += "".join(chunk.content for chunk in chunks if isinstance(chunk, Content))
        context_id = done.context_id
    world.reset()
    return total


def _line(played: Played) -> str:
    found = played.score
    return (
        f"{played.conversation.task.name:<20} {played.player:<7} {found.turns:2} turns, {found.calls:2} calls, "
        f"{found.unneeded_calls:2} unneeded, {found.tokens:6,} tokens, {found.facts_said}/{found.facts} facts, "
        f"{', '.join(found.reasons)}"
    )
