"""Asks a conversation under a control, and judges the answer like those of the scripted agents."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.eval.judge import Judge
from benchmarks.eval.meter import MeteredModel
from benchmarks.eval.questions import needs_judge, says_value
from benchmarks.eval.record import Answer, Query, Spent
from benchmarks.habits.players import PLAYERS, Player, oracle_with_legacy
from benchmarks.habits.playing import as_shown
from benchmarks.habits.scores import Says, Score, is_known, score
from benchmarks.habits.tasks import Fact, Question, Task
from benchmarks.habits.world import World
from oracle.agent.answering import Ask
from oracle.core.chunks import Chunk, Content, Done, Failed, ToolCalled
from oracle.server.settings.fields import Settings

_ANSWERS = frozenset({"provider_refused", "context_too_large"})
"""Failures that belong to the question, and not to the day."""


class NotAnsweredError(Exception):
    """A query ended before the control or the model did; it says nothing about either."""


def order(task: Task) -> list[Player]:
    """The controls in the order in which they are asked: each is first for a third of the conversations, or about."""
    first = sum(map(ord, task.name)) % len(PLAYERS)
    return [*PLAYERS[first:], *PLAYERS[:first]]


class Stage:
    """The stand-in world, and an `Oracle` that has all three controls.

    Args:
        model: answers.
        folder: an empty folder.
        settings: how much the model may think and say in a turn.
        judge: decides what values do not; `None`: nothing does.
        now_s: a clock.
    """

    def __init__(
        self, model: MeteredModel, folder: Path, settings: Settings, judge: Judge | None, *, now_s: Callable[[], float]
    ) -> None:
        for name in ("world", "trees"):
            (folder / name).mkdir()
        self._model, self._judge, self._now_s = model, judge, now_s
        self._world = World(folder / "world", turn=lambda: model.begun)
        self._oracle = oracle_with_legacy(
            model,
            self._world.tools(),
            trees=folder / "trees",
            thinking_tokens=settings.thinking_tokens,
            max_output_tokens=settings.max_output_tokens,
        )

    async def ask(self, task: Task, player: Player) -> Answer:
        """Ask the questions of a conversation one after the other.

        Raises:
            NotAnsweredError: the provider failed, or the budget is spent.
            ModelError: the same, of the judge.
        """
        total, earlier, context_id = Score(), "", None
        queries: list[Query] = []
        bill = Spent()
        for question in task.questions:
            self._world.reset()
            self._model.bill = bill
            chunks, times = await self._ask(question, player, context_id)
            bill = self._model.bill
            query, found = await self._judged(question, chunks, times, earlier=earlier)
            queries.append(query)
            total += found
            earlier, context_id = f"{earlier}\n{query.answer}", _done(chunks).context_id
        self._world.reset()
        return Answer(task.name, player.name, replace(total, tokens=bill.budget_tokens), bill, tuple(queries))

    async def _ask(
        self, question: Question, player: Player, context_id: str | None
    ) -> tuple[list[Chunk], tuple[float, float | None]]:
        """The chunks, and how long it took to the end and to the first words."""
        chunks: list[Chunk] = []
        first_words: list[float] = []

        def emit(chunk: Chunk) -> None:
            chunks.append(chunk)
            if isinstance(chunk, Content) and not first_words:
                first_words.append(self._now_s() - began_s)

        self._model.begin()
        ask = Ask(question.text, tree=player.tree, limits=player.limits, context_id=context_id)
        began_s = self._now_s()
        query = await self._oracle.open(ask, emit=emit)
        await query.run()
        failed = next((chunk for chunk in chunks if isinstance(chunk, Failed)), None)
        if failed is not None and failed.error_type not in _ANSWERS:
            fault = self._model.fault
            raise NotAnsweredError(failed.error if fault is None else fault.cause or fault.message)
        return chunks, (self._now_s() - began_s, next(iter(first_words), None))

    async def _judged(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        times: tuple[float, float | None],
        *,
        earlier: str,
    ) -> tuple[Query, Score]:
        done = _done(chunks)
        answer = "".join(chunk.content for chunk in chunks if isinstance(chunk, Content))
        turns, ran = tuple(self._model.turns), self._world.ran
        said = as_shown([turn.parsed.text for turn in turns], answer)
        known = [fact for fact in question.facts if is_known(fact, ran, earlier=earlier)]
        open_facts = [fact for fact in known if needs_judge(fact, "\n".join(said))]
        judged = await self._judge.said(question.text, answer, open_facts) if self._judge else {}
        found = score(
            question,
            ran,
            said,
            earlier=earlier,
            made=sum(isinstance(chunk, ToolCalled) for chunk in chunks),
            tokens=done.tokens_used,
            reason=done.termination_reason,
            says=_says(judged, last=said[-1] if said else ""),
        )
        return Query(answer, turns, tuple(call.group for call in ran), *times, judged), found


def _done(chunks: Sequence[Chunk]) -> Done:
    done = chunks[-1]
    assert isinstance(done, Done)
    return done


def _says(judged: dict[str, bool], *, last: str) -> Says:
    """Values decide, unless the judge has; it does not say in which turn a fact was said, so that is the last one."""

    def says(fact: Fact, text: str) -> bool:
        return judged[fact.key] and text.endswith(last) if fact.key in judged else says_value(fact, text)

    return says
