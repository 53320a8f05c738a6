"""What `oracle ask` does: one query in this process, shown on the standard streams."""

import asyncio
import sys
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path

import click

from oracle.agent.answering import Ask, Oracle
from oracle.agent.control.tree import TreeControl
from oracle.agent.nodes.board import ANSWERS
from oracle.cli.deciding import Prompter, can_decide, decide
from oracle.cli.errors import CommandError
from oracle.cli.interrupts import Interrupts
from oracle.cli.question import read_limits, read_question
from oracle.cli.setup import settings_for
from oracle.cli.stage import QueryStage
from oracle.core.chunks import Chunk
from oracle.core.logs.configuring import configure_logging, is_interactive
from oracle.decision import AgentConfig
from oracle.server.settings.fields import Settings, ceiling_name, variable_of
from oracle.server.wiring.agent import open_oracle, uses_provider


def ask(
    question: str | None,
    *,
    project: Path | None,
    vault: Path | None,
    tree: str,
    limits: tuple[str, ...],
    model: str | None,
    as_json: bool,
) -> int:
    """Answer one question, and return the exit code.

    Args:
        question: the argument; `-` or `None` means standard input, unless that is a terminal.
        project: the folder of the code; `None`: as the settings say.
        vault: the folder of the notes; `None`: as the settings say.
        tree: controls the query.
        limits: `NAME=VALUE` each.
        model: the provider's model; `None`: as the settings say.
        as_json: print the chunks as JSON, and nothing else.
    """
    with Interrupts() as interrupts:
        settings = settings_for(project_dir=project, vault_dir=vault)
        configure_logging(settings.log, as_text=True)  # a person reads it, wherever it goes
        asked = Ask(
            read_question(question),
            model=_checked_model(model, settings),
            tree=tree,
            limits=_checked_limits(limits, settings),
        )
        return asyncio.run(_answer(settings, asked, interrupts=interrupts, as_json=as_json))


async def _answer(settings: Settings, asked: Ask, *, interrupts: Interrupts, as_json: bool) -> int:
    async with open_oracle(settings) as oracle:
        return await show_answer(oracle, asked, interrupts=interrupts, as_json=as_json)


async def show_answer(oracle: Oracle, asked: Ask, *, interrupts: Interrupts, as_json: bool) -> int:
    """Run a query, show it on the standard streams, and return the exit code."""
    stage = QueryStage(as_json=as_json)
    prompter: Prompter | None = None

    def emit(chunk: Chunk) -> None:
        stage.show(chunk)
        if prompter is not None:
            prompter.take(chunk)

    query = await oracle.open(asked, emit=emit)
    loop = asyncio.get_running_loop()
    if isinstance(query.control, TreeControl):
        deliver = partial(query.control.deliver, ANSWERS)
        prompter = Prompter(deliver, clear=stage.view.close, ask=decide if can_decide() and not as_json else None)
    stage.begin(cancel=query.cancel)
    interrupts.bind(stop=lambda: loop.call_soon_threadsafe(query.cancel), give_up=stage.view.give_up)
    try:
        # A view keeps the stream that it writes to; whatever else prints, such as a tool of another package, must not
        # get into an answer that a program reads.
        with nullcontext() if is_interactive(sys.stdout) else redirect_stdout(sys.stderr):
            await query.run()
    finally:
        stage.view.close()
    return interrupts.exit_code or stage.exit_code()


def _checked_limits(given: Iterable[str], settings: Settings) -> dict[str, int]:
    """The limits of the query, lowered to those of the operator; prints a note for each that was lowered."""
    named = read_limits(given)
    wanted = AgentConfig().with_limits(named)
    allowed = settings.capped(wanted).model_dump()
    for field, value in wanted.model_dump().items():
        if allowed[field] < value and field in named:
            variable = variable_of(ceiling_name(field))
            click.echo(f"Note: {field} is {allowed[field]:,} and not {value:,}; {variable} allows no more.", err=True)
    return allowed


def _checked_model(name: str | None, settings: Settings) -> str | None:
    if name is None:
        return None
    if not name.strip():
        raise CommandError("--model takes a model's name, not an empty text")
    if not uses_provider(settings):
        raise CommandError(
            f"--model {name!r} needs the provider, but the embedded model answers; "
            "set ANTHROPIC_API_KEY (and ORACLE_LLM=anthropic or auto), or leave --model out"
        )
    if not settings.allows_model(name):
        known = ", ".join(dict.fromkeys((settings.model, *settings.models)))
        raise CommandError(f"--model {name!r} is not among the models that may be used: {known} (ORACLE_MODELS)")
    return name
