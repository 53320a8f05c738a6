"""`oracle pending`: what runs wait for people to decide."""

from collections.abc import Sequence
from typing import Any

import click

from oracle.cli.errors import CommandError
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_sources.protocol import RunSource
from oracle.cli.text import call_label, one_line
from oracle.core.encoding import to_json


@click.command("pending")
@click.option("--answer", "asks", is_flag=True, help="Ask here for each decision, one after the other.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@RUN_SOURCE
def pending(*, asks: bool, as_json: bool, place: SourceOptions) -> int:
    """List the decisions that runs wait for, the first to expire on top; with --answer, answer them.

    When a decision is answered, its run continues: at once if a service is running, otherwise when one starts. While a
    service uses an SQLite database, only that service can take answers: name it with --url.

    \b
    Exit codes:
      0  the decisions were listed or answered; there may be none
      1  they cannot be read, or an answer was refused
    """  # noqa: D301  click's mark for lines that are not rewrapped
    from oracle.cli.people import can_decide, decide  # noqa: PLC0415  help needs none of it

    if asks and (as_json or not can_decide()):
        raise CommandError("--answer needs a terminal; without one, answer over HTTP (docs/chat.md)")

    async def work(source: RunSource) -> Sequence[dict[str, Any]]:
        found = await source.pending()
        for each in found if asks else ():
            _show(each)
            decision = decide(each["interrupt"]) if each["may_answer"] else None
            if decision is not None:
                await source.answer(each["run_id"], {"id": each["interrupt"]["id"], **decision})
        return found

    found = with_source(place, work)
    if as_json:
        click.echo(to_json({"pending": found}))
    elif not found:
        click.echo("Nothing waits for a person.", err=True)
    elif not asks:
        for each in found:
            _show(each)
    return 0


def _show(each: dict[str, Any]) -> None:
    asked = each["interrupt"]
    call = "" if asked.get("arguments") is None else f"  {call_label(asked['tool_name'], asked['arguments'])}\n"
    whose = "" if each["may_answer"] else f", to be answered by another person ({asked['answerers']})"
    click.echo(f"{each['run_id']}  {one_line(each['user_id'])}, until {asked['expires_at']}{whose}")
    click.echo(f"  {each['tree']}: {each['question']}")
    click.echo(f"  {one_line(asked['message'], longest=1_000)}\n{call}")
