"""`oracle mcp tools`: what MCP servers offer, and what of it is approved."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from oracle.cli.errors import FAILED, CommandError
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.features.mcp_client.opening import Pins, mcp_pins, mcp_tools
from oracle.server.settings.fields import Settings
from oracle.tools.labels import shown_labels

if TYPE_CHECKING:
    from oracle.features.mcp_client.hub import McpTools

_LONGEST = 100


@click.command("tools")
@click.option(
    "--approve",
    "approved",
    multiple=True,
    metavar="SERVER.TOOL",
    help="Approve the tool as its server offers it now; may be repeated.",
)
def tools(*, approved: tuple[str, ...]) -> int:
    """List the tools of the servers in ORACLE_MCP_SERVERS, or approve changed ones.

    A tool is approved when it is first seen. If its description or schema changes later, new runs are not offered it
    until you approve it.

    \b
    Exit codes:
      0  all servers have answered, and all tools are approved
      1  a server cannot be reached, or a tool has changed
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="error")
    if approved:
        _approve(mcp_pins(settings), approved)
        return 0
    if settings["mcp_servers"] is None:
        raise CommandError("there are no MCP servers; name a file of them in ORACLE_MCP_SERVERS")
    return asyncio.run(_list(settings, mcp_tools(settings)))


def _approve(pins: Pins, names: tuple[str, ...]) -> None:
    for name in names:
        server, _, tool = name.partition(".")
        if tool not in pins.of(server):
            raise CommandError(f"there is no tool {name!r}; `oracle mcp tools` lists the tools")
        is_other = pins.approve(server, tool)
        click.echo(f"{name}: {'approved' if is_other else 'was already approved'}")


async def _list(settings: Settings, found: "McpTools") -> int:
    async with found:
        await asyncio.gather(*(each.settled.wait() for each in found.connections))
        for line in _lines(found, mcp_pins(settings)):
            click.echo(one_line(line))
        return FAILED if found.missing() else 0


def _lines(found: "McpTools", pins: Pins) -> Iterator[str]:
    for each in found.connections:
        yield f"{each.name}: {each.problem or 'connected'}"
        for tool in each.tools(also_missing=bool(each.problem)):
            pin = pins.of(each.name)[tool.name.removeprefix(f"{each.name}.")]
            kind = ("writes" if tool.writes else "reads") + (", asks a person" if tool.needs_approval else "")
            kind += "" if tool.labels is None else f", {shown_labels(tool)}"
            yield f"  {tool.name} [{kind}] {pin.approved.digest} {pin.approved.description[:_LONGEST]}"
        for name in each.changed:
            changed = pins.of(each.name)[name].changed
            now = f"{changed.digest} {changed.description[:_LONGEST]}" if changed is not None else ""
            yield f"  {each.name}.{name} has changed and is not offered; now: {now}"
            yield f"    if that is right: oracle mcp tools --approve {each.name}.{name}"
