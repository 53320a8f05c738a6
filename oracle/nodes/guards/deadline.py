"""The `deadline` guard."""

from pydantic import Field

from bt_runtime import NodeSettings, Status, node
from oracle.decision import AgentState, rules
from oracle.nodes.base import AgentGuard


class DeadlineSettings(NodeSettings):
    """Settings of `deadline`.

    Args:
        seconds: a shorter time for this guard alone, from the start of the query; `None` means the user's.
    """

    seconds: float | None = Field(default=None, gt=0)


@node("deadline", settings=DeadlineSettings, shorthand="seconds")
class Deadline(AgentGuard[DeadlineSettings]):
    """Trips when the time for the whole query is over: `timeout`.

    SUCCESS while there is time; the run wakes up when it is over, so as a guard of a loop it interrupts whatever is
    under way.

    ```yaml
    deadline:
    ```
    """

    reason = "timeout"

    def update(self) -> Status:
        """Ask, and ask to be woken when the answer will change."""
        status = super().update()
        if status is Status.SUCCESS:
            self.run.wake_at(self.index, self.agent.state.start_time + self._limit_s())
        return status

    def holds(self, state: AgentState) -> bool:
        """Whether the time is over, by the time of the tick; a shorter time becomes the effective one when it trips."""
        limit_s = self._limit_s()
        if not rules.deadline_has_passed(limit_s, self.run.now_s - state.start_time):
            return False
        self.agent.state = state.with_time_limit(limit_s).at(self.run.now_s - state.start_time)
        return True

    def _limit_s(self) -> float:
        limit_s = self.agent.state.time_limit_s
        return limit_s if self.settings.seconds is None else min(limit_s, self.settings.seconds)
