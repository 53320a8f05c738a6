"""The check of tree files: their mistakes, and the warnings about their trees."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bt_runtime.analysis.judging import judged
from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.errors import TreeFileError
from bt_runtime.language.reading.fixes import with_fixes
from bt_runtime.language.reading.loading import Loading, TreeSource
from bt_runtime.library.named import TreeLibrary, files_in
from bt_runtime.text import Mistake, Place, format_mistakes, in_order, visible
from bt_runtime.text.phrases import counted
from bt_runtime.text.yaml_repair import readable_part


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The result of a check of one file.

    Args:
        tree: the tree, with sample values for its required parameters; `None` if it is invalid, or if no sample fits.
        mistakes: the errors of the file and of the trees that it includes, sorted.
        warnings: what its control does that its author can hardly have meant, sorted; none of an invalid tree.
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
