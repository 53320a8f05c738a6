"""What `oracle ask --detach` does: a service is asked, and its answer is not waited for."""

import asyncio
import sys
from typing import Any

import click

from oracle.cli.question import read_limits, read_question
from oracle.cli.run_sources.served import open_service, service_url
from oracle.core.encoding import to_json
from oracle.core.logs.configuring import configure_logging, is_interactive


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
    asked: dict[str, Any] = {"question": read_question(question), "tree": tree, "limits": read_limits(limits)}
    if model is not None:
        asked["model"] = model
    configure_logging("critical")  # its settings are the service's
    run = asyncio.run(_begin(url or service_url(), asked))
    click.echo(to_json(run).decode() if as_json else run["run_id"])
    if is_interactive(sys.stdout) and not as_json:
        click.echo(
            f"Note: its answer: oracle runs watch --answer {run['run_id']} --url {url or service_url()}", err=True
        )
    return 0


async def _begin(url: str, asked: dict[str, Any]) -> dict[str, Any]:
    async with open_service(url) as service:
        return await service.begin(asked)
