"""`make eval`, the whole command with the real SDK against the stand-in provider; its figures are known beforehand."""

import asyncio
import io
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from benchmarks.eval import figures, meter, record
from benchmarks.eval.__main__ import main
from benchmarks.eval.bounds import bound
from benchmarks.eval.questions import ALL, ASKED, ASKS_BACK, fitting_signals, needs_judge, says_value
from benchmarks.eval.record import Answer, Query, Run, Spent, Turn
from benchmarks.habits.good_habits import thorough
from benchmarks.habits.mind import Mind, says, signal_xml
from benchmarks.habits.players import PLAYERS
from benchmarks.habits.scores import Score
from benchmarks.habits.tasks import ATTEMPTS, BARREN, DEAD, PLAIN, REFUND, SIGNS, TASKS, Fact
from oracle.llm.protocol import ModelRequest, Usage, UsageReported
from oracle.testing import ScriptedCall, ScriptedModel, ScriptedTurn
from tests.benchmarks.wire_agent import replies
from tests.support.provider import Disturbed, HttpError, StandInProvider

REPOSITORY = Path(__file__).parents[2]
THREE = ["--only", "attempts", "refunds", "kafka"]
USAGE = Usage(input_tokens=1_000, output_tokens=100)
A_REQUEST = 0.003
"""Dollars: what USAGE costs with the default model, at 2 and 10 dollars for a million."""
ENOUGH = signal_xml("context_sufficient", sources_found=1)


def too_soon(mind: Mind) -> ScriptedTurn:
    """Answers without a look."""
    return says("I do not know." + ENOUGH)


def wasteful(mind: Mind) -> ScriptedTurn:
    """Reads what it does not need, then does what is needed."""
    return says("", ScriptedCall("vault_read", {"path": "people.md"})) if mind.view.turn == 1 else thorough(mind)


def in_words(mind: Mind) -> ScriptedTurn:
    """Says the figure as a word."""
    return thorough(mind) if mind.view.turn == 1 else says("It tries seven times." + ENOUGH)


def chosen(task: str, player: str):
    """The tree's agents are good, the loop loses an answer, and legacy wastes a call or answers in other words."""
    if player == "tree":
        return thorough
    if task == "attempts":
        return too_soon if player == "loop" else in_words
    return thorough if player == "loop" else wasteful


@pytest.fixture
async def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[StandInProvider]:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("ORACLE_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    logging = structlog.get_config()
    async with StandInProvider() as stand_in:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", stand_in.url)
        stand_in.play(replies(stand_in, chosen, verdict="SAID: 1\nVERDICT: FIRST", usage=USAGE))
        yield stand_in
        assert not any(request.complaint for request in stand_in.requests)
    structlog.configure(**logging)


async def evaluate(*arguments: str) -> int:
    """The command; it has an event loop of its own."""
    return await asyncio.to_thread(main, ["--yes", *arguments])


def page_of(name: str) -> str:
    return Path(f"{name}.html").read_text(encoding="utf-8")


async def test_the_whole_command_prints_the_bound_the_figures_and_what_was_lost(provider, capsys) -> None:
    assert await evaluate(*THREE, "--out", "run.json") == 0
    out = capsys.readouterr().out
    assert out.index("At most ") < out.index("attempts")
    assert "No request is sent once the provider has reported $10.00 (--budget)." in out
    assert re.search(r"complete answers +100 % \[44, 100\] +67 % \[21, 94\] +100 % \[44, 100\]", out)
    assert re.search(r"unneeded calls +0\.0 \[0\.0, 0\.0\] +0\.0 \[0\.0, 0\.0\] +0\.7 \[0\.0, 1\.0\]", out)
    assert re.search(r"unneeded turns +0\.0 .* 0\.3 .* 0\.7 ", out)
    assert re.search(r"unneeded calls, less than legacy +100 % \[\S+ 100\] +100 %", out)
    assert re.search(r"attempts +complete +lost \(short\), 0/1 facts, completed +complete", out)
    assert re.search(r"judged better, in both orders +3 times +3 times +same 0, unclear 0 +tree", out)
    assert re.search(r"complete answers +67 % +100 % +\+33 % ", out)


async def test_what_was_spent_is_what_the_provider_has_reported(provider, capsys) -> None:
    await evaluate(*THREE, "--out", "run.json")
    run, count = record.read(Path("run.json")), len(provider.requests)
    assert run.spent == Spent(count, 1_000 * count, 0, 0, 100 * count, pytest.approx(A_REQUEST * count))
    judged = [each for each in provider.bodies if "system" not in each]
    # Three comparisons in both orders, the absent fact under each control, and the figure that was said as a word.
    assert len(judged) == 3 * 2 + 3 + 1
    assert sum(answer.spent.requests for answer in run.answers) == count - len(judged)
    assert [each.score.tokens for each in run.answers] == [1_100 * each.score.turns for each in run.answers]


async def test_the_judge_is_asked_for_what_values_do_not_decide(provider, capsys) -> None:
    assert await evaluate(*THREE, "--out", "run.json") == 0
    answer = record.read(Path("run.json")).answer("attempts", "legacy")
    assert answer is not None
    assert answer.score.is_complete
    assert [dict(query.judged) for query in answer.queries] == [{"attempts": True}]
    assert "decided by the judge: attempts said" in page_of("run")
    assert await evaluate("--only", "attempts", "--judge", "none", "--out", "alone.json") == 0
    alone = record.read(Path("alone.json"))
    assert not alone.verdicts
    assert [each.player for each in alone.answers if not each.score.is_complete] == ["loop", "legacy"]


async def test_no_request_is_sent_once_the_budget_is_spent_and_the_run_can_be_gone_on_with(provider, capsys) -> None:
    assert await evaluate(*THREE, "--out", "run.json", "--budget", "0.02") == 1
    assert len(provider.requests) == 7  # six cost 0.018
    out = capsys.readouterr().out
    assert "the budget is spent: $0.02 of $0.02 (--budget)" in out
    assert 'make eval ARGS="--resume run.json"' in out
    kept = record.read(Path("run.json")).answers
    assert 0 < len(kept) < 9
    assert await evaluate("--resume", "run.json", "--budget", "0.02") == 1
    assert len(provider.requests) == 7
    assert await evaluate("--resume", "run.json") == 0
    run = record.read(Path("run.json"))
    assert run.answers[: len(kept)] == kept
    assert len({(each.task, each.player) for each in run.answers}) == len(run.answers) == 9
    assert run.spent.requests == len(provider.requests)
    assert run.stopped == ""


async def test_an_error_of_the_provider_stops_the_run_and_what_there_is_stays(provider, capsys) -> None:
    def fails_after(count: int):
        for number, reply in enumerate(replies(provider, chosen, usage=USAGE)):
            yield reply if number < count else HttpError("authentication_error", "invalid x-api-key")

    provider.play(fails_after(4))
    assert await evaluate("--only", "attempts", "--judge", "none", "--out", "run.json") == 1
    assert "Check ANTHROPIC_API_KEY" in capsys.readouterr().out
    run = record.read(Path("run.json"))
    assert len(run.answers) == 2
    assert run.spent.requests == 4


async def test_ctrl_c_keeps_what_there_is(provider, tmp_path: Path) -> None:
    hangs = Disturbed(ScriptedTurn(text="I am", usage=USAGE), how="hang")
    provider.play([*(says("I do not know." + ENOUGH) for _ in range(2)), hangs])
    command = [sys.executable, "-m", "benchmarks.eval", "--yes", "--only", "attempts", "--judge", "none", "--out"]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, str(tmp_path / "run.json"), cwd=REPOSITORY, stdout=pipe, stderr=pipe
    )
    await provider.wait_request(3)
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert process.returncode == 130, err.decode()
    assert not err
    assert b"It is not whole (interrupted)" in out
    run = record.read(tmp_path / "run.json")
    assert len(run.answers) == 2
    assert run.stopped == "interrupted"


def test_without_a_key_it_says_what_to_set(provider, capsys, monkeypatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert main(["--yes"]) == 2
    assert "Set ANTHROPIC_API_KEY" in capsys.readouterr().err
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ORACLE_LLM", "offline")
    assert main(["--yes"]) == 2
    assert "ORACLE_LLM is 'offline'" in capsys.readouterr().err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_at_a_terminal_it_asks_before_it_begins(provider, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    assert main(["--only", "attempts"]) == 2
    assert capsys.readouterr().out.endswith("Begin? [y/N] ")
    assert not provider.requests
    assert not Path("build").exists()


def test_the_bound_is_of_all_limits_and_of_the_judge() -> None:
    alone = bound([PLAIN[0]], "claude-sonnet-5-5", "")
    assert (alone.questions, alone.requests, alone.tokens) == (1, 15 + 15 + 30, 50_000 + 50_000 + 200_000)
    # Said: 10 dollars for a million; read from the cache in every turn: 0.1 dollars.
    assert alone.dollars == pytest.approx(0.3 * 10 + (15 * 0.05 + 15 * 0.05 + 30 * 0.2) * 0.1)
    judged = bound([PLAIN[0]], "claude-sonnet-5-5", "claude-opus-5-5")
    assert judged.requests == alone.requests + 3 + 2
    assert judged.dollars == pytest.approx(alone.dollars + (3 * 4_000 + 2 * 6_000) * 4e-6 + 5 * 1_500 * 20e-6)
    assert "is not on the list" in "\n".join(bound([PLAIN[0]], "m", "").lines("m", "", budget_dollars=1))


PRICED = {
    "claude-sonnet-5-5": (Usage(1_000_000, 0, 0, 0), 2),
    "us.anthropic.claude-opus-5.5": (Usage(0, 0, 50_000, 1_000_000), 20.01),
    "claude-sonnet-5-20260901": (Usage(0, 0, 1_000_000, 0), 0.2),
    "claude-haiku-5-5": (Usage(0, 100_000, 1, 0), 5 * 0.0125),
}


@pytest.mark.parametrize("model", PRICED)
def test_a_model_has_its_price(model: str) -> None:
    usage, dollars = PRICED[model]
    price = meter.listed_price(model)
    assert price is not None
    assert price.dollars(usage) == pytest.approx(dollars, rel=1e-5)


async def test_a_turn_that_was_cut_off_counts_as_far_as_it_is_known() -> None:
    cut_off = ScriptedTurn(text="x" * 400, usage=Usage(input_tokens=1_000, output_tokens=1), hang=True)
    model = meter.MeteredModel(ScriptedModel([cut_off], name="claude-sonnet-5-5"), budget_dollars=1, spent=Spent())
    async with aclosing(model.stream(ModelRequest(system="", messages=()))) as events:
        async for event in events:
            if isinstance(event, UsageReported):
                break
    assert model.spent == Spent(1, 1_000, 0, 0, 100, pytest.approx(1_000 * 2e-6 + 100 * 10e-6), estimated=1)


def made(task: str, player: str, *, facts_said: int = 1, text: str = "", **score: object) -> Answer:
    """An answer as data."""
    said = Score(facts=1, facts_said=facts_said, turns=2, reasons=("completed",), tokens=1_000, **score)
    turns = (Turn("", 1, 3_000), Turn("Text." + ENOUGH, 0, 3_000))
    return Answer(task, player, said, Spent(2, dollars=0.01), (Query(text, turns, ("code",), 2.0, 1.0),))


def made_run(file: Path, *, lost: int = 0, text: str = "") -> Path:
    """A run of twelve conversations, of which the tree loses some."""
    tasks = tuple(task.name for task in PLAIN[:12])
    answers = [
        made(task, player.name, facts_said=int(player.name != "tree" or number >= lost), text=text)
        for number, task in enumerate(tasks)
        for player in PLAYERS
    ]
    record.keep(Run("m", "", "2026-11-25T12:00:00+00:00", "0" * 12, 0, "2026-10-24", tasks, tuple(answers), {}), file)
    return file


def test_a_comparison_names_what_moved_beyond_chance_and_what_flipped(tmp_path: Path, capsys) -> None:
    old, few, many = (made_run(tmp_path / f"{lost}.json", lost=lost) for lost in (0, 2, 11))
    assert main(["--compare", str(old), str(many)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"complete answers +100 % +8 % +-92 % \[-100, -75\] +beyond chance", out)
    assert re.search(r"^  attempts +complete +0/1 facts, completed$", out, re.MULTILINE)
    assert out.count("none has moved") == 2  # loop and legacy
    main(["--compare", str(old), str(few)])
    out = capsys.readouterr().out
    assert re.search(r"complete answers +100 % +83 % +-17 % \[-42, \+0\]$", out, re.MULTILINE)
    assert out.count("0/1 facts") == 2


WRONG = {
    "missing": (None, "cannot be read: No such file"),
    "not JSON": ("{", "holds no run of `make eval`"),
    "something else": ('{"model": "m"}', "Field required (at judge)"),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_a_file_that_holds_no_run_is_named(text, said, tmp_path: Path, capsys) -> None:
    file = tmp_path / "run.json"
    if text is not None:
        file.write_text(text)
    assert main(["--compare", str(file), str(file)]) == 2
    assert said in capsys.readouterr().err


async def test_a_run_is_not_overwritten_and_not_gone_on_with_by_another_model(provider, capsys, monkeypatch) -> None:
    assert await evaluate("--only", "attempts", "--out", "run.json", "--budget", "0.001") == 1
    assert await evaluate("--only", "attempts", "--out", "run.json") == 2
    assert "'run.json' exists" in capsys.readouterr().err
    monkeypatch.setenv("ORACLE_MODEL", "claude-opus-5-5")
    assert await evaluate("--resume", "run.json") == 2
    assert "begun with model 'claude-sonnet-5-5', and it is 'claude-opus-5-5' now" in capsys.readouterr().err
    assert len(provider.requests) == 1


def test_a_run_with_conversations_that_are_gone_is_refused(tmp_path: Path, capsys) -> None:
    file = made_run(tmp_path / "run.json")
    data = json.loads(file.read_text())
    file.write_text(json.dumps({**data, "tasks": ["drawn by lot"]}))
    assert main(["--compare", str(file), str(file)]) == 2
    assert "drawn by lot" in capsys.readouterr().err


def test_the_page_shows_the_words_of_a_model_as_text_and_runs_nothing(provider, tmp_path: Path, capsys) -> None:
    file = made_run(tmp_path / "run.json", text="<script>alert(1)</script>")
    record.keep(replace(record.read(file), stopped=""), file)
    assert main(["--resume", str(file)]) == 0
    page = file.with_suffix(".html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    assert "default-src 'none'" in page


def test_intervals_of_shares_are_not_empty_where_all_is_well() -> None:
    (complete, *_) = figures.MEASURES
    found = figures.estimate(complete, [made("attempts", "tree")] * 24)
    assert found is not None
    assert (found.value, round(found.low, 3), found.high) == (1, 0.862, 1)


def test_what_is_beyond_chance_is_corrected_for_the_number_of_figures() -> None:
    one = figures.Change(figures.MEASURES[0], 0, 0, figures.Figure(0, 0, 0), 0.02)
    assert figures.verdicts([one]) == ["beyond chance"]
    two = [one, replace(one, chance=0.5), replace(one, chance=0.01)]
    assert figures.verdicts(two) == ["beyond chance", "", "beyond chance"]
    assert figures.verdicts([one, *[replace(one, chance=0.5)] * 3]) == ["perhaps", "", "", ""]


SIGNAL = '<signal type="partial_answer"><missing>m</missing><confidence>0.9</confidence></signal>'
TURNS = {
    "as asked": (f"Text.\n\n{SIGNAL}\n", True),
    "none": ("Text.", False),
    "text after it": (f"{SIGNAL} Text.", False),
    "two": (f"{SIGNAL}\n{SIGNAL}", False),
    "malformed": ('Text.\n<signal type="stuck"></signal>', False),
    "in a fence": (f"Text.\n```xml\n{SIGNAL}\n```", False),
}


@pytest.mark.parametrize(("text", "ends"), TURNS.values(), ids=TURNS)
def test_a_turn_is_checked_against_the_prompt(text, ends) -> None:
    assert figures.ends_with_its_signal(Turn(text, calls=0, prompt_tokens=1)) == ends


KEEPING = {
    "asks with partial_answer": (f"Which one do you *mean?*\n\n{SIGNAL}", "questions to the user: partial_answer", 1),
    "asks with enough": (f"Which one?{ENOUGH}", "questions to the user: partial_answer", 0),
    "does not ask": (f"Why? Because.\n\n{SIGNAL}", "questions to the user: partial_answer", None),
    "the control's sentence": (
        f"Half.\n\nStopped: time.\n\n{SIGNAL}",
        "`Stopped:` written by the model",
        1,
    ),
    "enough, and it is": (f"Seven.{ENOUGH}", "the signal at the end fits", 1),
    "partial, and it is whole": (f"Seven.\n\n{SIGNAL}", "the signal at the end fits", 0),
}


@pytest.mark.parametrize(("text", "name", "figure"), KEEPING.values(), ids=KEEPING)
def test_keeping_to_the_prompt_is_measured(text, name, figure) -> None:
    answer = made("attempts", "tree")
    answer = replace(answer, queries=(replace(answer.queries[0], turns=(Turn(text, 0, 3_000),)),))
    (measure,) = [each for each in figures.MEASURES if each.name == name]
    assert measure.of(answer) == figure


def test_the_fitting_signal_depends_on_the_task_and_on_the_answer() -> None:
    assert fitting_signals(PLAIN[0], is_complete=True) == {"context_sufficient"}
    assert fitting_signals(PLAIN[0], is_complete=False) == {"partial_answer", "stuck", "need_capability"}
    assert fitting_signals(BARREN[0], is_complete=True) >= {"context_sufficient", "stuck"}
    assert fitting_signals(ASKS_BACK, is_complete=True) == {"partial_answer"}


ABSENT = BARREN[0].questions[0].facts[0]
SAID = {
    "a constant": (ATTEMPTS, "It tries 7 times (`src/ferry/retries.py:3`).", True),
    "another figure": (ATTEMPTS, "It tries 17 times, or 7.5.", False),
    "text in quotes": (DEAD, "They go to the queue `ferry.undelivered.v2`.", True),
    "in another language": (REFUND, "Nach 14 Werktagen.", True),
    "a name": (SIGNS, "Das zeichnet Amara Obi.", True),
    "nothing found": (ABSENT, "I did not find drones in the code.", True),
    "asked back": (ASKS_BACK.questions[0].facts[0], "Which note do you mean?", True),
    "not asked back": (ASKS_BACK.questions[0].facts[0], "I have replaced it.", False),
    "something found": (ABSENT, "Drones are in src/drones.py.", False),
}
STATED = {fact.key: fact for task in TASKS for question in task.questions for fact in question.facts if fact.places}


@pytest.mark.parametrize(("fact", "answer", "said"), SAID.values(), ids=SAID)
def test_a_fact_is_said_by_its_value_and_the_judge_decides_the_rest(fact, answer, said) -> None:
    assert says_value(fact, answer) == said
    assert needs_judge(fact, answer) == (bool(fact.places) and (not said or not fact.exists))


@pytest.mark.parametrize("fact", [pytest.param(fact, id=key) for key, fact in STATED.items() if not fact.write])
def test_each_fact_says_itself_and_an_empty_phrase_says_none(fact: Fact) -> None:
    assert says_value(fact, fact.token)
    assert not says_value(fact, "There is an answer.")


def test_nothing_is_asked_that_writes_and_names_are_unique() -> None:
    assert not any(fact.write for task in ALL for question in task.questions for fact in question.facts)
    assert len({task.name for task in ALL}) == len(ALL)
    assert set(ASKED) <= set(ALL)
