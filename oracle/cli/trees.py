"""`oracle trees init`, `list`, `show`, `schema` and `check`: the files behind names, and mistakes."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from bt_runtime import TreeDefinition, TreeFileError, TreeLibrary, format_mistakes, render, tree_schema
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.files import check_files, codes_of
from bt_runtime.drawing.rendering import FORMATS, Format
from bt_runtime.library.named import read_source
from bt_runtime.text import Mistake, closest, in_order
from bt_runtime.text.yaml_reader import YAML_ENDINGS
from oracle.cli.errors import FAILED, CommandError
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.core.features import features
from oracle.core.loading import imported
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import tree_library
from oracle.server.wiring.domains import domain_of
from oracle.server.wiring.plugins import plugins_of, registry_of
from trees import FOLDER


def named_tree(library: TreeLibrary, name: str, *, samples: bool = False) -> TreeDefinition:
    """The tree of that name or, if the name looks like a path, of that file.

    Subtrees of a file are searched in its own folder first, then in the library.

    Args:
        library: where names are searched.
        name: the name or path, exactly as the user wrote it.
        samples: give parameters without a default sample values; otherwise such a tree is a mistake.

    Raises:
        CommandError: it is a folder.
        TreeNotFoundError: there is no tree of that name.
        TreeFileError: it has mistakes, or its file cannot be read.
    """
    if os.sep not in name and not name.endswith(YAML_ENDINGS):
        return library.load_source(library.source(name), samples=samples)
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name!r} is a folder; name a tree, or one tree file")
    return library.beside(path.parent).load_source(read_source(path, name=path.stem), samples=samples)


@click.command("show")
@click.argument("name")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Its format.")
def show(*, name: str, format_: Format) -> None:
    """Print a picture of the tree NAME, or of a tree file.

    Exits with 1 if there is no such tree, or if it has mistakes.
    """
    click.echo(render(named_tree(tree_library(settings_for()), name, samples=True), format_).rstrip("\n"))


@click.command("schema")
def schema() -> None:
    """Print the JSON Schema of tree files, for editors."""
    click.echo(schema_text().rstrip("\n"))


def schema_text() -> str:
    """The JSON Schema of tree files, with all node kinds of this process.

    Raises:
        SettingsError: settings are invalid.
        PluginError: what other packages add cannot be used.
    """
    settings = settings_for()
    registry = registry_of(plugins_of(settings), domain_of(settings))
    return json.dumps(tree_schema(registry), indent=2, ensure_ascii=False) + "\n"


_SCHEMA: Final = "tree.schema.json"
SCENARIOS: Final = "scenarios"
"""The folder next to the trees that has their scenarios."""


@click.command("init")
@click.argument("name", metavar="DIR")
def init(*, name: str) -> None:
    """Copy the shipped trees to DIR, for editing.

    Copies their schema too, for editors, and their scenarios, for `oracle trees test DIR`. DIR is created if it does
    not exist. Existing files are never changed: after an upgrade, run this again to copy new files and to list those of
    your files that differ from the shipped ones.

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
        click.echo(f"Changed files were kept; the shipped ones are in {_shown(FOLDER)}")
    shown = _shown(folder)
    click.echo(
        f"Edit them, run `oracle trees check {shown}` and `oracle trees test {shown}`, and set ORACLE_TREES_DIR={shown}"
    )


@click.command("list")
def list_() -> None:
    """Print the file that provides each tree.

    A file in ORACLE_TREES_DIR replaces a package's tree of the same name, which replaces a shipped one. Trees with
    mistakes are marked.
    """
    settings = settings_for()
    library = tree_library(settings)
    names = library.names()
    width = max(map(len, names), default=0)
    for name in names:
        click.echo(f"{name:{width}}  {_served(library, name, settings.trees_folder)}")
    for path in _misnamed(library):
        click.echo(f"Note: {_shown(path)} provides no tree; a tree file must be called NAME.yaml", err=True)


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
        raise CommandError(f"{_shown(folder)!r} is a file; name a folder, which may be a new one") from None
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


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[FILE or DIR]...", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--explain", metavar="CODE", help="Print what a code means and how to fix it.")
def check(*, paths: tuple[Path, ...], strict: bool, explain: str | None) -> int:
    """Check tree files, or all tree files of folders.

    Without a path, the shipped trees and those in ORACLE_TREES_DIR are checked. Prints a line for each valid tree, and
    each mistake as `file:line:column: message` with the line, a caret and a hint. A warning is `file:line:column:
    warning CODE: message`. With --explain CODE, nothing is checked.

    \b
    Exit codes:
      0  all trees are valid
      1  there are mistakes, or, with --strict, warnings
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for()
    library = tree_library(settings)
    if explain is not None:
        return _explain(explain, codes_of(library.registry))
    report = check_files(
        library, paths or [shortest(folder) for folder in library.folders if not _is_unused(folder, settings)]
    )
    for feature in features(settings.features):
        if feature.warnings is not None:
            worded: Callable[[Mistake], Mistake] = imported(feature.warnings)(settings)
            files = (replace(file, warnings=tuple(map(worded, file.warnings))) for file in report.files)
            report = replace(report, files=tuple(files))
    click.echo(str(report))
    further = "" if paths else _mistakes_in_place(library, report.mistakes)
    if further:
        click.echo(further)
    return FAILED if not report.ok or further or (strict and report.warnings) else 0


def _explain(name: str, codes: Mapping[str, Code]) -> int:
    if name not in codes:
        nearest = closest(name, codes)
        raise CommandError(f"there is no code {name!r}" + (f"; did you mean {nearest!r}?" if nearest else ""))
    code = codes[name]
    click.echo(f"{name} ({code.severity}): {code.summary}\n{code.fix}")
    return 0


def _is_unused(folder: Path, settings: Settings) -> bool:
    """Whether nothing was ever saved in the folder that a service makes for saved trees."""
    return folder != settings.trees_dir and folder == settings.trees_folder and not any(folder.glob("*.y*ml"))


def _mistakes_in_place(library: TreeLibrary, checked: Iterable[Mistake]) -> str:
    """The mistakes that only arise where the operator's files replace shipped ones, formatted; empty if there are none.

    The check of a file looks for subtrees beside it first; a query looks in the operator's folder first.
    """
    known = set(map(_identity, checked))
    found: list[Mistake] = []
    sources: dict[str, str] = {}
    for name in library.names():
        try:
            library.preview(name)
        except TreeFileError as error:
            found += [mistake for mistake in error.mistakes if _identity(mistake) not in known]
            sources |= error.sources
    return format_mistakes(in_order(found), sources)


def _identity(mistake: Mistake) -> tuple[str, int, int, str]:
    """Equal for one mistake whose file is named by different paths."""
    place = mistake.place
    return os.path.realpath(place.file), place.line, place.column, mistake.message
