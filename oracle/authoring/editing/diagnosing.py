"""The mistakes of one file as an editor shows them: each at a place of this file, with an end."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bt_runtime.analysis.files import check_text
from bt_runtime.text import MOST_MISTAKES, Mistake, Place, in_order
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES
from oracle.authoring.editing.desk import Desk
from oracle.authoring.editing.lines import Lines
from oracle.authoring.editing.symbols import Files


@dataclass(frozen=True, slots=True)
class FileMistake:
    """One mistake of a file.

    Args:
        mistake: at a place of this file, with its end.
        related: the mistake where it really is, if that is in a tree that this one includes.
    """

    mistake: Mistake
    related: Mistake | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All mistakes of a file, sorted; `sources` are the texts of the files that they are in."""

    findings: tuple[FileMistake, ...]
    sources: Mapping[str, str]


def diagnose(desk: Desk, text: str, file: Path) -> Diagnosis:
    """Check a text in the place of its file, with the checker that the command line and the service use.

    A mistake in an included tree is reported where the tree is included, because it keeps this file from running.
    """
    report = check_text(desk.library, file, text)
    sources = {str(file): text[:LARGEST_FILE_BYTES], **report.sources}
    lines = {name: Lines(source, file=name) for name, source in sources.items()}
    found = in_order((*report.mistakes, *report.warnings))[:MOST_MISTAKES]
    inclusions = _inclusions(desk, text, file) if any(each.place.file != str(file) for each in found) else {}
    findings = [_finding(with_end(mistake, lines), str(file), inclusions, lines) for mistake in found]
    return Diagnosis(
        tuple(sorted(findings, key=lambda each: (each.mistake.place.line, each.mistake.place.column))), sources
    )


def with_end(mistake: Mistake, lines: Mapping[str, Lines]) -> Mistake:
    """The mistake with an end: that of the word at its place, if it has none."""
    if mistake.end is not None or mistake.place.file not in lines:
        return mistake
    return replace(mistake, end=lines[mistake.place.file].token_end(mistake.place))


def _finding(mistake: Mistake, file: str, inclusions: Mapping[str, Place], lines: Mapping[str, Lines]) -> FileMistake:
    if mistake.place.file == file:
        return FileMistake(mistake)
    place = inclusions.get(mistake.place.file, Place(file))
    tree = Path(mistake.place.file).stem
    here = replace(
        mistake,
        place=place,
        end=lines[file].token_end(place),
        message=f"in the tree {tree!r}, line {mistake.place.line}: {mistake.message}",
        fixes=(),
    )
    return FileMistake(here, mistake)


def _inclusions(desk: Desk, text: str, file: Path) -> dict[str, Place]:
    """For each included file the place in this file by which it is included, directly or not."""
    files = Files(desk, text, file)
    found: dict[str, Place] = {}
    for use in files.names(file):
        tree = files.tree(use.name) if use.sort == "tree" and use.access == "read" else None
        waiting = [tree] if tree is not None else []
        while waiting:
            each = waiting.pop()
            if str(each) not in found and each != file:
                found[str(each)] = use.start
                waiting += files.included(each)
    return found
