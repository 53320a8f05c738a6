"""`oracle runs show`: one run at one tick, and why it went as it did."""

import time
from typing import Any

import click

from oracle.cli.errors import CommandError
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_view.page import WIDEST, Sections, deciding_tick, run_page
from oracle.cli.run_view.screen import COLOR, ColorChoice, Screen
from oracle.core.encoding import to_json
from oracle.replay.histories.codec import history_to_json, plain
from oracle.replay.histories.model import History


@click.command("show")
@click.argument("run")
@click.option("--tick", type=click.IntRange(1), metavar="N", help="Show tick N.")
@click.option(
    "--turn", type=click.IntRange(1), metavar="N", help="Show the tick in which the response of turn N arrived."
)
@click.option("--decision", is_flag=True, help="Show the tick that decided how the run ended (the default).")
@click.option("--error", is_flag=True, help="Show the first tick in which a node raised an exception.")
@click.option("--why", is_flag=True, help="Show the path from the root to the deciding node instead of the tree.")
@click.option("--answer", is_flag=True, help="Show what the user had read by then instead of the tree.")
@click.option("--board", "-b", is_flag=True, help="Show the whole blackboard instead of the tree.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: the history, or the tick that an option selects.")
@COLOR
@RUN_SOURCE
def show(
    *,
    run: str,
    tick: int | None,
    turn: int | None,
    as_json: bool,
    color: ColorChoice,
    place: SourceOptions,
    **flags: bool,
) -> int:
    """Show what happened in the recorded RUN, and why.

    RUN is the run's id, or its first characters. By default the command shows the tick that decided how the run ended:
    the lines of the tree that were ticked, with their results and the values that they read. A service may write to the
    database meanwhile.

    \b
    Exit codes:
      0  the run was shown
      1  there is no such run or tick, or the runs cannot be read
      2  options contradict each other
    """  # noqa: D301  click's mark for lines that are not rewrapped
    error = flags.pop("error")
    choices = {"--tick": tick, "--turn": turn, "--decision": flags.pop("decision"), "--error": error}
    chosen = [name for name, value in choices.items() if value]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other; give one of them")

    history = with_source(place, lambda source: source.history(run))
    if as_json and not chosen:
        click.echo(history_to_json(history))
        return 0
    position = _position(history, tick=tick, turn=turn, error=error)
    if as_json:
        if position is None:
            raise CommandError("the run has no recorded ticks")
        click.echo(to_json(plain(history.ticks[position])))
        return 0
    screen = Screen(color, widest=WIDEST)
    page = run_page(history, position, width=screen.width, sections=Sections(**flags), now=time.time())
    screen.write(page.parts)
    return 0


def _position(history: History, *, tick: int | None, turn: int | None, error: bool) -> int | None:
    """The position of the tick that the options name; `None` if the run has no ticks.

    Raises:
        CommandError: there is no such tick.
    """
    ticks = history.ticks
    if tick is not None:
        found = next((position for position, each in enumerate(ticks) if each.tick == tick), None)
        if found is None:
            raise CommandError(f"there is no tick {tick}; {_range('ticks', [each.tick for each in ticks])}")
        return found
    if turn is not None:
        answered = next((each.ended_tick for each in history.turns if each.n == turn), None)
        found = next((at for at, each in enumerate(ticks) if each.tick == answered or each.turn == turn), None)
        if found is None:
            raise CommandError(f"there is no turn {turn}; {_range('turns', [each.n for each in history.turns])}")
        return next((at for at, each in enumerate(ticks) if each.tick == answered), found)
    if error:
        found = next((position for position, each in enumerate(ticks) if each.errors), None)
        if found is None:
            raise CommandError("no node of the run raised an exception; leave out --error")
        return found
    return deciding_tick(history)


def _range(what: str, numbers: list[Any]) -> str:
    return f"the run has the {what} {min(numbers)} to {max(numbers)}" if numbers else f"the run has no recorded {what}"
