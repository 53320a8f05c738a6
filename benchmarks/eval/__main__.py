"""`python -m benchmarks.eval`: asks a real model, prints the tables, and keeps the run with a page beside it."""

import argparse
import asyncio
import logging
import re
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog

from benchmarks.eval import record, report
from benchmarks.eval.asking import NotAnsweredError, Stage, order
from benchmarks.eval.bounds import bound
from benchmarks.eval.judge import Judge
from benchmarks.eval.meter import PRICES_OF, MeteredModel
from benchmarks.eval.page import page
from benchmarks.eval.questions import ALL, ASKED
from benchmarks.eval.record import Run, RunFileError
from benchmarks.habits.players import PLAYERS
from benchmarks.habits.tasks import Task
from bt_runtime import TreeLibrary
from bt_runtime.text import visible
from oracle.agent.nodes import REGISTRY
from oracle.llm.protocol import ModelError
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import SettingsError, read_settings
from oracle.server.wiring.agent import build_model, uses_provider
from trees import FOLDER

NO_KEY = """\
make eval asks a real model, and none can be asked. Set ANTHROPIC_API_KEY, in the environment or in .env; ORACLE_LLM \
is {llm!r} and must be 'auto' or 'anthropic'. ORACLE_MODEL names another model than {model!r}.
Without a key: `.venv/bin/python -m benchmarks.habits` plays scripted agents, and --compare OLD NEW reads kept runs."""
FOLDER_OF_RUNS = Path("build/eval")


def main(arguments: Sequence[str] = ()) -> int:
    """Ask, compare or go on; returns the exit code: 0 whole, 1 stopped early, 2 not begun, 130 interrupted."""
    given = _parser().parse_args(arguments)
    try:
        if given.compare:
            old, new = map(record.read, given.compare)
            heading = ["old:", *report.heading(old), "new:", *report.heading(new)]
            print(report.text(heading, report.compared(old, new)))
            return 0
        return _ask(given)
    except (RunFileError, SettingsError) as error:
        print(visible(str(error)), file=sys.stderr)
        return 2
    except (EOFError, KeyboardInterrupt):  # before anything was asked
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make eval", description=__doc__)
    parser.add_argument("--budget", type=dollars, default=10.0, metavar="DOLLARS", help="stop there (default: 10)")
    parser.add_argument("--yes", action="store_true", help="begin without a question at the terminal")
    parser.add_argument("--all", action="store_true", help=f"all {len(ALL)} conversations, and not {len(ASKED)}")
    parser.add_argument("--only", nargs="+", default=[""], metavar="NAME", help="conversations with this in their name")
    parser.add_argument("--judge", default="", metavar="MODEL", help="who judges (default: the model); `none`: nobody")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"where it is kept (default: in {FOLDER_OF_RUNS})")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="go on with a run that was stopped")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"), help="what moved between two runs")
    return parser


def dollars(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no budget; give dollars above 0, such as 2.50")
    return value


def _ask(given: argparse.Namespace) -> int:
    settings = read_settings(Path(".env"))
    new = _new_run(given, settings)
    run = new if given.resume is None else record.read(given.resume)
    file = given.resume or given.out or FOLDER_OF_RUNS / _name(run)
    if not _left(run) and not run.stopped:
        _show(run, file)
        return 0
    if not uses_provider(settings):
        print(NO_KEY.format(llm=settings.llm, model=settings.model), file=sys.stderr)
        return 2
    _check_file(run, new, file)
    print("\n".join(bound(_left(run), run.model, run.judge).lines(run.model, run.judge, budget_dollars=given.budget)))
    print(f"Spent before: ${run.spent.dollars:.2f}. Kept in {file}, also if it is stopped.\n")
    if not given.yes and sys.stdin.isatty() and input("Begin? [y/N] ").strip().lower() not in {"y", "yes"}:
        return 2
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    interrupted = False
    try:
        asyncio.run(_measure(run, file, settings, budget_dollars=given.budget))
    except KeyboardInterrupt:
        interrupted = True
    run = record.read(file)
    _show(run, file)
    return 130 if interrupted else 1 if run.stopped else 0


def _name(run: Run) -> str:
    return re.sub(r"[^\w.-]", "", f"{run.began_at[:19]}-{run.model}.json")


def _new_run(given: argparse.Namespace, settings: Settings) -> Run:
    among = ALL if given.all or given.only != [""] else ASKED
    tasks = [task.name for task in among if any(name in task.name for name in given.only)]
    if not tasks:
        raise RunFileError(f"no name has {' or '.join(given.only)!r} in it: {', '.join(task.name for task in ALL)}")
    judge = {"": settings.model, "none": ""}.get(given.judge, given.judge)
    return Run(
        model=settings.model,
        judge=judge,
        began_at=datetime.now(UTC).isoformat(timespec="seconds"),
        trees=TreeLibrary([FOLDER], registry=REGISTRY).load("oracle").sha[:12],
        thinking_tokens=settings.thinking_tokens,
        prices_of=PRICES_OF,
        tasks=tuple(tasks),
    )


def _check_file(run: Run, new: Run, file: Path) -> None:
    """Whether a run can be kept in a file, and gone on with as things are now."""
    if run is new and file.exists():
        raise RunFileError(f"{str(file)!r} exists; go on with it (--resume), or name another file (--out)")
    for name in ("model", "trees", "thinking_tokens"):
        was, now = getattr(run, name), getattr(new, name)
        if was != now:
            raise RunFileError(f"{str(file)!r} was begun with {name} {was!r}, and it is {now!r} now; begin a new run")


def _left(run: Run) -> list[Task]:
    """The conversations that are not asked under every control, or not judged."""
    whole = {task for task in run.tasks if all(run.answer(task, player.name) for player in PLAYERS)}
    judged = whole & run.verdicts.keys() if run.judge else whole
    return [task for task in ALL if task.name in run.tasks and task.name not in judged]


async def _measure(run: Run, file: Path, settings: Settings, *, budget_dollars: float) -> None:
    """Ask what is left, in the order of the conversations, and keep the run after each answer."""
    model = build_model(settings)
    metered = MeteredModel(model, budget_dollars=budget_dollars, spent=run.spent)
    judge = Judge(metered, run.judge) if run.judge else None
    stopped = "interrupted"
    try:
        with TemporaryDirectory(prefix="oracle-eval-") as folder:
            stage = Stage(metered, Path(folder), settings, judge, now_s=time.monotonic)
            for task in _left(run):
                for player in order(task):
                    if run.answer(task.name, player.name) is None:
                        run = run.with_answer(await stage.ask(task, player), spent=metered.spent)
                        record.keep(run, file)
                        print(report.progress(run.answers[-1]), flush=True)
                run = await _with_verdict(run, task, judge)
        stopped = ""
    except (NotAnsweredError, ModelError) as error:
        stopped = str(error)
    finally:
        record.keep(replace(run, spent=metered.spent, stopped=stopped), file)
        await model.aclose()


async def _with_verdict(run: Run, task: Task, judge: Judge | None) -> Run:
    tree, loop = (run.answer(task.name, name) for name in ("tree", "loop"))
    if judge is None or task.name in run.verdicts or tree is None or loop is None:
        return run
    asked = "\n".join(question.text for question in task.questions)
    texts = ["\n".join(query.answer for query in each.queries) for each in (tree, loop)]
    verdict = await judge.better(asked, tree=texts[0], loop=texts[1])
    return replace(run, verdicts={**run.verdicts, task.name: verdict}, spent=judge.metered.spent)


def _show(run: Run, file: Path) -> None:
    found = report.tables(run)
    print(report.text(report.heading(run), found))
    beside = file.with_suffix(".html")
    beside.write_text(page(run, found), encoding="utf-8")
    print(f"Kept in {file}; every answer: {beside}")
    if run.stopped:
        print(visible(f'It is not whole ({run.stopped}). Go on with: make eval ARGS="--resume {file}"'))


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main(sys.argv[1:]))
