"""Trees by name, from folders, and the check of tree files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bt_runtime.analysis import judged
from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.errors import TreeFileError, TreeNotFoundError
from bt_runtime.language.kind import Value
from bt_runtime.language.reading.fixes import with_fixes
from bt_runtime.language.reading.header import TREE_NAME, read_header
from bt_runtime.language.reading.loading import Loading, TreeSource
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake, Place, format_mistakes, in_order, visible
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, YAML_ENDINGS, read_yaml
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
        """A line per valid tree, then every error and warning with its line, a caret and a hint."""
        lines = [f"{visible(file.file)}: OK{_facts(file.tree)}" for file in self.files if not file.mistakes]
        found = in_order((*self.mistakes, *self.warnings))
        if found:
            lines.append(format_mistakes(found, self.sources))
        return "\n".join(lines)


class TreeLibrary:
    """The trees of some folders; a tree `NAME` is the file `NAME.yaml` of the first folder that has it.

    Nothing is cached: every call reads the files.

    Args:
        folders: searched in this order; one that does not exist counts as empty.
        texts: texts that take the place of files, by absolute path without symbolic links: what an editor has not saved
            yet. A file that does not exist exists by its text.
    """

    def __init__(self, folders: Sequence[Path], *, registry: Registry, texts: Mapping[Path, str] | None = None) -> None:
        self.folders: tuple[Path, ...] = tuple(folders)
        self.registry = registry
        self.texts: Mapping[Path, str] = texts or {}

    def beside(self, folder: Path) -> "TreeLibrary":
        """The library that searches this folder first, as the check of a file in it does."""
        return TreeLibrary((folder, *self.folders), registry=self.registry, texts=self.texts)

    def names(self) -> tuple[str, ...]:
        """The names of all trees, sorted; the files are not checked."""
        found: set[str] = set()
        for folder in self.folders:
            found.update(path.stem for path in _tree_files(folder) if path.suffix == ".yaml")
        unsaved = {folder.resolve() for folder in self.folders} if self.texts else set()
        found.update(path.stem for path in self.texts if path.parent in unsaved and path.suffix == ".yaml")
        return tuple(sorted(name for name in found if TREE_NAME.fullmatch(name)))

    def find(self, name: str) -> Path:
        """The file of a tree.

        Raises:
            TreeNotFoundError: there is none; the message has the nearest name, or the folders searched.
        """
        if TREE_NAME.fullmatch(name):  # also keeps the path inside its folder
            for folder in self.folders:
                path = folder / f"{name}.yaml"
                if self._text(path) is not None or _is_file(path):
                    return path
        raise TreeNotFoundError(name, self.names(), self.folders)

    def source(self, name: str) -> TreeSource:
        """The text of a tree, not read yet.

        Raises:
            TreeNotFoundError: there is no such tree.
            TreeFileError: its file cannot be read.
        """
        return self._read(self.find(name), name=name)

    def load(self, name: str, *, arguments: Mapping[str, Value] | None = None) -> TreeDefinition:
        """A tree with its subtrees included, ready to be built.

        Raises:
            TreeNotFoundError: there is no such tree.
            TreeFileError: it, or a tree that it includes, has mistakes, or needs arguments.
        """
        return self.load_source(self.source(name), arguments=arguments)

    def is_internal(self, name: str) -> bool:
        """Whether a tree declares itself to be only a part of others; false if its file cannot be read.

        Raises:
            TreeNotFoundError: there is no such tree.
        """
        try:
            source = self.source(name)
        except TreeFileError:
            return False
        return read_header(read_yaml(source.text, file=source.file), registry=self.registry).internal

    def preview(self, name: str) -> TreeDefinition:
        """A tree to be shown: parameters without a default get sample values.

        Raises:
            TreeNotFoundError: there is no such tree.
            TreeFileError: it, or a tree that it includes, has mistakes, or no sample value fits.
        """
        return self.load_source(self.source(name), samples=True)

    def read_text(self, text: str | bytes, *, file: str = "<text>", name: str | None = None) -> TreeDefinition:
        """A tree from a text that is not a file yet, with the subtrees of the library; parameters as in `preview`.

        Args:
            text: the text.
            file: its name in messages.
            name: the name that it must declare; `None` if any will do.

        Raises:
            TreeFileError: with every mistake.
        """
        return self.load_source(TreeSource(file, text, name), samples=True)

    def check(self, paths: Iterable[Path]) -> CheckReport:
        """Check files, or the tree files of folders.

        Subtrees are searched in a file's folder first, then in the library. A folder's tree files are its `*.yaml` and
        `*.yml`; those with a further dot in their names (`oracle.test.yaml`) are not trees.
        """
        files: list[CheckedFile] = []
        sources: dict[str, str] = {}
        for path in paths:
            try:
                found = sorted(_files_in(path)) if path.is_dir() else [path]
            except OSError as error:
                mistake = _mistake(path, f"this cannot be read: {error.strerror or error}")
                files.append(CheckedFile(str(path), None, (mistake,)))
                continue
            if not found:
                mistake = _mistake(path, "there is no tree file in this folder", "tree files are called NAME.yaml")
                files.append(CheckedFile(str(path), None, (mistake,)))
            files += [self._check(file, sources) for file in found]
        return CheckReport(tuple(files), sources)

    def check_text(self, path: Path, text: str | bytes) -> CheckReport:
        """Check a text in the place of a file, which need not exist; otherwise as `check` does.

        Args:
            path: the file; its name without the ending is the name that the tree must declare.
            text: the text.
        """
        sources: dict[str, str] = {}
        checked = self._check_source(TreeSource(str(path), text, path.stem), path.parent, sources)
        return CheckReport((checked,), sources)

    def load_source(
        self, source: TreeSource, *, arguments: Mapping[str, Value] | None = None, samples: bool = False
    ) -> TreeDefinition:
        """A tree from any source, with the subtrees of the library; `samples` fills parameters without a default.

        Raises:
            TreeFileError: with every mistake.
        """
        loading = Loading(self.registry, self.source)
        tree = loading.load(source, arguments=arguments, samples=samples)
        if tree is not None:
            return tree
        message = "the tree cannot be shown without arguments: no sample value fits its parameters"
        no_sample = _mistake(source.file, message, "give each parameter a default that is right where it is used")
        raise TreeFileError(loading.mistakes or [no_sample], loading.sources)

    def _check(self, path: Path, sources: dict[str, str]) -> CheckedFile:
        try:
            source = self._read(path, name=path.stem)
        except TreeFileError as error:
            return CheckedFile(str(path), None, error.mistakes)
        return self._check_source(source, path.parent, sources)

    def _check_source(self, source: TreeSource, folder: Path, sources: dict[str, str]) -> CheckedFile:
        loading = Loading(self.registry, self.beside(folder).source)
        tree = loading.load(source, samples=True)
        sources.update(loading.sources)
        found_too = self._of_the_rest(source, folder, loading.sources) if tree is None else []
        mistakes = in_order(with_fixes([*loading.mistakes, *found_too], loading.sources))
        if tree is None:
            return CheckedFile(source.file, None, mistakes)
        found = judged(tree, registry=self.registry)
        return CheckedFile(source.file, tree, mistakes, found.warnings, found.used)

    def _of_the_rest(self, source: TreeSource, folder: Path, sources: Mapping[str, str]) -> list[Mistake]:
        """The mistakes in what can be read of a file whose syntax is wrong."""
        rest = readable_part(sources[source.file])
        if rest is None:
            return []
        loading = Loading(self.registry, self.beside(folder).source)
        loading.load(TreeSource(source.file, rest.text, source.name), samples=True)
        return [each for each in loading.mistakes if each.place.file == source.file and rest.bears_out(each)]

    def _read(self, path: Path, *, name: str) -> TreeSource:
        text = self._text(path)
        return TreeSource(str(path), text, name) if text is not None else read_source(path, name=name)

    def _text(self, path: Path) -> str | None:
        """The text that takes the place of a file."""
        return self.texts.get(path.resolve()) if self.texts else None


def read_tree(text: str | bytes, *, file: str, registry: Registry) -> TreeDefinition:
    """Read one tree that stands alone.

    Raises:
        TreeFileError: with every mistake of the file.
    """
    return TreeLibrary((), registry=registry).load_source(TreeSource(file, text))


def read_sources(texts: Mapping[str, str], *, name: str, registry: Registry) -> TreeDefinition:
    """Read a tree from the texts of its files, as `TreeDefinition.sources` has them; the same ones are read once.

    Raises:
        TreeFileError: with every mistake.
        TreeNotFoundError: a text is missing.
    """
    return _read_sources(tuple(texts.items()), name, registry)


@lru_cache(maxsize=32)
def _read_sources(items: tuple[tuple[str, str], ...], name: str, registry: Registry) -> TreeDefinition:
    """Keyed by the texts: a worker that takes runs over needs the same few versions again and again."""
    texts = dict(items)

    def find(wanted: str) -> TreeSource:
        if wanted not in texts:
            raise TreeNotFoundError(wanted, texts)
        return TreeSource(f"{wanted}.yaml", texts[wanted], wanted)

    loading = Loading(registry, find)
    tree = loading.load(find(name))
    if tree is None:
        raise TreeFileError(loading.mistakes, loading.sources)
    return tree


def _tree_files(folder: Path) -> list[Path]:
    try:
        return _files_in(folder)
    except OSError:
        return []


def _files_in(folder: Path) -> list[Path]:
    return [
        path for path in folder.iterdir() if path.suffix in YAML_ENDINGS and "." not in path.stem and path.is_file()
    ]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # its folder may not be entered
        return False


def read_source(path: Path, *, name: str) -> TreeSource:
    """The bytes of a file, up to the largest size that is read.

    Raises:
        TreeFileError: it cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise TreeFileError([_mistake(path, "this is not a file")])
        with path.open("rb") as file:
            return TreeSource(str(path), file.read(LARGEST_FILE_BYTES + 1), name)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TreeFileError([_mistake(path, f"the file cannot be read: {reason}")]) from None


def _mistake(file: Path | str, message: str, hint: str | None = None) -> Mistake:
    return Mistake(Place(str(file)), message, hint)


def _facts(tree: TreeDefinition | None) -> str:
    if tree is None:
        return ""
    nodes = len(tree.nodes())
    including = f", includes {', '.join(tree.subtrees)}" if tree.subtrees else ""
    return f" ({tree.name}, {nodes} node{'s' if nodes != 1 else ''}{including})"
