"""What `oracle ask` does: one query in this process, shown on the standard streams; with --detach a service's."""

import asyncio
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import click

from oracle.agent.answering import Ask, Oracle
from oracle.agent.control.tree import TreeControl
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.query import LONGEST_QUESTION, checked_question
from oracle.cli.errors import CommandError
from oracle.cli.interrupts import Interrupts
from oracle.cli.people import Prompter, can_decide, decide
from oracle.cli.setup import settings_for
from oracle.cli.views import QueryStage
from oracle.core.chunks import Chunk
from oracle.core.encoding import to_json
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.core.logs import configure_logging, is_interactive
from oracle.decision import AgentConfig
from oracle.server.settings.fields import Settings, ceiling_name, variable_of
from oracle.server.wiring.agent import note_of_window, open_oracle, uses_provider

_ATTACHED = "oracle.features.attachments.asking:attached"
"""What reads the files of a question; imported for the first that has any."""
_MOST_BYTES = 4 * LONGEST_QUESTION + 4_096
"""UTF-8 has at most four bytes per character; the rest is room for surrounding white space."""
_LONGEST_NUMBER = 18


def read_question(given: str | None) -> str:
    """The question.

    Args:
        given: the argument; `-` or `None` means standard input, unless that is a terminal.

    Raises:
        CommandError: there is no question, or it cannot be read.
        UserError: it is invalid.
    """
    if given not in (None, "-"):
        return checked_question(_as_text(given.encode("utf-8", errors="surrogateescape"), source="the question"))
    if given is None and sys.stdin.isatty():
        raise CommandError('there is no question; use: oracle ask "How does …?", or write it to standard input')
    return checked_question(_from_standard_input())


def read_limits(given: Iterable[str]) -> dict[str, int | str]:
    """Parse `NAME=VALUE` items; a value that is not a whole number stays text, and is refused with all other mistakes.

    Raises:
        CommandError: an item has no `=`.
    """
    limits: dict[str, int | str] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not equals:
            raise CommandError(f"--limit takes NAME=VALUE, such as max_iterations=5, not {item[:80]!r}")
        value = value.strip()
        digits = value.removeprefix("-")
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
        limits[name.strip()] = int(value) if is_number else value[:80]
    return limits


def _from_standard_input() -> str:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read(_MOST_BYTES).strip()
    try:
        data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise CommandError(f"standard input cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise CommandError(
            f"standard input has more than {_MOST_BYTES:,} bytes; a question may have at most 20,000 characters"
        )
    return _as_text(data, source="standard input").strip()


def _as_text(data: bytes, *, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{source} is not UTF-8 text: byte {data[error.start]:#04x} at position {error.start + 1:,} is invalid"
        ) from None


def ask(
    question: str | None,
    *,
    project: Path | None,
    vault: Path | None,
    tree: str,
    limits: tuple[str, ...],
    model: str | None,
    as_json: bool,
    files: Sequence[Path] = (),
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
        files: attached to the question.
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
        return asyncio.run(_answer(settings, asked, interrupts=interrupts, as_json=as_json, files=files))


async def _answer(
    settings: Settings, asked: Ask, *, interrupts: Interrupts, as_json: bool, files: Sequence[Path]
) -> int:
    async with open_oracle(settings) as oracle:
        if files:
            if "attachments" not in {each.name for each in features(settings.features)}:
                raise CommandError("--attach needs the feature 'attachments', which is not installed or is left out")
            asked = replace(asked, attachments=imported(_ATTACHED)(oracle, files))
        return await show_answer(oracle, asked, interrupts=interrupts, as_json=as_json)


async def show_answer(oracle: Oracle, asked: Ask, *, interrupts: Interrupts, as_json: bool) -> int:
    """Run a query, show it on the standard streams, and return the exit code."""
    if note := note_of_window(oracle, asked.model):
        click.echo(f"Note: {note}.", err=True)
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
        raise CommandError("--model needs the name of a model, not an empty text")
    if not uses_provider(settings):
        ways = f"ORACLE_MODEL={name}" if "/" in name else "ANTHROPIC_API_KEY (and ORACLE_LLM=anthropic or auto)"
        raise CommandError(
            f"--model {name!r} needs its provider, but the embedded model answers; set {ways}, or leave --model out"
        )
    if not settings.allows_model(name):
        known = ", ".join(dict.fromkeys((settings.model, *settings.models)))
        raise CommandError(f"--model {name!r} is not an allowed model; allowed are {known} (ORACLE_MODELS)")
    return name


def detach(
    question: str | None, *, url: str | None, tree: str, limits: tuple[str, ...], model: str | None, as_json: bool
) -> int:
    """Have a service begin a run, print its id, and return the exit code.

    Args:
        question: the argument; `-` or `None` means standard input, unless that is a terminal.
        url: the service; `None`: as the environment says, or that of this machine.
        tree: controls the query.
        limits: `NAME=VALUE` each.
        model: the provider's model; `None`: the service's own.
        as_json: print how the run stands, as a JSON object, in place of its id.
    """
    from oracle.cli.run_sources.served import open_service, service_url  # noqa: PLC0415  its client is slow to load

    async def begin() -> dict[str, Any]:
        async with open_service(url or service_url()) as service:
            return await service.begin(asked)

    asked: dict[str, Any] = {"question": read_question(question), "tree": tree, "limits": read_limits(limits)}
    if model is not None:
        asked["model"] = model
    configure_logging("critical")  # its settings are the service's
    run = asyncio.run(begin())
    click.echo(to_json(run).decode() if as_json else run["run_id"])
    if is_interactive(sys.stdout) and not as_json:
        click.echo(
            f"Note: for the answer, run: oracle runs watch --answer {run['run_id']} --url {url or service_url()}",
            err=True,
        )
    return 0
