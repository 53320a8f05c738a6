"""`oracle trees verify`: explore all behaviours of trees, and prove or refute what must hold."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import click

from bt_runtime import TreeDefinition, TreeLibrary
from bt_runtime.text.phrases import counted
from oracle.cli.errors import FAILED, CommandError
from oracle.cli.progress import ProgressLine
from oracle.cli.setup import settings_for
from oracle.cli.trees import named_tree
from oracle.features.verifier.exploring import (
    DEFAULT_MEGABYTES,
    DEFAULT_SECONDS,
    DEFAULT_STATES,
    INTERRUPTED,
    Bounds,
    Headway,
)
from oracle.features.verifier.stories import recording_of, scenario_file
from oracle.features.verifier.verify import DEFAULT_TURNS, Report, Scope, verify
from oracle.server.wiring.agent import tree_library

NOT_DECIDED: Final = 3
_OPTIONS: Final = {"states": "--states", "time": "--seconds", "MB": "--megabytes"}
"""The option that raises a bound, by the last word of `Report.bound`."""


@click.command("verify")
@click.argument("names", nargs=-1, metavar="[NAME or FILE]...")
@click.option(
    "--turns", default=DEFAULT_TURNS, show_default=True, type=click.IntRange(1, 50), help="The most turns of a run."
)
@click.option(
    "--states", default=DEFAULT_STATES, show_default=True, type=click.IntRange(1), help="Stop after this many states."
)
@click.option(
    "--seconds",
    default=DEFAULT_SECONDS,
    show_default=True,
    type=click.FloatRange(0),
    help="Stop after this much CPU time.",
)
@click.option(
    "--megabytes", default=DEFAULT_MEGABYTES, show_default=True, type=click.IntRange(1), help="Stop at this many MB."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--scenario", type=click.Path(path_type=Path), metavar="DIR", help="Write a scenario file for each counterexample."
)
@click.option(
    "--recording",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the first counterexample's ticks, as JSON.",
)
def verify_(
    *,
    names: tuple[str, ...],
    turns: int,
    states: int,
    seconds: float,
    megabytes: int,
    as_json: bool,
    scenario: Path | None,
    recording: Path | None,
) -> int:
    """Explore all behaviours of trees, and prove or refute properties of their runs.

    Without a NAME, all trees that a question can name are explored. Each property is proven within the printed bounds,
    refuted by a shortest counterexample, or not decided; then the report says why, and for how many turns it is proven.
    Progress goes to standard error: on one line at a terminal, otherwise every ten seconds. Ctrl-C stops the
    exploration and prints what was found by then.

    \b
    Exit codes:
      0  every property is proven
      1  a property is refuted, or a tree has mistakes
      3  no property is refuted, but not all are decided
      130  interrupted
    """  # noqa: D301  click's mark for lines that are not rewrapped
    library = tree_library(settings_for(log="critical"))
    scope = Scope(turns=turns, bounds=Bounds(states, seconds, megabytes), registry=library.registry)
    reports: list[Report] = []
    with ProgressLine() as progress:
        for tree in _chosen(library, names):
            reports.append(verify(tree, scope, watch=_shown(progress, tree.name)))
            progress.clear()
            if not as_json:
                click.echo("\n".join([*reports[-1].lines(), *_advice(reports[-1])]))
            if progress.is_interrupted:
                break
    if as_json:
        click.echo(json.dumps({"trees": [report.to_json() for report in reports]}, ensure_ascii=False, indent=2))
    _write(reports, scenario, recording)
    verdicts = {report.verdict for report in reports}
    return progress.code(FAILED if "refuted" in verdicts else NOT_DECIDED if "not_decided" in verdicts else 0)


def _advice(report: Report) -> Iterator[str]:
    """What leads to a verdict, where something has stopped the exploration."""
    option = _OPTIONS.get(report.bound.rpartition(" ")[2])
    ways = [f"raise {option}"] if option is not None else []
    if report.turns > 1 and (ways or report.bound == INTERRUPTED):
        ways.append(f"explore fewer turns with --turns {report.turns - 1}")
    if ways:
        yield f"hint: {', or '.join(ways)}"


def _shown(progress: ProgressLine, name: str) -> Callable[[Headway], bool]:
    """Shows how far the exploration of a tree has come, and stops it on an interruption."""
    began_s = time.monotonic()

    def line(standing: Headway) -> str:
        refuted = f", refuted: {', '.join(standing.refuted)}" if standing.refuted else ""
        figures = f"{standing.states:,} states ({standing.waiting:,} waiting), {standing.transitions:,} events"
        turns = counted(standing.turns, "turn")
        return f"{name}: up to {turns}, {figures}, {time.monotonic() - began_s:.0f} s{refuted}; Ctrl-C to stop"

    def watch(standing: Headway) -> bool:
        progress.show(line(standing))
        return not progress.is_interrupted

    return watch


def _chosen(library: TreeLibrary, names: tuple[str, ...]) -> Iterator[TreeDefinition]:
    """The trees of these names and files; all that a question can name if there are none.

    Raises:
        CommandError: one is a folder.
        TreeNotFoundError: there is no such tree.
        TreeFileError: one has mistakes.
    """
    for name in names or library.names():
        tree = named_tree(library, name, samples=True)
        if names or not tree.internal:
            yield tree


def _write(reports: list[Report], scenario: Path | None, recording: Path | None) -> None:
    """Write the counterexamples to files.

    Raises:
        CommandError: a file cannot be written.
    """
    stories = [(report, result) for report in reports for result in report.results if result.story is not None]
    try:
        if scenario is not None:
            for report, result in stories:
                scenario.mkdir(parents=True, exist_ok=True)
                assert result.story is not None  # noqa: S101  chosen above
                text = scenario_file(result.story.scenario, about=f"{report.tree}: {result.text}")
                (scenario / f"{report.tree}.{result.name}.yaml").write_text(text, encoding="utf-8")
        if recording is not None and stories:
            report, result = stories[0]
            assert result.story is not None  # noqa: S101  chosen above
            recording.write_bytes(recording_of(result.story))
    except OSError as error:
        raise CommandError(f"the counterexample cannot be written: {error.filename!r}: {error.strerror}") from None
