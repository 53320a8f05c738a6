"""`--output FILE`: what a command makes, in a new file."""

import os
from pathlib import Path

import click

from oracle.cli.errors import CommandError
from oracle.cli.text import one_line

OUTPUT = click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to this new file instead of standard output.",
)


def write_new_file(path: Path, data: bytes) -> None:
    """Write a file that only its user can read, and say so; an existing one is never changed.

    Raises:
        CommandError: it exists already, or cannot be written.
    """
    try:
        with open(path, "xb", opener=_private) as file:
            file.write(data)
    except FileExistsError:
        raise CommandError(f"{str(path)!r} exists already; name a new file") from None
    except OSError as error:
        raise CommandError(f"{str(path)!r} cannot be written: {error.strerror or error}") from None
    click.echo(f"{one_line(str(path))}: written")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)  # it has what was said in a run
