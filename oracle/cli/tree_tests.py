"""`oracle trees test`: plays scenario files."""

import json
from pathlib import Path

import click

from oracle.cli.errors import FAILED, CommandError
from oracle.cli.setup import settings_for
from oracle.cli.tree_folders import shortest
from oracle.scenarios.suites import FileResult, Suite, folders_beside, scenario_files
from oracle.wiring import tree_library


@click.command("test")
@click.argument("paths", nargs=-1, metavar="[FILE or DIR]...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def test(*, paths: tuple[Path, ...], as_json: bool) -> int:
    """Play scenario files, without network and without waiting.

    Without a path those beside the shipped trees are played, and those in ORACLE_TREES_DIR/scenarios. Of a folder, the
    files in its `scenarios` are played, or else its own. The trees beside a file are used, then those of
    ORACLE_TREES_DIR, then the shipped ones. Prints a line for each file, and what differs for each scenario that fails.

    \b
    Exit codes:
      0  all scenarios passed
      1  a scenario failed, or a file has mistakes
    """  # noqa: D301  click's mark for lines that are not rewrapped
    library = tree_library(settings_for(log="error"))
    for path in paths:
        if not path.exists():
            raise CommandError(f"there is no file or folder {str(path)!r}")
    files = list(scenario_files(paths or map(shortest, folders_beside(library.folders))))
    if not files:
        raise CommandError("there are no scenario files; see docs/scenarios.md")
    suite = Suite(library)
    results = []
    for file in files:
        results.append(suite.run(file))
        if not as_json:
            click.echo(results[-1].report())
    if as_json:
        click.echo(json.dumps({"files": [each.to_json() for each in results]}, ensure_ascii=False, indent=2))
    else:
        click.echo(_summary(results))
    return 0 if all(each.passed for each in results) else FAILED


def _summary(results: list[FileResult]) -> str:
    count = sum(len(each.verdicts) + len(each.unplayed) for each in results)
    failed = sum(len(each.failures) + len(each.unplayed) for each in results)
    unread = sum(bool(each.mistakes) for each in results)
    words = f"{count} scenario{'' if count == 1 else 's'}: {count - failed} passed"
    words += f", {failed} failed" if failed else ""
    return words + (f"; {unread} file{'' if unread == 1 else 's'} with mistakes" if unread else "")
