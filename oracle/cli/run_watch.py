"""`oracle runs watch`: a run while it is under way."""

import asyncio
import time
from contextlib import aclosing

import click

from oracle.cli.interrupts import Interrupts
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_sources.protocol import RunSource
from oracle.cli.run_view.page import WIDEST, Sections, deciding_tick, run_page, tick_line
from oracle.cli.run_view.screen import COLOR, ColorChoice, Page, Screen
from oracle.cli.views import QueryStage
from oracle.replay.histories.model import History

_FRAME_S = 0.1  # between two drawings


@click.command("watch")
@click.argument("run")
@click.option("--answer", is_flag=True, help="Show the answer, as `oracle ask` does, instead of the ticks.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer's chunks as JSON, as `oracle ask --json` does.")
@COLOR
@RUN_SOURCE
def watch(*, run: str, answer: bool, as_json: bool, color: ColorChoice, place: SourceOptions) -> int:
    """Watch RUN tick by tick until it ends.

    On a terminal, the view of `oracle runs show` is redrawn at each tick and stays when the run has ended. Otherwise a
    line is printed for each tick. A run that has ended is shown at its end.

    With --answer the answer is printed from its beginning, as `oracle ask` prints it. A lost connection to a service is
    made again.

    \b
    Exit codes:
      0    the run has ended; with --answer: the exit codes of `oracle ask`
      1    there is no such run, or the runs cannot be read
      130  interrupted with Ctrl-C (143: by SIGTERM); the run continues
    """  # noqa: D301  click's mark for lines that are not rewrapped
    screen = Screen(color, widest=WIDEST)
    stage = QueryStage(as_json=as_json) if answer or as_json else None
    with Interrupts() as interrupts:

        async def work(source: RunSource) -> int:
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            assert task is not None  # noqa: S101  this coroutine runs in it
            give_up = screen.restore if stage is None else stage.view.give_up
            interrupts.bind(stop=lambda: loop.call_soon_threadsafe(task.cancel), give_up=give_up)
            try:
                await (_watch(source, run, screen) if stage is None else _show_answer(source, run, stage))
            except asyncio.CancelledError:
                if interrupts.exit_code is None:
                    raise
            return interrupts.exit_code or (0 if stage is None else stage.exit_code())

        return with_source(place, work)


async def _watch(source: RunSource, run: str, screen: Screen) -> None:
    if not screen.is_terminal:
        await _print_ticks(source, run, screen)
        return
    history: History | None = None
    async with aclosing(source.follow(run)) as histories:
        with screen.alternate() as other:
            async for history in histories:
                screen.draw(other, _page(history, screen))
                if history.run.status != "finished":
                    await asyncio.sleep(_FRAME_S)
    if history is not None:
        screen.write(_page(history, screen).parts)


async def _show_answer(source: RunSource, run: str, stage: QueryStage) -> None:
    stage.begin(cancel=lambda: None)
    try:
        async with aclosing(source.chunks(run)) as chunks:
            async for chunk in chunks:
                stage.show(chunk)
                if stage.is_broken:
                    return
    finally:
        stage.view.close()


async def _print_ticks(source: RunSource, run: str, screen: Screen) -> None:
    printed = 0
    history: History | None = None
    async with aclosing(source.follow(run)) as histories:
        async for history in histories:
            screen.write(tick_line(history, tick) for tick in history.ticks[printed:])
            printed = len(history.ticks)
    if history is not None and history.run.termination_reason is not None:
        page = run_page(history, None, width=screen.width, sections=Sections(), now=time.time())
        screen.write(page.head[:2])


def _page(history: History, screen: Screen) -> Page:
    return run_page(history, deciding_tick(history), width=screen.width, sections=Sections(), now=time.time())
