"""What `oracle serve` does: read the settings strictly, serve, and announce the address."""

from pathlib import Path

import click

from oracle.cli.setup import settings_for
from oracle.runs.storage.database import may_be_shared
from oracle.server.process.process import Listening, run_service


def serve(*, host: str, port: int, workers: int, **folders: Path | None) -> int:
    """Serve until a signal comes, and return the exit code; `folders` are by field of the settings.

    Raises:
        click.BadParameter: several workers cannot serve on the database of the settings.
    """
    settings = settings_for(log="info", strict=True, **folders)
    if workers > 1 and not may_be_shared(settings.database_address):
        raise click.BadParameter(
            "an SQLite file can be used by only one process; leave it out, or set ORACLE_DATABASE_URL=postgresql://…",
            param_hint="--workers",
        )
    return run_service(settings, host=host, port=port, announce=_announce, workers=workers)


def _announce(listening: Listening) -> None:
    note = f"  note: {listening.note}\n" if listening.note else ""
    click.echo(
        f"Oracle is listening on {listening.url}\n"
        f"  model: {listening.model}, control: {listening.control}, data: {listening.store}, auth: {listening.auth}\n"
        f"{note}  next: open {listening.url}/ in a browser; Ctrl-C here ends the service"
    )
