"""A plugin with a node kind that the next version of it has no more."""

from bt_runtime import condition_kind


def stands_there(board: object) -> bool:
    """SUCCESS, always."""
    return True


kinds = [condition_kind("stands_there", stands_there)]
