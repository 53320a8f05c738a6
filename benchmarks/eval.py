"""Measurements that require a real model, with a few questions about this repository; `make eval`.

- 020 US2-1 to US2-3, SC-002: does it emit the right signal, in 95 % of its responses?
- 020 SC-003: half the tool calls of the control of before, which offers every reading tool for every question?
- 020 SC-005: answers at least as good as with the plain loop? By known facts, and by the model itself as a blind judge
  that sees both orders.
- 012 SC-006: 30 % fewer turns than with the old limit of 30?
- Does it follow the prompt, by type of query: one well-formed signal at the very end, `partial_answer` after a question
  to the user, no closing sentence of the control, tools if and only if they are needed? And how large is the prompt?

- 020 SC-003, SC-004, 012 SC-006 again, with the questions, the scores and the table of `benchmarks.habits`.

There are few questions, so the figures are only an indication. The largest possible cost is printed first.
"""

import asyncio
import logging
import os
import shutil
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import structlog

from benchmarks.eval_judge import TOKENS_PER_VERDICT, VERDICTS, judge
from benchmarks.eval_keeping import Turn, keeping
from benchmarks.eval_questions import QUESTIONS, Question
from benchmarks.habits import real
from benchmarks.habits.players import LEGACY, LEGACY_FILE
from bt_runtime.text import estimate_tokens
from oracle.answering import Ask, Oracle
from oracle.chunks import Chunk, Content, Done, ToolCalled
from oracle.models import Model
from oracle.models.protocol import ModelEvent, ModelRequest, TextDelta, ToolCallRequested
from oracle.settings import Settings
from oracle.wiring import build_model, build_oracle, uses_provider

REPOSITORY = Path(__file__).parents[1]
TOKENS_PER_QUERY = 40_000
DOLLARS_PER_MILLION = (3, 15)
"""Approximate prices for input and output of a mid-range model."""
WAITS = frozenset({"need_turn"})

ControlName = Literal["tree", "loop", "legacy"]
CONTROLS: tuple[ControlName, ...] = ("tree", "loop", "legacy")


@dataclass(frozen=True)
class Result:
    """One question under one control.

    Args:
        question: the question.
        control: the control that answered it.
        answer: the visible text.
        done: the last chunk.
        calls: the group of the tool of each call.
        signals: the signal type of each response without tool calls; `None` if it had no valid signal.
        query_type: the classification.
        turns: requests and responses of the model, turn by turn.
    """

    question: Question
    control: ControlName
    answer: str
    done: Done
    calls: tuple[str, ...]
    signals: tuple[str | None, ...]
    query_type: str
    turns: tuple[Turn, ...]

    @property
    def unnecessary(self) -> int:
        return sum(group not in self.question.sources for group in self.calls)

    @property
    def has_fitting_signal(self) -> bool:
        """Whether the last response has a right signal; if another turn is expected, any response."""
        relevant = self.signals if self.question.signals & WAITS else self.signals[-1:]
        return any(signal in self.question.signals for signal in relevant)


class WatchedModel:
    """Records the turns of a model."""

    def __init__(self, model: Model) -> None:
        self.turns: list[Turn] = []
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def has_web_search(self) -> bool:
        return self._model.has_web_search

    async def aclose(self) -> None:
        """Do nothing; the caller closes the model."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        text, calls = "", 0
        try:
            async with aclosing(self._model.stream(request)) as events:
                async for event in events:
                    text += event.text if isinstance(event, TextDelta) else ""
                    calls += isinstance(event, ToolCallRequested)
                    yield event
        finally:  # also if a limit has closed the stream
            self.turns.append(Turn(text, calls=calls, prompt_tokens=estimate_tokens(len(request.system))))


def bound(questions: Sequence[Question]) -> int:
    """The approximate upper bound of the tokens that the evaluation uses."""
    compared = sum(question.compared for question in questions)
    queries = compared * len(CONTROLS) + len(questions) - compared
    return queries * TOKENS_PER_QUERY + 2 * compared * TOKENS_PER_VERDICT


async def evaluate(model: Model, questions: Sequence[Question], *, write: Callable[[str], None]) -> None:
    """Ask all questions and write the figures, line by line."""
    with TemporaryDirectory(prefix="oracle-eval-") as folder:
        watched = WatchedModel(model)
        oracles = _oracles(watched, Path(folder))
        results: list[Result] = []
        for question in questions:
            for control in CONTROLS if question.compared else CONTROLS[:1]:
                watched.turns.clear()
                results.append(await ask(oracles[control, question.empty], question, control, watched.turns))
                write(_line(results[-1]))
    compared = [question for question in questions if question.compared]
    answers = {(each.question.name, each.control): each.answer for each in results}
    verdicts = [
        await judge(model, each.text, tree=answers[each.name, "tree"], loop=answers[each.name, "loop"])
        for each in compared
    ]
    for line in report(results, verdicts):
        write(line)


async def ask(oracle: Oracle, question: Question, control: ControlName, turns: Sequence[Turn]) -> Result:
    """Ask one question with one control; the plain loop has the old limit of turns.

    Args:
        oracle: an oracle with the control.
        question: the question.
        control: the name of the control.
        turns: the list in which the watched model records its turns.
    """
    chunks: list[Chunk] = []
    limits = {"token_budget": TOKENS_PER_QUERY}
    if control != "tree":
        limits["max_iterations"] = 30
    tree = {"tree": "oracle", "loop": "default", "legacy": "legacy"}[control]
    query = await oracle.open(Ask(question.text, tree=tree, limits=limits), emit=chunks.append)
    await query.run()
    tools = query.agent.equipment.tools
    called = [
        tool.group if (tool := tools.get(each.tool_call.name)) else "?"
        for each in chunks
        if isinstance(each, ToolCalled)
    ]
    answer = "".join(chunk.content for chunk in chunks if isinstance(chunk, Content))
    done = chunks[-1]
    assert isinstance(done, Done)
    # A response with tool calls needs no signal.
    relevant = [
        record for record in query.agent.signals.audit if record.action != "tools" and record.outcome != "ignored"
    ]
    signals = tuple(record.type if record.outcome == "accepted" else None for record in relevant)
    found = query.agent.classification
    query_type = found.query_type if found is not None else "?"
    return Result(question, control, answer, done, tuple(called), signals, query_type, tuple(turns))


def report(results: Sequence[Result], verdicts: Sequence[tuple[str, str]]) -> list[str]:
    """The figures, each beside its aim."""
    of = {
        control: [each for each in results if each.control == control and each.question.compared]
        for control in CONTROLS
    }
    emitted = [signal for each in results for signal in each.signals]
    fitting = [each.has_fitting_signal for each in results]
    calls = {control: _mean(len(each.calls) for each in of[control]) for control in CONTROLS}
    extra = {control: sum(each.unnecessary for each in of[control]) for control in CONTROLS}
    turns = {control: _mean(each.done.turns for each in of[control]) for control in CONTROLS}
    facts = {control: sum(each.question.facts_in(each.answer) for each in of[control]) for control in CONTROLS}
    possible = sum(len(each.question.facts) for each in of["tree"])
    flat = [verdict for pair in verdicts for verdict in pair]
    rows = [
        ("020 SC-002 responses with a signal", _percent(sum(map(bool, emitted)), len(emitted)), "95 %"),
        ("020 SC-002 queries with the fitting one", _percent(sum(fitting), len(fitting)), "95 %"),
        *(
            (f"020 {each.question.name}", " ".join(map(str, each.signals)), "/".join(sorted(each.question.signals)))
            for each in results
            if not each.question.compared
        ),
        ("020 SC-003 tool calls a query", _three(calls), "half of `legacy`"),
        ("020 SC-003 calls into sources not needed", _three(extra), "half of `legacy`"),
        ("020 SC-005 known facts in the answers", f"{_three(facts)} of {possible}", "tree >= loop"),
        (
            "020 SC-005 judged better",
            ", ".join(f"{name} {flat.count(verdict)}" for name, verdict in VERDICTS.items()),
            "tree + same >= loop",
        ),
        ("012 SC-006 turns a query (loop: limit 30)", _three(turns), "30 % under the loop"),
        ("tokens used by the queries", f"{sum(each.done.tokens_used for each in results):,}", ""),
    ]
    width = max(len(row[1]) for row in rows)
    shipped = [each for each in results if each.control == "tree"]
    rows += keeping(
        # What only shows a signal may as well ask back as look: no tool is needed there, and none is too much.
        (each.query_type, each.question.sources if each.question.compared else None, frozenset(each.calls), each.turns)
        for each in shipped
    )
    return [
        "",
        *(f"{name:<46} {figure:<{width}}  {f'(aim: {aim})' if aim else ''}".rstrip() for name, figure, aim in rows),
    ]


def _oracles(model: Model, folder: Path) -> Mapping[tuple[ControlName, bool], Oracle]:
    for name in ("trees", "empty", "empty-vault"):
        (folder / name).mkdir()
    (folder / "trees" / LEGACY_FILE).write_text(LEGACY, encoding="utf-8")
    shutil.copytree(REPOSITORY / "docs", folder / "vault", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    full = Settings(project_dir=REPOSITORY, vault_dir=folder / "vault", trees_dir=folder / "trees")
    empty = Settings(project_dir=folder / "empty", vault_dir=folder / "empty-vault", trees_dir=folder / "trees")
    made = {False: build_oracle(full, model=model), True: build_oracle(empty, model=model)}
    return {(control, is_empty): oracle for is_empty, oracle in made.items() for control in CONTROLS}


def _line(result: Result) -> str:
    signals = ", ".join(str(signal) for signal in result.signals) or "-"
    found = f"{result.question.facts_in(result.answer)}/{len(result.question.facts)} facts"
    return (
        f"{result.question.name:<16} {result.control:<10} {result.done.turns:2} turns, {len(result.calls):2} calls, "
        f"{result.done.tokens_used:6,} tokens, {found}, {result.done.termination_reason}: {signals}"
    )


def _mean(values: Iterable[int]) -> float:
    found = list(values)
    return round(sum(found) / len(found), 2) if found else 0.0


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} % ({part}/{whole})" if whole else "-"


def _three(values: Mapping[ControlName, float]) -> str:
    return ", ".join(f"{control} {value:g}" for control, value in values.items())


def main(environ: Mapping[str, str] = os.environ) -> int:
    """Measure, or print what remains unmeasured; returns the exit code."""
    settings = Settings()
    if not uses_provider(settings, environ):
        print("There is no ANTHROPIC_API_KEY, so no real model can be asked. These stay unmeasured:")
        print("020 US2-1 to US2-3 and SC-002 (signals), SC-003 (tool calls), SC-005 (answers), 012 SC-006 (turns),")
        print("and whether the model keeps to the prompt. Set ANTHROPIC_API_KEY and run `make eval` again.")
        print("What scripted agents show of SC-003, SC-004 and 012 SC-006: `python -m benchmarks.habits`.")
        return 0
    most = bound(QUESTIONS) + real.bound()
    low, high = (most / 1e6 * dollars for dollars in DOLLARS_PER_MILLION)
    asked = len(QUESTIONS) + len(real.ASKED)
    print(f"This asks {settings.model} {asked} questions and uses at most about {most:,} tokens;")
    cheap, dear = DOLLARS_PER_MILLION
    print(f"at {cheap} to {dear} dollars per million that is {low:.0f} to {high:.0f} dollars.\n")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(_measure(settings, environ))
    return 0


async def _measure(settings: Settings, environ: Mapping[str, str]) -> None:
    model = build_model(settings, environ)
    try:
        await evaluate(model, QUESTIONS, write=print)
        print()
        await real.measure(model, write=print)
    finally:
        await model.aclose()


if __name__ == "__main__":
    sys.exit(main())
