"""Trees by name, from folders."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.errors import TreeFileError, TreeNotFoundError
from bt_runtime.language.kind import Value
from bt_runtime.language.reading.header import TREE_NAME, read_header
from bt_runtime.language.reading.loading import Loading, TreeSource
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake, Place
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES, YAML_ENDINGS, read_yaml


class TreeLibrary:
    """The trees of some folders; a tree `NAME` is the file `NAME.yaml` of the first folder that has it.

    Nothing is cached: every call reads the files.

    Args:
        folders: searched in this order; one that does not exist counts as empty.
        texts: texts that replace files, by absolute path without symbolic links: what an editor has not saved yet. The
            file itself need not exist.
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
            with suppress(OSError):
                found.update(path.stem for path in files_in(folder) if path.suffix == ".yaml")
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
        return self.read(self.find(name), name=name)

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

    def read(self, path: Path, *, name: str) -> TreeSource:
        """The text of a file, which need not be in one of the folders, or the text that replaces it.

        Raises:
            TreeFileError: it cannot be read.
        """
        text = self._text(path)
        return TreeSource(str(path), text, name) if text is not None else read_source(path, name=name)

    def _text(self, path: Path) -> str | None:
        """The text that replaces a file."""
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


def files_in(folder: Path) -> list[Path]:
    """The tree files of a folder, `*.yaml` and `*.yml`; a name with another dot in it does not count."""
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
