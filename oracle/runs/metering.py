"""The protocols of metering: counting what runs spend, and the state of their users' limits."""

from collections.abc import Mapping
from typing import Any, Protocol

from bt_runtime import TreeDefinition
from oracle.agent.answering import Checked
from oracle.agent.outcomes import TurnOutcome
from oracle.core.chunks import TokenUsage
from oracle.decision import AgentConfig
from oracle.runs.storage.commit import Work
from oracle.runs.storage.records import RunRecord


class RunMeter(Protocol):
    """Counts what one run spends."""

    def counting(self, step: str, outcome: TurnOutcome) -> Work:
        """What is written in the commit of a turn, so that each turn counts once, even if its process dies."""
        ...

    async def changed(self) -> Mapping[str, Any]:
        """The blackboard values that have changed since the last call, by key.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        ...


class Meter(Protocol):
    """Counts what runs spend, and refuses questions of users who have reached their limit."""

    async def bounds(self, user_id: str) -> AgentConfig | None:
        """The highest limits of a user's queries; `None`: those of everybody."""
        ...

    async def admit(self, checked: Checked) -> Checked:
        """A question with the limits that its user may have.

        Raises:
            UserError: the user has spent enough, or the question needs what cannot be counted here.
        """
        ...

    async def admit_auxiliary(self, user_id: str) -> None:
        """Admit an auxiliary request of a chat product on behalf of a user.

        Raises:
            UserError: the user has spent enough.
        """
        ...

    async def count_auxiliary(self, user_id: str, *, model: str, usage: TokenUsage) -> None:
        """Count the tokens of that request.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        ...

    async def open(self, run: RunRecord, tree: TreeDefinition | None, *, is_new: bool) -> RunMeter | None:
        """What counts a run; `None`: nothing limits it.

        Args:
            run: its row.
            tree: drives it; `None`: a decision tree in Python does.
            is_new: it has had no tick yet.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        ...
