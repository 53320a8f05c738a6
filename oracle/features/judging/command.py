"""`oracle trees judge`: which recorded queries kept to the rules of a tree."""

import json
from pathlib import Path

import click

from bt_runtime import TreeDefinition
from oracle.cli.archive import DATA_DIR, Since, with_archive
from oracle.cli.errors import FAILED, CommandError
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.cli.trees import named_tree
from oracle.features.judging.judging import Judge, Judgment, Violation
from oracle.runs.storage.archive import Archive
from oracle.server.wiring.agent import tree_library


@click.command("judge")
@click.argument("name")
@click.option("--runs", type=click.IntRange(1, 1_000_000), help="Use only the latest N runs.")
@click.option("--since", type=Since(), metavar="7d|DATE", help="Only runs begun since then (dates are UTC).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@DATA_DIR
def judge(*, name: str, runs: int | None, since: float | None, as_json: bool, data_dir: Path | None) -> int:
    """Judge the recorded runs of the tree NAME by its rules.

    NAME is a tree or a tree file. Its present rules are applied to every recorded run that named this tree, whichever
    version it ran. Prints for each rule how many runs kept it, and the events of the first run that broke it. A service
    may write to the database meanwhile.

    \b
    Exit codes:
      0  every run whose record is complete kept every rule
      1  a run broke a rule, or the tree or the database cannot be read
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="error", data_dir=data_dir)
    tree = named_tree(tree_library(settings), name)
    if not tree.rules:
        raise CommandError(f"the tree {tree.name!r} has no rules; state them under 'rules:', see docs/testing.md")
    judging = Judge(tree.rules, tree.labels)

    async def work(archive: Archive) -> int:
        records = await archive.runs(tree=tree.name, limit=runs, since=since, with_forgotten=True)
        for record in reversed(records):  # the first violations are the oldest ones
            await judging.read(archive, record)
        return len(records)

    count = with_archive(settings, work)
    click.echo(_json(tree, judging, count) if as_json else _report(tree, judging, count))
    return FAILED if any(judgment.violated for judgment in judging.judgments) else 0


def _json(tree: TreeDefinition, judging: Judge, count: int) -> str:
    found = {
        "tree": tree.name,
        "runs": count,
        "rules": [judgment.to_json() for judgment in judging.judgments],
        "problems": [f"{what}: {why}" for what, why in judging.problems.items()],
    }
    return json.dumps(found, ensure_ascii=False, indent=2)


def _report(tree: TreeDefinition, judging: Judge, count: int) -> str:
    lines = [line for judgment in judging.judgments for line in _judged(judgment)]
    lines += [f"Note: {one_line(f'{what}: {why}', longest=400)}" for what, why in judging.problems.items()]
    broken = sum(1 for judgment in judging.judgments if judgment.violated)
    rules = f"{len(judging.judgments)} rule{'s' if len(judging.judgments) != 1 else ''}"
    runs = f"{count} recorded run{'s' if count != 1 else ''} of {tree.name!r}"
    lines.append(f"{runs}, {rules}: {f'{broken} broken' if broken else 'none broken'}")
    return "\n".join(lines)


def _judged(judgment: Judgment) -> list[str]:
    counts = {
        "held": judgment.held,
        "violated": judgment.violated,
        "undecided, because the record is gone": judgment.undecided,
        "calls refused": judgment.refused,
    }
    words = ", ".join(f"{number} {word}" for word, number in counts.items() if number) or "no runs"
    lines = [f"{judgment.rule.name}: {words}"]
    if judgment.violated:
        lines.append(f"  {one_line(judgment.rule.text, longest=500)}")
        lines += [line for story in judgment.violations for line in _lines_of(story)]
        more = judgment.violated - len(judgment.violations)
        lines += [f"  and {more} more"] if more else []
    return lines


def _lines_of(story: Violation) -> list[str]:
    lines = [f"  run {story.run_id}, {story.at}: {one_line(story.question, longest=70)}"]
    if story.omitted:
        lines.append(f"    … {story.omitted} before")
    for tick, event in story.events:
        lines.append(f"    tick {tick}: {one_line(event, longest=300)}")
    if story.tick is None:
        lines.append("    the run ended before what the rule requires had happened")
    else:
        lines[-1] += "  <- breaks it"
    return lines
