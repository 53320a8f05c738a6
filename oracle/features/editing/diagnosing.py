"""The mistakes of one file as an editor shows them, and the fixes that it offers.

Each mistake is at a place of this file, with an end. Offered are its fixes, a missing declaration, and a silence with
a reason.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from bt_runtime.analysis.files import check_text, with_fixes
from bt_runtime.language.registry import NAME, Registry
from bt_runtime.text import MOST_MISTAKES, Edit, Fix, Mistake, Place, in_order
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, Document, read_yaml
from oracle.features.editing.desk import Desk, names_in
from oracle.features.editing.lines import Lines
from oracle.features.editing.occurrences import occurrences
from oracle.features.editing.scanning import spot_at
from oracle.features.editing.symbols import Files


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


REASON = "why this is right here"
"""Stands in a new silence until the author has written the reason."""
_BLOCK = re.compile(r"(?:^|[:-])\s++[|>][-+0-9]*+\s*+(?:(?<=\s)#.*)?$", re.DOTALL)


def with_offers(mistakes: Iterable[Mistake], text: str, *, file: str, registry: Registry) -> list[Mistake]:
    """The mistakes as an editor shows them: those of the text have an end, and everything that `fixes_for` offers.

    Args:
        mistakes: of the text, and perhaps of other files, which stay as they are.
        text: the text.
        file: its file, as the mistakes name it.
        registry: the kinds and the host's keys.
    """
    lines, mistakes = {file: Lines(text, file=file)}, with_fixes(mistakes, {file: text})
    ended = {mistake: with_end(mistake, lines) for mistake in mistakes if mistake.place.file == file}
    fixes: dict[Mistake, list[Fix]] = {}
    for mistake, fix in fixes_for(ended, text, registry):
        fixes.setdefault(mistake, []).append(fix)
    return [replace(ended[each], fixes=tuple(fixes.get(each, ()))) if each in ended else each for each in mistakes]


def fixes_for(mistakes: Iterable[Mistake], text: str, registry: Registry) -> list[tuple[Mistake, Fix]]:
    """The fixes of each mistake, the declaration of a key that does not exist, and for a warning the silence.

    Args:
        mistakes: the mistakes of one file.
        text: the text of the file.
        registry: the kinds and the host's keys.
    """
    mistakes = list(mistakes)
    lines = Lines(text, file=mistakes[0].place.file if mistakes else "")
    declared = _declarations(lines, registry) if any(mistake.is_error for mistake in mistakes) else {}
    found: list[tuple[Mistake, Fix]] = []
    for mistake in mistakes:
        found += [(mistake, fix) for fix in mistake.fixes]
        if not mistake.is_error:
            found.append((mistake, silence(mistake, lines)))
        elif mistake.place in declared:
            found.append((mistake, declared[mistake.place]))
    return found


def _declarations(lines: Lines, registry: Registry) -> dict[Place, Fix]:
    """The declaration of each name that does not exist, by the places where it is used."""
    document = read_yaml(lines.text, file=lines.file)
    names = names_in(lines, registry)
    known = {*names.keys, *names.parameters}
    unknown = {
        each.start: each.name
        for each in occurrences(document, registry)
        if each.sort in {"key", "name"} and each.name not in known and NAME.fullmatch(each.name)
    }
    fixes = {name: _declare(name, document, lines) for name in set(unknown.values())}
    return {place: fix for place, name in unknown.items() if (fix := fixes[name]) is not None}


def _declare(name: str, document: Document, lines: Lines) -> Fix | None:
    fields = document.root.data if document.root is not None else None
    if not isinstance(fields, dict) or not {"blackboard", "root"}.intersection(fields):
        return None
    entry = f"{name}: {{ type: any }}"
    title = f"Declare {name!r} under 'blackboard:'"
    section = fields.get("blackboard")
    if section is None:
        start = Place(lines.file, fields["root"].place.line, 1)
        return Fix(title, (Edit(start, start, f"blackboard:\n  {entry}\n"),))
    keys = section.node.data
    if not isinstance(keys, dict) or not keys:
        return None
    first = next(iter(keys.values())).place
    in_braces = lines[first.line][: first.column - 1].strip() != ""
    between = ", " if in_braces else f"\n{' ' * (first.column - 1)}"
    return Fix(title, (Edit(first, first, f"{entry}{between}"),))


def silence(mistake: Mistake, lines: Lines) -> Fix:
    """A comment that silences a warning, at the end of its line, or above a line that cannot have a comment."""
    number, text = mistake.place.line, f"# silence {mistake.code}: {REASON}"
    title = f"Silence {mistake.code} with a reason"
    head = _block_head(lines, number)
    if head is None and spot_at(lines, number, len(lines[number]) + 1).quote:
        head = number  # the line ends inside of a text
    if head is None:
        end = Place(lines.file, number, len(lines[number].rstrip()) + 1)
        return Fix(title, (Edit(end, end, f"  {text}" if lines[number].strip() else text),))
    start = Place(lines.file, head, 1)
    indent = " " * (len(lines[head]) - len(lines[head].lstrip(" ")))
    return Fix(title, (Edit(start, start, f"{indent}{text}\n"),))


def _block_head(lines: Lines, number: int) -> int | None:
    """The line that begins the block scalar in which a line is; `None` if it is in none."""
    indent = _indent(lines[number])
    for above in range(number - 1, 0, -1):
        line = lines[above]
        if not line.strip() or _indent(line) >= indent:
            continue
        return above if _BLOCK.search(line) else None
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
