"""The errors of changing trees; `oracle.core.errors` has the tree by who must act."""

import logging
from collections.abc import Sequence
from typing import Final

from bt_runtime import Mistake
from oracle.core.errors import OperatorError, TreeAuthorError, UserError
from oracle.runs.storage.trees import TreeEdit

NO_TREE: Final = "There is no such tree, or no such version of it."


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


class TreeFolderError(OperatorError):
    """The folder of trees cannot be read or written."""

    status = 409
    detail = None
    log_event = "tree.not_saved"
    log_level = logging.WARNING
