"""Plays conversations: one agent with one task under one control, through the real `Oracle` and the real tools."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.habits.advice import kind_of
from benchmarks.habits.conversations import Conversation
from benchmarks.habits.mind import Mind
from benchmarks.habits.players import PLAYERS, Player, PlayerName, oracle_with_legacy
from benchmarks.habits.scores import Score, score
from benchmarks.habits.tasks import Question
from benchmarks.habits.view import view_of
from benchmarks.habits.world import World
from oracle.agent.answering import Ask, Oracle
from oracle.agent.planning import message_characters
from oracle.core.chunks import Chunk, Content, Done
from oracle.llm.protocol import ModelEvent, ModelRequest, Usage
from oracle.testing import ScriptedModel, ScriptedTurn
from signals import parse

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Played:
    """A conversation under a control.

    Args:
        conversation: the agent and its task.
        player: the control.
        obedience: the share of the control's notes that the agent obeyed.
        score: what it cost and brought.
    """

    conversation: Conversation
    player: PlayerName
    obedience: float
    score: Score


class HabitModel:
    """A model whose turns an agent decides, from each request alone; reports usage like a provider with a cache."""

    name = "habits"
    has_web_search = False

    def __init__(self) -> None:
        self.texts: list[str] = []
        """The visible text of each turn of the query."""
        self.made = 0
        """The calls of the query."""
        self.was_advised = False
        """Whether the control has asked the agent for anything, in any query since this was set to false."""
        self._conversation: Conversation | None = None
        self._question: Question | None = None
        self._obedience = 0.0
        self._cached: tuple[tuple[str, ...], int] = ((), 0)
        self._scripted = ScriptedModel(self._turns())

    def take(self, conversation: Conversation, question: Question, *, obedience: float) -> None:
        """Be this agent, for a question of its task."""
        self._conversation, self._question, self._obedience = conversation, question, obedience
        self._scripted.requests.clear()
        self.texts, self.made, self._cached = [], 0, ((), 0)

    async def aclose(self) -> None:
        """There is nothing to close."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        async for event in self._scripted.stream(request):
            yield event

    def _turns(self) -> Iterator[ScriptedTurn]:
        while True:
            assert self._conversation is not None
            assert self._question is not None
            request, each = self._scripted.requests[-1], self._conversation
            mind = Mind(view_of(request, self._question), each.task, each.name, self._obedience)
            advice = mind.advice
            self.was_advised |= any(kind_of(note) != "none" for _, note in mind.view.notes)
            if advice.answer:
                turn = mind.answer()
            elif advice.change or advice.conclude:
                turn = mind.sensible()
            else:
                turn = each.agent(mind)
            if turn.tool_calls and not mind.view.may_call:
                turn = mind.answer()
            text = "".join(turn.text_pieces)
            self.texts.append(parse(text).text)
            self.made += len(turn.tool_calls)
            yield ScriptedTurn(text=text, tool_calls=turn.tool_calls, usage=self._usage(request, turn))

    def _usage(self, request: ModelRequest, turn: ScriptedTurn) -> Usage:
        tools = tuple(tool.name for tool in request.tools)
        tokens = (len(request.system) + message_characters(request.messages)) // CHARACTERS_PER_TOKEN
        known_tools, known = self._cached
        read = known if tools == known_tools else 0
        self._cached = tools, tokens
        said = len(turn.text) + sum(len(str(call.arguments)) for call in turn.tool_calls)
        return Usage(0, tokens - read, read, max(1, said // CHARACTERS_PER_TOKEN))


class Stage:
    """One process's world, model and `Oracle`; conversations are played on it one after the other."""

    def __init__(self, folder: Path) -> None:
        for name in ("world", "trees"):
            (folder / name).mkdir()
        self.model = HabitModel()
        self.world = World(folder / "world", turn=lambda: len(self.model.texts))
        self.oracle: Oracle = oracle_with_legacy(self.model, self.world.tools(), trees=folder / "trees")

    async def play(self, conversation: Conversation, player: Player, *, obedience: float) -> Played:
        """Ask the questions of a conversation under a control, and judge the answers."""
        total, earlier, context_id = Score(), "", None
        for question in conversation.task.questions:
            self.world.reset()
            self.model.take(conversation, question, obedience=obedience)
            answer, done = await self._ask(question, player, context_id)
            total += score(
                question,
                self.world.ran,
                as_shown(self.model.texts, answer),
                earlier=earlier,
                made=self.model.made,
                tokens=done.tokens_used,
                reason=done.termination_reason,
            )
            earlier, context_id = f"{earlier}\n{answer}", done.context_id
        self.world.reset()
        return Played(conversation, player.name, obedience, total)

    async def _ask(self, question: Question, player: Player, context_id: str | None) -> tuple[str, Done]:
        chunks: list[Chunk] = []
        ask = Ask(question.text, tree=player.tree, limits=player.limits, context_id=context_id)
        query = await self.oracle.open(ask, emit=chunks.append)
        await query.run()
        done = chunks[-1]
        assert isinstance(done, Done)
        assert done.termination_reason != "error", (question.text, player.name, chunks[-3:])
        return "".join(chunk.content for chunk in chunks if isinstance(chunk, Content)), done


def as_shown(texts: Sequence[str], answer: str) -> list[str]:
    """The text of each turn as far as the user has got it."""
    return [text if text.strip() in answer else "" for text in texts]


async def play_all(
    conversations: Sequence[Conversation], obediences: Sequence[float], *, players: Sequence[Player] = PLAYERS
) -> list[Played]:
    """Play every conversation under every control, at every obedience."""
    with TemporaryDirectory(prefix="oracle-habits-") as folder:
        stage = Stage(Path(folder))
        played: list[Played] = []
        for conversation in conversations:
            for player in players:
                stage.model.was_advised = True
                for obedience in obediences:
                    if stage.model.was_advised:  # else there was nothing to obey, and the next one would be the same
                        stage.model.was_advised = False
                        last = await stage.play(conversation, player, obedience=obedience)
                    played.append(replace(last, obedience=obedience))
        return played


def play(conversations: Sequence[Conversation], obediences: Sequence[float]) -> list[Played]:
    """`play_all` for a process of its own."""
    return asyncio.run(play_all(conversations, obediences))
