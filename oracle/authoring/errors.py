"""The errors of changing trees; `oracle.core.errors` has the tree by who must act."""

from collections.abc import Sequence

from bt_runtime import Mistake
from oracle.core.errors import OperatorError, TreeAuthorError, UserError
from oracle.runs.storage.trees import TreeEdit


class NoSuchTreeError(UserError):
    """There is no tree, or no version of it, of this name."""


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


class TrialError(UserError):
    """A trial of a text has no result; the message says why."""


class TreeFolderError(OperatorError):
    """The folder of trees cannot be read or written."""
