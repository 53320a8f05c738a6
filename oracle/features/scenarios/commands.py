"""`oracle trees test` plays scenario files; `oracle runs scenario` turns a recorded run into one."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from bt_runtime import TreeFileError, TreeLibrary
from bt_runtime.text.phrases import listed
from oracle.cli.archive import DATA_DIR, with_archive
from oracle.cli.errors import FAILED, CommandError
from oracle.cli.output_file import OUTPUT, write_new_file
from oracle.cli.progress import ProgressLine
from oracle.cli.setup import settings_for
from oracle.cli.trees import shortest
from oracle.core.errors import UserError
from oracle.features.scenarios.coverage import Coverage, FileCoverage, total
from oracle.features.scenarios.files import to_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.model import Scenario
from oracle.features.scenarios.playing import Player, PlayError
from oracle.features.scenarios.recorded import scenario_of
from oracle.features.scenarios.suites import FileResult, Suite, folders_beside, scenario_files, updated
from oracle.replay.recorded import read_run
from oracle.runs.storage.archive import Archive
from oracle.server.wiring.agent import tree_library


@click.command("test")
@click.argument("paths", nargs=-1, metavar="[FILE or DIR]...", type=click.Path(path_type=Path))
@click.option("--update", is_flag=True, help="Update failing scenarios to what happened; review the changes.")
@click.option("--coverage", is_flag=True, help="List the parts of the trees that no scenario visited.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def test(*, paths: tuple[Path, ...], update: bool, coverage: bool, as_json: bool) -> int:
    """Play scenario files, without network and without waiting.

    Without a path, the shipped scenarios and those in ORACLE_TREES_DIR/scenarios are played. If a path is a folder, the
    files in its subfolder `scenarios` are played, or its own if there is none. Trees are looked up next to the scenario
    files, then in ORACLE_TREES_DIR, then among the shipped ones. Prints a line for each file, and the differences of
    each scenario that fails.

    \b
    Exit codes:
      0  all scenarios passed
      1  a scenario failed, or a file has mistakes
      130  interrupted; the results by then are printed
    """  # noqa: D301  click's mark for lines that are not rewrapped
    library = tree_library(settings_for(log="critical"))
    for path in paths:
        if not path.exists():
            raise CommandError(f"there is no file or folder {str(path)!r}")
    files = list(scenario_files(paths or map(shortest, folders_beside(library.folders))))
    if not files:
        where = listed([str(path) for path in paths]) if paths else "the folders of trees"
        raise CommandError(f"there are no scenario files in {where}; see docs/testing.md")
    suite = Suite(library)
    with ProgressLine() as progress:
        results = list(_played(suite, files, progress, update=update, is_silent=as_json))
    covered = _coverage(suite, results) if coverage else []
    if as_json:
        found: dict[str, Any] = {"files": [each.to_json() for each in results]}
        if coverage:
            found["coverage"] = {"percent": round(total(covered), 1), "files": [each.to_json() for each in covered]}
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return progress.code(_code(results))
    for each in covered:
        click.echo("\n".join([str(each), *(f"  {gap}" for gap in each.gaps)]))
    if covered:
        click.echo(f"Coverage of the trees: {total(covered):.1f} %")
    click.echo(_summary(results))
    return progress.code(_code(results))


def _played(
    suite: Suite, files: Sequence[Path], progress: ProgressLine, *, update: bool, is_silent: bool
) -> Iterator[FileResult]:
    """Play the files, until an interruption; prints the report on each."""
    for number, file in enumerate(files):
        if progress.is_interrupted:
            click.echo(f"interrupted: {number} of {len(files)} files were played", err=True)
            return
        progress.show(f"{file}: {number + 1} of {len(files)} files; Ctrl-C to stop")
        result = suite.run(file)
        result = _updated(suite, result) if update else result
        progress.clear()
        if not is_silent:
            click.echo(result.report())
        yield result


def _updated(suite: Suite, result: FileResult) -> FileResult:
    """Rewrite the file, and play it again."""
    if not result.failures:
        return result
    text = updated(result.source, result.verdicts)
    if text == result.source:
        return result
    try:
        result.path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{str(result.path)!r} cannot be written: {error.strerror or error}") from None
    count = len(result.failures)
    click.echo(f"{result.path}: {count} scenario{'' if count == 1 else 's'} updated", err=True)
    return suite.run(result.path)


def _coverage(suite: Suite, results: list[FileResult]) -> list[FileCoverage]:
    """What was visited of the trees that were played, and of those that lie beside the scenarios."""
    coverage = Coverage(suite.library.registry)
    for tree in suite.trees():
        coverage.know(tree)
    for result in results:
        for verdict in result.verdicts:
            coverage.add(verdict.played)
    return list(coverage.files())


def _code(results: list[FileResult]) -> int:
    return 0 if all(each.passed for each in results) else FAILED


def _summary(results: list[FileResult]) -> str:
    count = sum(len(each.verdicts) + len(each.unplayed) for each in results)
    failed = sum(len(each.failures) + len(each.unplayed) for each in results)
    unread = sum(bool(each.mistakes) for each in results)
    words = f"{count} scenario{'' if count == 1 else 's'}: {count - failed} passed"
    words += f", {failed} failed" if failed else ""
    return words + (f"; {unread} file{'' if unread == 1 else 's'} with mistakes" if unread else "")


@click.command("scenario")
@click.argument("run")
@OUTPUT
@DATA_DIR
def scenario(*, run: str, output: Path | None, data_dir: Path | None) -> int:
    """Turn the recorded RUN into a scenario file for `oracle trees test`.

    RUN is the run's id, or its first characters. The file has the responses of the model and the tools, the events from
    outside, and the result. If today's tree behaves differently, a comment in the file says so. The file contains the
    texts of the run: read it before you share it.

    \b
    Exit codes:
      0  the scenario was written
      1  there is no such run, or it cannot be replayed
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="critical", data_dir=data_dir)
    library = tree_library(settings)

    async def work(archive: Archive) -> str:
        recorded = await read_run(archive, await archive.find(run))
        found = scenario_of(recorded, registry=library.registry)
        await _try(found, library)
        return to_yaml([found], about=f"Recorded as the run {recorded.record.id}.")

    text = with_archive(settings, work)
    if output is None:
        click.echo(text.rstrip("\n"))
    else:
        write_new_file(output, text.encode())
    return 0


async def _try(found: Scenario, library: TreeLibrary) -> None:
    """Play the scenario, and note where it fails: its tree may have been changed since the run."""
    try:
        verdict = judge(found, await Player(library).play_async(found))
    except (PlayError, UserError, TreeFileError) as error:
        click.echo(f"Note: with today's trees it cannot be played: {error}", err=True)
        return
    what = sorted({str(each.path[0]) if each.path else "the turns" for each in verdict.differences})
    if what:
        click.echo(f"Note: with today's trees it fails ({', '.join(what)}); see `oracle trees test`", err=True)
