"""Node kinds for trees, behaviours of py_trees, and blackboard keys."""

from collections.abc import Mapping
from typing import Any

from py_trees.behaviour import Behaviour
from py_trees.common import Access, Status

from bt_runtime import Key, condition_kind


def is_about_offices(board: Mapping[str, Any]) -> bool:
    """SUCCESS when the question names an office."""
    return "office" in board["question"].lower()


class CountVisits(Behaviour):
    """Counts how often it was ticked; SUCCESS."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.board = self.attach_blackboard_client()
        self.board.register_key("visits", Access.WRITE)

    def update(self) -> Status:
        """Count."""
        self.board.visits = self.board.visits + 1
        return Status.SUCCESS


KINDS = [
    condition_kind("is_about_offices", is_about_offices),
    CountVisits,  # in trees: py_trees: my_plugin.kinds.CountVisits
    Key("visits", "int", 0, "How often the office was visited."),
]
