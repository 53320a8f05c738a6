"""`oracle trees compare`: which recorded queries would have gone another way under another tree."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import click

from bt_runtime import Registry, TreeDefinition, TreeLibrary
from bt_runtime.library.named import read_sources
from bt_runtime.text.data import dataclass
from oracle.cli.archive import DATA_DIR, with_archive
from oracle.cli.errors import CommandError
from oracle.cli.progress import ProgressLine
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.cli.trees import named_tree
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.replay.comparing import Comparison, FirstDifference, Verdict, queries_of, replay_query
from oracle.runs.storage.archive import Archive
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import tree_library

_VERSION = re.compile(r"[0-9a-f]{8,64}")
_WORDS: dict[Verdict, str] = {
    "same": "the same",
    "another_way": "the same result by another path",
    "differs": "different",
    "unknown": "not known",
}
_ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class Differences:
    """What a feature finds to be different between two trees, without recorded runs.

    Args:
        ids: stable names of what differs.
        text: for the terminal.
        markdown: a table.
        data: the same as JSON data.
    """

    ids: Sequence[str]
    text: str
    markdown: str
    data: Sequence[Mapping[str, Any]]


@click.command("compare")
@click.argument("old")
@click.argument("new")
@click.option("--runs", default=100, show_default=True, type=click.IntRange(0, 100_000), help="Use the latest N runs.")
@click.option("--run", "run_id", metavar="ID", help="Use only this run; the first characters of its id are enough.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--format", "format_", type=click.Choice(("text", "markdown", "json")), default="text", show_default=True)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if a run would have been different.")
@click.option("--allow", multiple=True, metavar="ROW", help="Exit with 1 if another row changes: an id, `all`, `none`.")
@DATA_DIR
def compare_(  # noqa: PLR0913  a parameter for each option
    *,
    old: str,
    new: str,
    runs: int,
    run_id: str | None,
    as_json: bool,
    format_: Literal["text", "markdown", "json"],
    exit_code: bool,
    allow: tuple[str, ...],
    data_dir: Path | None,
) -> int:
    """Print in which situations the tree NEW differs from OLD, and replay recorded runs on both.

    OLD and NEW are a tree's name, a file, or the first digits (8 or more) of a version that runs have used. The runs
    are those that named the tree OLD. No model is asked and no tool is run: their recorded results are used. What would
    follow a request that the recorded run did not make is unknown. A service may write to the database meanwhile. With
    --runs 0 no database is needed, unless OLD or NEW is a version.

    \b
    Exit codes:
      0  the runs were compared
      1  a tree or the database cannot be read; with --exit-code: a run would have been different; with --allow: a row
         changed that is not allowed
      130  interrupted; what was compared by then is printed
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="error", data_dir=data_dir)
    library = tree_library(settings)

    async def work(archive: Archive | None) -> tuple[TreeDefinition, TreeDefinition, list[Comparison]]:
        before, after = await _named(old, library, archive), await _named(new, library, archive)
        for name, tree in ((old, before), (new, after)):
            if tree.internal:
                raise CommandError(
                    f"{name!r} is a part of other trees (internal: true), and only whole trees run; compare those"
                )
        if archive is None:
            return before, after, []
        records = await queries_of(archive, before.name, runs=runs, run_id=run_id)
        done: list[Comparison] = []
        for record in records:
            if progress.is_interrupted:
                click.echo(f"interrupted: {len(done)} of {len(records)} runs were compared", err=True)
                break
            progress.show(f"{len(done)} of {len(records)} runs compared; Ctrl-C to stop")
            done.append(await replay_query(record, archive, before, after, registry=library.registry))
        progress.clear()
        return before, after, done

    needs_no_runs = runs == 0 and run_id is None and not any(map(_VERSION.fullmatch, (old, new)))
    with ProgressLine() as progress:
        before, after, found = asyncio.run(work(None)) if needs_no_runs else with_archive(settings, work)
    differences = [] if before.sha == after.sha else _differences(before, after, library.registry, settings)
    _print(differences, found, "json" if as_json else format_, has_runs=not needs_no_runs)
    changed = {name for each in differences for name in each.ids} if allow else set()
    is_refused = "all" not in allow and not changed <= set(allow)
    if is_refused:
        click.echo(f"not allowed to change: {', '.join(sorted(changed - set(allow)))}", err=True)
    return progress.code(int(is_refused or (exit_code and any(each.verdict == "differs" for each in found))))


def _print(
    differences: Sequence[Differences],
    found: Sequence[Comparison],
    format_: Literal["text", "markdown", "json"],
    *,
    has_runs: bool,
) -> None:
    if format_ == "json":
        rows = [row for each in differences for row in each.data]
        shown = {"runs": [each.to_json() for each in found], "rows": rows}
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    for difference in differences:
        click.echo(difference.text if format_ == "text" else f"{difference.markdown}\n")
    for each in found:
        click.echo(_report(each))
    if has_runs:
        click.echo(_summary(found))


def _differences(old: TreeDefinition, new: TreeDefinition, registry: Registry, settings: Settings) -> list[Differences]:
    """What the features that compare trees find."""
    places = [feature.differences for feature in features(settings.features) if feature.differences is not None]
    return [imported(place)(old, new, registry) for place in places]


async def _named(name: str, library: TreeLibrary, archive: Archive | None) -> TreeDefinition:
    """The tree of that name, file or version.

    Raises:
        CommandError: it is a folder, or there is no such version.
        TreeNotFoundError: there is no such tree.
        TreeFileError: it has mistakes.
    """
    if archive is None or not _VERSION.fullmatch(name):
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
