"""The end of a query: its faults, and how long it waits for work that it has cancelled."""

from collections.abc import Iterable
from dataclasses import field
from time import monotonic

from bt_runtime import NodeError
from bt_runtime.text.data import dataclass
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


def control_failed(tree: str, problem: str) -> ModelFault:
    """The tree or decision tree that controls a query broke, or ended without a reason."""
    return ModelFault(
        "tree_failed",
        "The control of this run failed. Please ask again; if it fails again, tell the operator of this service.",
        f"the control of the run ({tree}) failed: {problem}",
    )


def internal_error(error: Exception) -> ModelFault:
    """An unexpected exception in the service."""
    return ModelFault(
        "internal",
        "Something went wrong in the service. Please ask again; if it fails again, tell its operator.",
        f"an internal error ({type(error).__name__})",
    )


CANCEL_GRACE_S = 0.05
"""How long a cancelled model call or tool may take to end, in real seconds: a query ends within 100 ms of its limit."""
LEAST_S = 0.005
"""For work that is cancelled when that time is used up; work that reacts to its cancellation needs less."""


@dataclass(slots=True)
class CancelGrace:
    """The grace time of one query: each piece of cancelled work has all of it, until the query must end.

    From then on they share it: a tree may halt one after the other, and `done` would wait for each.
    """

    _until_s: float | None = None

    def end(self) -> None:
        """The query must end now; does nothing the second time."""
        if self._until_s is None:
            self._until_s = monotonic() + CANCEL_GRACE_S

    def seconds(self) -> float:
        """How long work that is cancelled now may take to end, in real seconds."""
        return CANCEL_GRACE_S if self._until_s is None else max(LEAST_S, self._until_s - monotonic())
