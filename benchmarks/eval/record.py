"""A run as a file: what was asked, every answer with its score, and what was spent. It is written after each answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from benchmarks.eval.questions import BY_NAME
from benchmarks.habits.players import PlayerName
from benchmarks.habits.scores import Score
from oracle.core.errors import OperatorError
from signals import ParsedResponse, parse

Verdict = Literal["tree", "loop", "same", "?"]


class RunFileError(OperatorError):
    """A file that holds no run, or another one than asked for."""


@dataclass(frozen=True)
class Spent:
    """Requests, tokens by price, and dollars.

    Args:
        estimated: the requests whose usage the provider did not report, or not to the end.
    """

    requests: int = 0
    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0
    dollars: float = 0.0
    estimated: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))

    @property
    def budget_tokens(self) -> int:
        """As a query's token budget counts them: without cache reads."""
        return self.input_tokens + self.cache_write_tokens + self.output_tokens


@dataclass(frozen=True)
class Turn:
    """One turn of the model.

    Args:
        text: the whole response, signal included.
        calls: the number of tool calls.
        prompt_tokens: the estimated size of the system prompt.
    """

    text: str
    calls: int
    prompt_tokens: int

    @property
    def parsed(self) -> ParsedResponse:
        return parse(self.text)


@dataclass(frozen=True)
class Query:
    """One question of a conversation under a control.

    Args:
        answer: what the user saw.
        turns: the model's own words.
        groups: the groups of the tools that were called.
        seconds: until the end.
        first_words_s: until the first words of the answer; `None` if there were none.
        judged: the facts whose values the answer does not have, and whether the judge found them said.
    """

    answer: str
    turns: tuple[Turn, ...]
    groups: tuple[str, ...]
    seconds: float
    first_words_s: float | None
    judged: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """A conversation under a control.

    Args:
        score: the sums over its queries.
        spent: on the turns, as if nothing of the conversation had been cached before; the judge is not in it.
    """

    task: str
    player: PlayerName
    score: Score
    spent: Spent
    queries: tuple[Query, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for query in self.queries for turn in query.turns)


@dataclass(frozen=True)
class Run:
    """All of it.

    Args:
        model: that answers.
        judge: the model that judges; empty if there is none.
        began_at: ISO 8601 in UTC.
        trees: the version of the shipped tree, with all that it includes.
        thinking_tokens: of a turn, at most.
        tasks: the names of the conversations, in order.
        verdicts: by conversation, which answer is better, in both orders.
        spent: by everything, the judge and what was cut off included.
        stopped: why it is not whole; empty if it is.
    """

    model: str
    judge: str
    began_at: str
    trees: str
    thinking_tokens: int
    prices_of: str
    tasks: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    verdicts: Mapping[str, tuple[Verdict, Verdict]] = field(default_factory=dict)
    spent: Spent = Spent()
    stopped: str = "interrupted"
    format: Literal["oracle-eval-1"] = "oracle-eval-1"

    def answer(self, task: str, player: PlayerName) -> Answer | None:
        return next((each for each in self.answers if (each.task, each.player) == (task, player)), None)

    def with_answer(self, answer: Answer, *, spent: Spent) -> "Run":
        return replace(self, answers=(*self.answers, answer), spent=spent)


_RUN = TypeAdapter(Run)


def keep(run: Run, file: Path) -> None:
    """Write a run; the file is whole at any moment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.new")
    new.write_bytes(_RUN.dump_json(run, indent=1))
    new.replace(file)


def read(file: Path) -> Run:
    """Read a run.

    Raises:
        RunFileError: there is none in the file.
    """
    try:
        run = _RUN.validate_json(file.read_bytes())
    except OSError as error:
        raise RunFileError(f"{str(file)!r} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the beginning"
        raise RunFileError(f"{str(file)!r} holds no run of `make eval`: {first['msg']} (at {place})") from None
    unknown = {*run.tasks, *(answer.task for answer in run.answers)} - BY_NAME.keys()
    if unknown:
        raise RunFileError(f"{str(file)!r} has conversations that are not asked any more: {', '.join(sorted(unknown))}")
    return run
