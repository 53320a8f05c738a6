"""`oracle serve`: the service over HTTP. It is imported when it is started, so that help is there at once."""

from pathlib import Path
from typing import Final

import click

from oracle.core.loading import imported
from oracle.server.settings.table import settings_table

MOST_WORKERS: Final = 64
_FOLDER = click.Path(path_type=Path)


class _CommandWithSettings(click.Command):
    """A command whose help ends with a table of all settings."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Settings (environment variables, also from a file .env in the working folder)"):
            formatter.write_dl(
                [
                    (row.name, f"{row.meaning}{f' [default: {row.default}]' if row.default else ''}")
                    for row in settings_table()
                ]
            )


@click.command("serve", cls=_CommandWithSettings)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="The port to listen on; 0 picks one."
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, MOST_WORKERS),
    help="The number of worker processes; more than one needs PostgreSQL (ORACLE_DATABASE_URL).",
)
@click.option("--data-dir", type=_FOLDER, metavar="DIR", help="The folder for the service's data.")
@click.option(
    "--trees", type=_FOLDER, metavar="DIR", help="A folder of trees that take precedence over the shipped ones."
)
@click.option("--project", type=_FOLDER, metavar="DIR", help="The project whose code is searched and read.")
@click.option("--vault", type=_FOLDER, metavar="DIR", help="The folder with notes and threads.")
def serve(
    *,
    host: str,
    port: int,
    workers: int,
    data_dir: Path | None,
    trees: Path | None,
    project: Path | None,
    vault: Path | None,
) -> int:
    """Answer questions over HTTP, until SIGTERM or Ctrl-C.

    Prints the address when it accepts requests. Everything else is a log on standard error. The first signal lets runs
    in progress end, within ORACLE_DRAIN_S seconds, and then stops the service. The second signal stops it at once.

    \b
    Exit codes:
      0    stopped on request
      1    cannot start: the port, a setting, a folder, a tree or the database cannot be used
      2    an option is unknown, has no value, or has one that is not possible
      130  a second Ctrl-C came before the service had stopped (143: SIGTERM)
    """  # noqa: D301  click's mark for lines that are not rewrapped
    return int(
        imported("oracle.cli.serving:serve")(
            host=host,
            port=port,
            workers=workers,
            data_dir=data_dir,
            trees_dir=trees,
            project_dir=project,
            vault_dir=vault,
        )
    )
