"""The check of trees and their files: mistakes, warnings, and changes that remove them.

Warnings do not prevent a tree from running, so they are made only where trees are edited (the command line, the editor,
the service's check), never when a query loads one.

A comment on the line of a warning silences it (`codes`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path

from bt_runtime.analysis import keys, limits, reaching, values, writes
from bt_runtime.analysis.codes import BASIC, NOT_JUDGED, Code, Judged, by_name, silenced, silences_in
from bt_runtime.analysis.flow import flow_of, flows_of_parts
from bt_runtime.analysis.host import Budget, OverBudgetError, host_of
from bt_runtime.analysis.yaml_repair import readable_part
from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.errors import TreeFileError
from bt_runtime.language.reading.loading import Loading, TreeSource
from bt_runtime.language.registry import Registry
from bt_runtime.library.named import TreeLibrary, files_in
from bt_runtime.text import Edit, Fix, Mistake, Place, Suggestion, brief, format_mistakes, in_order, visible
from bt_runtime.text.data import dataclass
from bt_runtime.text.mistakes import LINE_BREAK
from bt_runtime.text.phrases import counted

_WORD_GOES_ON = re.compile(r"(?<=\w)\w")


def with_fixes(mistakes: Iterable[Mistake], sources: Mapping[str, str]) -> list[Mistake]:
    """The mistakes, with a fix for each hint that can be applied automatically.

    A hint has no fix where the file does not have the text that the hint names, because it was folded, escaped or comes
    from an argument.

    Args:
        mistakes: the mistakes of one file or of several.
        sources: the text of each file by its name.
    """
    lines: dict[str, list[str]] = {}
    fixed: list[Mistake] = []
    for mistake in mistakes:
        file = mistake.place.file
        if not mistake.fixes and isinstance(mistake.hint, Suggestion) and file in sources:
            if file not in lines:
                lines[file] = LINE_BREAK.split(sources[file])
            fix = _fix(mistake.place, mistake.hint, lines[file])
            fixed.append(replace(mistake, fixes=(fix,), end=fix.edits[0].end) if fix else mistake)
        else:
            fixed.append(mistake)
    return fixed


def _fix(place: Place, hint: Suggestion, lines: list[str]) -> Fix | None:
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    at = place.column - 1
    quote = line[at : at + 1]
    written = hint.written
    if quote in {"'", '"'} and line.startswith(f"{written}{quote}", at + 1):
        written = f"{quote}{written}{quote}"
    elif not line.startswith(written, at) or _WORD_GOES_ON.match(line, at + len(written)):
        return None
    end = Place(place.file, place.line, place.column + len(written))
    title = f"Replace {brief(hint.written)} by {brief(hint.instead)}"
    return Fix(title, (Edit(place, end, hint.instead),))


_MODULES = (reaching, limits, keys, values, writes)
"""The checks of the flow of control; a new one is a new module, and its name here."""


def _flow_warnings(tree: TreeDefinition, registry: Registry, budget: Budget) -> Iterator[Mistake]:
    """The warnings about the flow of control, by the judges of runtime and host, as far as the budget allows."""
    judges = (*(module.judge for module in _MODULES), *host_of(registry).judges)
    parts = flows_of_parts(tree, registry=registry, budget=budget)
    try:
        for flow in chain((flow_of(tree, registry=registry, budget=budget),), parts):
            yield from _without_consequences([mistake for judge in judges for mistake in judge(flow)])
    except OverBudgetError:
        message = "this tree is too large to check all of its control: some faults may have no warning"
        hint = "move parts of it to other files (internal: true); each file is checked by itself"
        yield Mistake(tree.root.place, message, hint, tree.root.path, code=NOT_JUDGED.name, severity="warning")


def _without_consequences(found: list[Mistake]) -> Iterator[Mistake]:
    """The warnings without those that another one explains: a key that is read too early, an endless loop."""
    explained = {mistake.path for mistake in found if mistake.code == "key-read-early"}
    untils = {mistake.path for mistake in found if mistake.code in _OF_UNTIL}
    is_endless = any(mistake.code in {"until-never-changes", "until-never-true"} for mistake in found)
    for mistake in found:
        is_told = (
            (mistake.path in explained and mistake.code.startswith("condition-always"))
            or (mistake.path in untils and mistake.code in {"until-never-true", "wait-over-at-once"})
            or (is_endless and mistake.code == "stop-ignored")
        )
        if not is_told:
            yield mistake


_OF_UNTIL = frozenset(
    {"until-never-changes", "key-never-written", "key-read-early", "never-equal", "always-false", "always-true"}
    | {"operation-fails", "null-operand", "loop-never-runs"}
)
"""Warnings that say why an `until` does not change."""


def codes_of(registry: Registry) -> Mapping[str, Code]:
    """All codes by name, those of the host among them."""
    return by_name(chain(BASIC, *(module.CODES for module in _MODULES), host_of(registry).codes))


def warnings_of(tree: TreeDefinition, *, registry: Registry, budget: Budget | None = None) -> tuple[Mistake, ...]:
    """All warnings about a tree, those of the trees that it includes among them, sorted by place.

    Args:
        tree: a tree that was read without an error.
        registry: its kinds, and the checks of the host.
        budget: bounds the check, and can end it; `None`: the bounds that hold for every check.
    """
    return judged(tree, registry=registry, budget=budget).warnings


def judged(tree: TreeDefinition, *, registry: Registry, budget: Budget | None = None) -> Judged:
    """All warnings about a tree, and which silences of its files were used."""
    left = budget or Budget()
    found = in_order(_flow_warnings(tree, registry, left))
    known = codes_of(registry)
    silences = [each for file, text in tree.texts.items() for each in silences_in(text, file=file, known=known)]
    result = silenced(found, silences, known=known, own_file=tree.file)
    return Judged(in_order(result.warnings), result.used)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The result of a check of one file.

    Args:
        tree: the tree, with sample values for its required parameters; `None` if it is invalid, or if no sample fits.
        mistakes: the errors of the file and of the trees that it includes, sorted.
        warnings: control flow that is probably a mistake, sorted; none for an invalid tree.
        used_silences: the places of the comments, in this file or in one that it includes, that took back a warning.
    """

    file: str
    tree: TreeDefinition | None
    mistakes: tuple[Mistake, ...]
    warnings: tuple[Mistake, ...] = ()
    used_silences: frozenset[Place] = frozenset()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check."""

    files: tuple[CheckedFile, ...]
    sources: Mapping[str, str]

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """All errors, without duplicates."""
        return in_order(mistake for file in self.files for mistake in file.mistakes)

    @property
    def warnings(self) -> tuple[Mistake, ...]:
        """All warnings, without duplicates.

        A silence of a subtree may be used only where a tree of another file includes it, so it counts as unused if no
        file of the check uses it.
        """
        used = frozenset[Place]().union(*(file.used_silences for file in self.files))
        return in_order(
            warning
            for file in self.files
            for warning in file.warnings
            if not (warning.code == "unused-silence" and warning.place in used)
        )

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(file.mistakes for file in self.files)

    def __str__(self) -> str:
        """A line per valid tree, with the number of its warnings; then all mistakes with line, caret and hint."""
        found = in_order((*self.mistakes, *self.warnings))
        warned = Counter(mistake.place.file for mistake in found)
        heads = {file.file: counted(warned[file.file], "warning") if warned[file.file] else "OK" for file in self.files}
        lines = [
            f"{visible(each.file)}: {heads[each.file]}{_facts(each.tree)}" for each in self.files if not each.mistakes
        ]
        if found:
            lines.append(format_mistakes(found, self.sources))
        return "\n".join(lines)


def check_files(library: TreeLibrary, paths: Iterable[Path]) -> CheckReport:
    """Check files, or the tree files of folders.

    Subtrees are searched in a file's folder first, then in the library.

    Args:
        library: where they are searched, with the kinds of its registry.
        paths: of files and folders.
    """
    files: list[CheckedFile] = []
    sources: dict[str, str] = {}
    for path in paths:
        try:
            found = sorted(files_in(path)) if path.is_dir() else [path]
        except OSError as error:
            mistake = Mistake(Place(str(path)), f"this cannot be read: {error.strerror or error}")
            files.append(CheckedFile(str(path), None, (mistake,)))
            continue
        if not found:
            hint = "tree files are called NAME.yaml"
            mistake = Mistake(Place(str(path)), "there is no tree file in this folder", hint)
            files.append(CheckedFile(str(path), None, (mistake,)))
        for file in found:
            try:
                source = library.read(file, name=file.stem)
            except TreeFileError as error:
                files.append(CheckedFile(str(file), None, error.mistakes))
            else:
                files.append(_checked(library.beside(file.parent), source, sources))
    return CheckReport(tuple(files), sources)


def check_text(library: TreeLibrary, path: Path, text: str | bytes) -> CheckReport:
    """Check a text in the place of a file, which need not exist; otherwise as `check_files` does.

    Args:
        library: where subtrees are searched.
        path: the file; its name without the ending is the name that the tree must declare.
        text: the text.
    """
    sources: dict[str, str] = {}
    checked = _checked(library.beside(path.parent), TreeSource(str(path), text, path.stem), sources)
    return CheckReport((checked,), sources)


def _checked(library: TreeLibrary, source: TreeSource, sources: dict[str, str]) -> CheckedFile:
    """The check of one file; `sources` gets the texts that were read."""
    loading = Loading(library.registry, library.source)
    tree = loading.load(source, samples=True)
    sources.update(loading.sources)
    found_too = _of_the_rest(library, source, loading.sources) if tree is None else []
    mistakes = in_order(with_fixes([*loading.mistakes, *found_too], loading.sources))
    if tree is None:
        return CheckedFile(source.file, None, mistakes)
    found = judged(tree, registry=library.registry)
    return CheckedFile(source.file, tree, mistakes, found.warnings, found.used)


def _of_the_rest(library: TreeLibrary, source: TreeSource, sources: Mapping[str, str]) -> list[Mistake]:
    """The mistakes in what can be read of a file whose syntax is wrong."""
    rest = readable_part(sources[source.file])
    if rest is None:
        return []
    loading = Loading(library.registry, library.source)
    loading.load(TreeSource(source.file, rest.text, source.name), samples=True)
    return [each for each in loading.mistakes if each.place.file == source.file and rest.bears_out(each)]


def _facts(tree: TreeDefinition | None) -> str:
    if tree is None:
        return ""
    nodes = len(tree.nodes())
    including = f", includes {', '.join(tree.subtrees)}" if tree.subtrees else ""
    return f" ({tree.name}, {nodes} node{'s' if nodes != 1 else ''}{including})"
