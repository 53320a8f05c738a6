"""`oracle trees init` and `oracle trees list`: a folder of the user's own trees, and the file behind each name."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import click

from bt_runtime import TreeFileError, TreeLibrary
from oracle.cli.errors import CommandError
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.cli.tree_show import schema_text
from oracle.server.wiring.agent import tree_library
from trees import FOLDER

_SCHEMA: Final = "tree.schema.json"
SCENARIOS: Final = "scenarios"
"""The folder next to the trees that has their scenarios."""


@click.command("init")
@click.argument("name", metavar="DIR")
def init(*, name: str) -> None:
    """Copy the shipped trees to DIR, for editing.

    Their schema is copied too, for editors, and their scenarios, for `oracle trees test DIR`. DIR is created if it does
    not exist. Existing files are never changed: running this again after an upgrade copies new files and says which of
    your files differ from the shipped ones.

    \b
    Exit codes:
      0  DIR has a file for each shipped tree
      1  a file or the folder cannot be written
    """  # noqa: D301  click's mark for lines that are not rewrapped
    if not name.strip():  # perhaps an unset variable; it would mean the working folder
        raise CommandError("DIR is empty; name a folder, or `.` for the working folder")
    folder = Path(name)
    found = {}
    for file, data in _shipped().items():
        _make((folder / file).parent)
        found[file] = _copy(folder / file, data)
    for file, what in found.items():
        click.echo(f"{_shown(folder / file)}: {what}")
    if _DIFFERS in found.values():
        click.echo(f"Files that differ were left as they are; the shipped ones are in {_shown(FOLDER)}")
    shown = _shown(folder)
    click.echo(
        f"Edit them, run `oracle trees check {shown}` and `oracle trees test {shown}`, and set ORACLE_TREES_DIR={shown}"
    )


@click.command("list")
def list_() -> None:
    """Print the file that serves each tree name.

    A file in ORACLE_TREES_DIR takes precedence over one that a package has added, and over the shipped one. Trees with
    mistakes are marked.
    """
    settings = settings_for()
    library = tree_library(settings)
    names = library.names()
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:{width}}  {_served(library, name, settings.trees_folder)}")
    for path in _misnamed(library):
        click.echo(f"Note: {_shown(path)} serves no name; a tree file is called NAME.yaml", err=True)


def shortest(folder: Path) -> Path:
    """The path as the user would write it: relative, unless it is outside the working folder."""
    relative = os.path.relpath(folder)
    return Path(relative) if not relative.startswith("..") else folder


_COPIED: Final = "copied"
_SAME: Final = "unchanged"
_DIFFERS: Final = "kept; it differs from the shipped file"


def _shipped() -> Mapping[str, bytes]:
    """The files of a copy: content by path below its folder."""
    files = {path.name: path.read_bytes() for path in sorted(FOLDER.glob("*.yaml"))}
    files |= {_SCHEMA: schema_text().encode()}
    scenarios = sorted((FOLDER / SCENARIOS).glob("*.yaml"))
    return files | {f"{SCENARIOS}/{path.name}": path.read_bytes() for path in scenarios}


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise CommandError(f"{_shown(folder)!r} is a file; name a folder, or one that is not there yet") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise CommandError(f"the folder {_shown(folder)!r} cannot be made: {_reason(error)}") from None


def _copy(path: Path, data: bytes) -> str:
    """Write a file unless it exists, and say for the user what was done."""
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return _SAME if _holds(path, data) else _DIFFERS
    except OSError as error:
        raise CommandError(f"{_shown(path)!r} cannot be written: {_reason(error)}") from None
    return _COPIED


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == data  # a pipe would be waited for
    except OSError:  # a folder, a broken link, or a file of another user
        return False


def _served(library: TreeLibrary, name: str, own: Path) -> str:
    files = (folder / f"{name}.yaml" for folder in dict.fromkeys(library.folders))
    serving, *hidden = (file for file in files if file.is_file())
    whose = {own: "yours", FOLDER: "shipped"}.get(serving.parent, "added by a package")
    over = f", in place of {', '.join(map(_shown, hidden))}" if hidden else ""
    try:
        use = ", a part of other trees" if library.preview(name).internal else ""
    except TreeFileError as error:
        count = len(error.mistakes)
        use = f"; {count} mistake{'' if count == 1 else 's'}, see `oracle trees check {_shown(serving)}`"
    return f"{_shown(serving)} ({whose}{over}{use})"


def _misnamed(library: TreeLibrary) -> Iterator[Path]:
    """Files of the operator that look like trees but serve no name."""
    names = set(library.names())
    for folder in library.folders:
        for path in sorted(folder.glob("*.y*ml")):
            if "." not in path.stem and (path.suffix == ".yml" or path.stem not in names):
                yield path


def _shown(path: Path) -> str:
    return one_line(str(shortest(path)), longest=400)


def _reason(error: OSError | ValueError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
