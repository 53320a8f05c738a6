"""The base of nodes that halt their children and wait for the end of what those had begun."""

from typing import Any

from bt_runtime.nodes.base import Node, SettingsT
from bt_runtime.record.status import RUNNING, Status


class AwaitingHalted(Node[SettingsT]):
    """Ends with a status that is known, after the work of its halted children has been awaited.

    A subclass returns `end_with(status)`, and returns `ends_with` at the beginning of `update` where it is not `None`.
    """

    ends_with: Status | None = None

    def initialise(self) -> None:
        """Begin a new round."""
        self.ends_with = None
        self.reset_children()

    def end_with(self, status: Status) -> Status:
        """Halt the children; if that leaves work to be awaited, the node ends a tick later."""
        self.halt_children()
        if not self.run.halting:
            return status
        self.ends_with = status
        self.run.tick_again(self.path)
        return RUNNING

    def ahead(self) -> tuple[Node[Any], ...]:
        """No child once the status is known."""
        return self.child_nodes if self.ends_with is None else ()
