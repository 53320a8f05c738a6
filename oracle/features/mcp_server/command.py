"""`oracle mcp`: what has to do with the Model Context Protocol."""

from pathlib import Path

import click

from oracle.cli.groups import LazyGroup
from oracle.core.loading import imported

_FOLDER = click.Path(path_type=Path)


@click.group("mcp", cls=LazyGroup, commands_at={}, of_features="mcp ", invoke_without_command=True)
@click.option("--project", type=_FOLDER, metavar="DIR", help="The project whose code is searched and read.")
@click.option("--vault", type=_FOLDER, metavar="DIR", help="The folder of notes and threads.")
@click.pass_context
def mcp(context: click.Context, *, project: Path | None, vault: Path | None) -> int:
    """Serve the Model Context Protocol on standard input and output, for a client that starts this command.

    The tool `ask` answers in this process, like `oracle ask`. Nothing is kept after the process, unless
    ORACLE_DATABASE_URL names a database. The log goes to standard error. docs/chat.md has the configuration of clients.
    A running service offers the same at /mcp.
    """
    if context.invoked_subcommand is not None:
        return 0
    return int(imported("oracle.features.mcp_server.standard_streams:serve")(project=project, vault=vault))
