"""What is known of the end of a query besides its termination reason."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from bt_runtime import NodeError
from oracle.llm.protocol import ModelFault


@dataclass(slots=True)
class QueryEnd:
    """Why a query ends as it does.

    Args:
        fault: what ended it as an error, if that was not the provider.
        blocker: what the query could not get past, if it is stuck.
        node_errors: exceptions in the tree's nodes, as `path: Type: message`, each once.
        has_lost_control: whether the control failed, so that its run was ended with an error.
        is_explained: whether the user has been told why the query stopped.
    """

    fault: ModelFault | None = None
    blocker: str = ""
    node_errors: list[str] = field(default_factory=list)
    has_lost_control: bool = False
    is_explained: bool = False

    @property
    def problem(self) -> str:
        """The latest error of the control; empty if there is none."""
        return self.node_errors[-1] if self.node_errors else ""

    def note_blocker(self, blocker: str) -> None:
        """The query cannot get past this; the first one counts."""
        self.blocker = self.blocker or blocker

    def note_errors(self, errors: Iterable[NodeError]) -> None:
        """Nodes of the tree have raised."""
        found = (f"{error.path}: {error.error}" for error in errors)
        self.node_errors += [error for error in found if error not in self.node_errors]

    def lose_control(self, error: Exception) -> None:
        """The run of the tree was ended with an error."""
        self.has_lost_control = True
        self.node_errors.append(str(error))
