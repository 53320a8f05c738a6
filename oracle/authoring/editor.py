"""`TreeEditor`: the trees of a service as its operators see and change them.

Rules:

- A text is only saved if the tree, and every tree that includes it and was valid, is valid with it.
- It must have been made from the present version: two people who edit the same tree do not undo each other's work.
- Every version stays readable: those that were saved, those that were found in the folders, and the shipped ones.
- Saving, taking back and reading changed files happen one after the other. What takes time runs in a thread.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from difflib import unified_diff
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import structlog

from bt_runtime import Mistake, ReloadingTrees, TreeDefinition, TreeFileError, TreeLibrary, TreeState, difference
from bt_runtime.language.reading.header import TREE_NAME
from bt_runtime.language.reading.loading import TreeSource
from bt_runtime.text import in_order, visible
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import LARGEST_FILE_BYTES
from oracle.authoring.files import PreparedFile, TreeFolderError, locked
from oracle.core.errors import NotFoundError, TreeAuthorError, UserError
from oracle.core.loading import imported
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.trees import EditFigures, EditKind, NewEdit, TreeEdit, TreeEdits

if TYPE_CHECKING:  # a service loads the checker with the first text that is checked
    from bt_runtime.analysis.host import Budget

log = structlog.get_logger(__name__)

T = TypeVar("T")

NO_TREE: Final = "There is no such tree, or no such version of it."
_TEXT = "<text>"  # the file of a text that is checked without a name
_CHECKS_AT_ONCE = 2  # they take processor time, so more wait; one whose text takes long does not hold the others
_MOST_WARNINGS_KEPT = 200  # trees whose warnings are remembered


class TreeRefusedError(TreeAuthorError):
    """A text that cannot be saved: it, or a tree that includes it, would have mistakes.

    Args:
        mistakes: at least one, sorted by their places.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__(f"the tree would have mistakes: {mistakes[0].message}")
        self.mistakes = tuple(mistakes)


class TreeConflictError(UserError):
    """An edit that was not made from the present version.

    Args:
        message: says what has happened meanwhile.
        version: the present one; `None` if there is none.
        edit: who saved it; `None` if that is not known.
        difference: what has changed since the version that the edit was made from; `None` if that is not known.
    """

    def __init__(self, message: str, *, version: str | None, edit: TreeEdit | None, difference: str | None) -> None:
        super().__init__(message)
        self.version = version
        self.edit = edit
        self.difference = difference


@dataclass(frozen=True, slots=True)
class Save:
    """A text to be saved.

    Args:
        name: the name of the tree.
        text: the whole text of its file.
        base: the version that it was made from; `None` for a tree that does not exist.
        user_id: the operator who saves it.
        note: why.
        how: `restored` if it is a former text.
    """

    name: str
    text: str
    base: str | None
    user_id: str
    note: str | None = None
    how: EditKind = "saved"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """The result of a check: the errors and warnings of a text, and the errors of the trees that include it.

    Args:
        mistakes: the errors, sorted.
        warnings: of a text without errors, sorted.
        file: what the mistakes call the text.
    """

    mistakes: tuple[Mistake, ...]
    warnings: tuple[Mistake, ...]
    file: str


class TreeEditor:
    """Changes the trees of a service.

    Args:
        trees: the trees that new runs use.
        folder: the operator's; trees are saved there.
        edits: keeps the versions.
    """

    def __init__(self, trees: ReloadingTrees, *, folder: Path, edits: TreeEdits) -> None:
        self.trees = trees
        self.folder = folder
        self._edits = edits
        self._saving = asyncio.Lock()  # one save waits for those of other processes; the others wait for it
        self._lock = asyncio.Lock()
        self._checking = asyncio.Semaphore(_CHECKS_AT_ONCE)
        self._warnings: dict[str, tuple[Mistake, ...]] = {}

    # Reading

    def state(self, name: str) -> TreeState:
        """A tree as it is served.

        Raises:
            NotFoundError: there is none of this name.
        """
        found = next((state for state in self.trees.states() if state.name == name), None)
        if found is None:
            raise NotFoundError(NO_TREE)
        return found

    def text(self, state: TreeState, given: str | None) -> str:
        """A text that is given for a tree, or else that of its present file.

        Raises:
            UserError: none is given, and the file cannot be read.
        """
        text = given if given is not None else text_of(state)
        if text is None:
            raise UserError(f"the file of the tree {state.name!r} cannot be read", status=409)
        return text

    def is_shipped(self, state: TreeState) -> bool:
        """Whether the present file of a tree is not in the operator's folder."""
        return state.source is None or Path(state.source.file).parent != self.folder

    def shadows(self, state: TreeState) -> bool:
        """Whether the operator's file of a tree takes the place of another folder's."""
        others = (folder for folder in self.trees.library.folders if folder != self.folder)
        return not self.is_shipped(state) and any((folder / f"{state.name}.yaml").is_file() for folder in others)

    async def warnings(self, tree: TreeDefinition | None) -> tuple[Mistake, ...]:
        """What the control of a tree does that its author can hardly have meant."""
        if tree is None:
            return ()
        found = self._warnings.get(tree.sha)
        if found is None:
            found = await self._judged(partial(self._warnings_of, tree))
            if len(self._warnings) >= _MOST_WARNINGS_KEPT:
                self._warnings.clear()
            self._warnings[tree.sha] = found
        return found

    async def versions(self, name: str) -> list[TreeEdit]:
        """The versions of a tree, newest first; also of one that is no longer there.

        Raises:
            NotFoundError: there never was one of this name.
        """
        found = await self._edits.of(name) if TREE_NAME.fullmatch(name) else []
        if not found:
            raise NotFoundError(NO_TREE)
        return found

    async def figures(self) -> dict[str, EditFigures]:
        """How many versions each tree has, and when the newest came, by the names of the trees."""
        return await self._edits.figures()

    async def version_text(self, name: str, sha: str) -> str:
        """The text of a former version, or of the present one.

        Raises:
            NotFoundError: the tree has no such version.
        """
        text = await self._edits.text(name, sha) if TREE_NAME.fullmatch(name) else None
        if text is None:
            raise NotFoundError(NO_TREE)
        return text

    async def check(self, text: str, *, name: str | None = None) -> CheckedText:
        """Check a text; with a name as the file of that tree, together with the trees that include it.

        What judges its control ends soon after a cancellation.

        Raises:
            TreeFolderError: the folders cannot be read.
        """
        return await self._judged(partial(self._check, text, name))

    async def _judged(self, judge: Callable[..., T]) -> T:
        """Judge in a thread, a few at a time, with a `budget` that says whether the work may go on."""
        budget: Budget = imported("bt_runtime.analysis.host:Budget")()
        async with self._checking:
            try:
                return await asyncio.to_thread(judge, budget=budget)
            finally:
                budget.cancel()

    # Changing

    async def save(self, save: Save) -> None:
        """Save a text; new runs use it at once. If it is the present one, nothing is done.

        Raises:
            TreeRefusedError: there would be mistakes.
            TreeConflictError: it was made from another version than the present one.
            TreeFolderError: the folder cannot be read or written.
            StoreUnavailableError: the version cannot be kept for now; nothing is saved.
        """
        async with self._saving:
            with ExitStack() as stack:
                await asyncio.to_thread(stack.enter_context, locked(self.folder))
                async with self._lock:  # not before: who keeps the folder locked keeps no change from being read
                    await self._save(save)

    async def _save(self, save: Save) -> None:
        present = await asyncio.to_thread(self._present, save.name)
        await self._require_current(save, present)
        if present is not None and _bytes(present) == save.text.encode():
            return
        with closing(await asyncio.to_thread(self._prepare, save)) as file:
            edit = NewEdit(save.name, sha_of(save.text), save.text, save.how, save.user_id, save.note)
            await self._edits.add(edit, publish=file.publish)
        log.info("tree.saved", tree=save.name, version=edit.sha, how=save.how, user_id=save.user_id)
        await self._refresh()

    async def refresh(self) -> None:
        """Read the files that have changed, and keep their versions."""
        async with self._lock:
            await self._refresh()

    async def start(self) -> None:
        """Read all trees, and keep the versions that are there, the shipped ones among them.

        Raises:
            StoreUnavailableError: they cannot be kept for now.
        """
        async with self._lock:
            await asyncio.to_thread(self.trees.refresh, is_first=True)
            shipped = await asyncio.to_thread(self._shipped)
            await self._edits.add_found(self._found(self.trees.names()), shipped=shipped)

    async def _refresh(self) -> None:
        changed = await asyncio.to_thread(self.trees.refresh)
        try:
            await self._edits.add_found(self._found(changed))
        except StoreUnavailableError as error:
            log.warning("tree.version_not_kept", trees=", ".join(changed)[:500], problem=str(error))

    def _found(self, names: Iterable[str]) -> list[NewEdit]:
        """The texts of valid trees, as versions that came by a change of their files."""
        served = {state.name: state for state in self.trees.states()}
        edits = []
        for name in names:
            state = served.get(name)
            text = text_of(state) if state is not None and state.error is None else None
            if state is not None and text is not None:
                edits.append(NewEdit(name, sha_of(text), text, "shipped" if self.is_shipped(state) else "file"))
        return edits

    def _shipped(self) -> list[NewEdit]:
        """The files of this release, also those that the operator's take the place of."""
        library = self.trees.library
        texts: dict[str, str] = {}
        for folder in library.folders:
            if folder != self.folder:
                for path in sorted(folder.glob("*.yaml")):
                    if TREE_NAME.fullmatch(path.stem):
                        texts.setdefault(path.stem, path.read_bytes().decode(errors="replace"))
        return [NewEdit(name, sha_of(text), text, "shipped") for name, text in texts.items()]

    # In a thread:

    def _present(self, name: str) -> TreeSource | None:
        """The present file of a tree; `None` if there is none, or if it cannot be read."""
        try:
            found = self.trees.read_files().found.get(name)
        except OSError as error:
            raise TreeFolderError(_unreadable(error)) from None
        return found if isinstance(found, TreeSource) else None

    def _prepare(self, save: Save) -> PreparedFile:
        mistakes = self._check(save.text, save.name, budget=None).mistakes
        if mistakes:
            raise TreeRefusedError(mistakes)
        return PreparedFile(self._path(save.name), save.text.encode())

    def _check(self, text: str, name: str | None, *, budget: "Budget | None") -> CheckedText:
        """Check a text; without a budget its control is not judged."""
        data = text.encode()[: LARGEST_FILE_BYTES + 1]
        if name is None:
            try:
                tree: TreeDefinition | None = self.trees.library.read_text(data, file=_TEXT)
                mistakes: tuple[Mistake, ...] = ()
            except TreeFileError as error:
                tree, mistakes = None, error.mistakes
        else:
            tree, mistakes = self._with(name, TreeSource(str(self._path(name)), data, name))
        warnings: tuple[Mistake, ...] = ()
        if tree is not None and budget is not None:
            warnings = self._warnings_of(tree, budget=budget)
        return CheckedText(mistakes, warnings, file=_TEXT if name is None else str(self._path(name)))

    def _warnings_of(self, tree: TreeDefinition, *, budget: "Budget") -> tuple[Mistake, ...]:
        judge: Callable[..., tuple[Mistake, ...]] = imported("bt_runtime.analysis.files:warnings_of")
        return judge(tree, registry=self.trees.library.registry, budget=budget)

    def _with(self, name: str, source: TreeSource) -> tuple[TreeDefinition | None, tuple[Mistake, ...]]:
        """A tree with this file, and the mistakes that this would bring anywhere."""
        try:
            states = self.trees.with_source(name, source)
        except OSError as error:
            raise TreeFolderError(_unreadable(error)) from None
        broken_before = {state.name for state in self.trees.states() if state.error is not None}
        own = next(state for state in states if state.name == name)
        new = [state for state in states if state is not own and state.name not in broken_before]
        mistakes = in_order(mistake for state in (own, *new) for mistake in state.mistakes)
        return (None if mistakes else own.tree), mistakes

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.yaml"

    async def _require_current(self, save: Save, present: TreeSource | None) -> None:
        version = sha_of(_bytes(present)) if present is not None else None
        if save.base == version:
            return
        if present is None:
            raise TreeConflictError(
                f"the tree {save.name!r} does not exist any more", version=None, edit=None, difference=None
            )
        edit = next((each for each in await self._edits.of(save.name) if each.sha == version), None)
        if save.base is None:
            message, before = f"there is a tree {save.name!r} already", None
        else:
            message = f"the tree {save.name!r} has changed since the version that this edit was made from"
            before = await self._edits.text(save.name, save.base)
        now = _bytes(present).decode(errors="replace")
        changes = (
            None
            if before is None
            else await asyncio.to_thread(compared, before, now, name=save.name, library=self.trees.library)
        )
        raise TreeConflictError(message, version=version, edit=edit, difference=changes)


def sha_of(text: str | bytes) -> str:
    """The version of a file with this text: SHA-256 of its bytes."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def text_of(state: TreeState) -> str | None:
    """The present text of a tree, exactly; `None` if it cannot be read or is no UTF-8."""
    if state.source is None:
        return None
    try:
        return _bytes(state.source).decode()
    except UnicodeDecodeError:
        return None


def version_of(state: TreeState) -> str | None:
    """The version of the present file of a tree; `None` if it cannot be read."""
    return None if state.source is None else sha_of(_bytes(state.source))


def _bytes(source: TreeSource) -> bytes:
    return source.text.encode() if isinstance(source.text, str) else source.text


def _unreadable(error: OSError) -> str:
    return f"the folder of trees {str(error.filename)!r} cannot be read: {error.strerror}"


_MOST_LINES = 100
_MOST_COMPARED = 5_000
"""Lines of a text; the comparison of hostile texts takes the square of it."""


def compared(old: str, new: str, *, name: str, library: TreeLibrary) -> str:
    """The difference between two texts of a tree, for people.

    Args:
        old: the earlier text.
        new: the later text.
        name: the name of the tree, for messages.
        library: has the trees that they include; its present files.
    """
    before, after = (_tree(text, name, library) for text in (old, new))
    if before is not None and after is not None:
        return str(difference(before, after))
    return _by_lines(old, new)


def _tree(text: str, name: str, library: TreeLibrary) -> TreeDefinition | None:
    try:
        return library.read_text(text, file=f"{name}.yaml", name=name)
    except TreeFileError:
        return None


def _by_lines(old: str, new: str) -> str:
    before, after = old.splitlines(), new.splitlines()
    if max(len(before), len(after)) > _MOST_COMPARED:
        return f"{len(before):,} lines have become {len(after):,}"
    lines = islice(unified_diff(before, after, "before", "now", lineterm="", n=1), _MOST_LINES)
    return "\n".join(visible(line.rstrip())[:200] for line in lines)
