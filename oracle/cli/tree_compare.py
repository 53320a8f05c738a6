"""`oracle trees compare`: which recorded queries would have gone another way under another tree."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from bt_runtime import TreeDefinition, TreeLibrary
from bt_runtime.library.named import read_sources
from oracle.cli.archive import DATA_DIR, with_archive
from oracle.cli.errors import CommandError
from oracle.cli.progress import ProgressLine
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.cli.trees import named_tree
from oracle.replay.comparing import Comparison, FirstDifference, Verdict, queries_of, replay_query
from oracle.runs.storage.archive import Archive
from oracle.server.wiring.agent import tree_library

_VERSION = re.compile(r"[0-9a-f]{8,64}")
_WORDS: dict[Verdict, str] = {
    "same": "the same",
    "another_way": "the same result by another path",
    "differs": "different",
    "unknown": "not known",
}
_ID_CHARS = 8


@click.command("compare")
@click.argument("old")
@click.argument("new")
@click.option("--runs", default=100, show_default=True, type=click.IntRange(1, 100_000), help="Use the latest N runs.")
@click.option("--run", "run_id", metavar="ID", help="Use only this run; the first characters of its id are enough.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a run would have been different.")
@DATA_DIR
def compare_(
    *, old: str, new: str, runs: int, run_id: str | None, as_json: bool, exit_code: bool, data_dir: Path | None
) -> int:
    """Replay the latest recorded runs on the trees OLD and NEW, and print where they differ.

    OLD and NEW are a tree's name, a file, or the first digits (8 or more) of a version that runs have used. The runs
    are those that named the tree OLD. No model is asked and no tool is run: their recorded results are used. What would
    follow a request that the recorded run did not make is unknown. A service may write to the database meanwhile.

    \b
    Exit codes:
      0  the runs were compared
      1  a tree or the database cannot be read; with --exit-code: a run would have been different
      130  interrupted; what was compared by then is printed
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="error", data_dir=data_dir)
    library = tree_library(settings)

    async def work(archive: Archive) -> list[Comparison]:
        before, after = await _named(old, library, archive), await _named(new, library, archive)
        for name, tree in ((old, before), (new, after)):
            if tree.internal:
                raise CommandError(
                    f"{name!r} is a part of other trees (internal: true), and only whole trees run; compare those"
                )
        records = await queries_of(archive, before.name, runs=runs, run_id=run_id)
        done: list[Comparison] = []
        for record in records:
            if progress.is_interrupted:
                click.echo(f"interrupted: {len(done)} of {len(records)} runs were compared", err=True)
                break
            progress.show(f"{len(done)} of {len(records)} runs compared; Ctrl-C to stop")
            done.append(await replay_query(record, archive, before, after, registry=library.registry))
        progress.clear()
        return done

    with ProgressLine() as progress:
        found = with_archive(settings, work)
    if as_json:
        click.echo(json.dumps({"runs": [each.to_json() for each in found]}, ensure_ascii=False, indent=2))
    else:
        for each in found:
            click.echo(_report(each))
        click.echo(_summary(found))
    return progress.code(int(exit_code and any(each.verdict == "differs" for each in found)))


async def _named(name: str, library: TreeLibrary, archive: Archive) -> TreeDefinition:
    """The tree of that name, file or version.

    Raises:
        CommandError: it is a folder, or there is no such version.
        TreeNotFoundError: there is no such tree.
        TreeFileError: it has mistakes.
    """
    if not _VERSION.fullmatch(name):
        return named_tree(library, name)
    version = await archive.tree(name)
    if version is None:
        raise CommandError(f"no run, or more than one tree, has a version that begins with {name!r}")
    return read_sources(version.source, name=version.name, registry=library.registry)


def _report(found: Comparison) -> str:
    lines = [f"{found.run_id[:_ID_CHARS]}  {_WORDS[found.verdict]}: {one_line(found.question or '', longest=70)}"]
    if found.difference is not None:
        lines += _where(found.difference, found.verdict)
    if found.verdict in ("differs", "unknown"):
        lines.append(f"  {_ends(found)}")
    return "\n".join(lines)


def _where(difference: FirstDifference, verdict: Verdict) -> list[str]:
    lines = [f"  from tick {difference.tick} on"]
    if difference.file is not None:
        tree = ", of the old tree" if difference.in_ == "old" else ""
        place = f"{difference.file}:{difference.line}"
        lines[0] += f", at {one_line(place)} ({one_line(difference.path)}{tree})"
    if (answer := difference.answer) is not None:
        values = ", ".join(f"{each.name} {json.dumps(each.value, ensure_ascii=False)}" for each in answer.operands)
        said = "yes" if answer.yes else "no"
        lines.append(f"    {said} in the new tree: {one_line(answer.text)} ({one_line(values)})")
    if verdict == "differs":
        lines += [f"    old: {_did(difference.old)}", f"    new: {_did(difference.new)}"]
    return lines


def _did(text: str | None) -> str:
    return one_line(text) if text else "(nothing)"


def _ends(found: Comparison) -> str:
    if found.new_end is None:
        before = f"ended as {found.old_end}; " if found.old_end else ""
        return f"{before}the rest is not known: {one_line(found.unknown or '')}"
    if found.new_end == found.old_end:
        return f"ends as {found.new_end} all the same"
    return f"ended as {found.old_end or 'is not known'}, would end as {found.new_end}"


def _summary(found: Sequence[Comparison]) -> str:
    counts = Counter(each.verdict for each in found)
    parts = [f"{counts[verdict]} {_WORDS[verdict]}" for verdict in _WORDS if counts[verdict]]
    return f"{len(found)} run{'' if len(found) == 1 else 's'}: {', '.join(parts)}"
