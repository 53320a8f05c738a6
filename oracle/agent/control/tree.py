"""A query under the control of a YAML tree."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bt_runtime import ForcedResult, Observer, Pacer, ResumedWork, RunLoop, RunResult, TickRecord
from bt_runtime.text.data import dataclass
from oracle.agent.control.opening import OpenAgent
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.run import AgentRun

HALT_GRACE_S = 0.08
"""How long halted work may take to end, in real seconds: a query ends within 100 ms of its limit, and
turns and tools take up to 50 ms to stop."""


@dataclass(frozen=True, slots=True)
class _NodeErrors:
    """Collects the exceptions of nodes, for the error message if the tree fails; the control would make a cycle."""

    run: AgentRun

    def on_tick(self, record: TickRecord) -> None:
        if record.errors:
            self.run.ending.note_errors(record.errors)


class TreeControl:
    """Drives one query by a tree.

    Args:
        opened: the query and its tree.
        observers: get every tick record.
        pacer: may hold the run between its ticks.
        resumed: the query began in another process, and continues here.
        may_park: called when the tree only waits for deliveries; returns whether to park the query.

    Attributes:
        is_parked: the query has not ended, and only its record is kept.
    """

    def __init__(
        self,
        opened: OpenAgent,
        *,
        observers: Iterable[Observer] = (),
        pacer: Pacer | None = None,
        resumed: ResumedWork | None = None,
        may_park: Callable[[], bool] | None = None,
    ) -> None:
        self.is_parked = False
        rules, self._run, self.tree = opened.rules, opened.agent, opened.tree
        self._loop = RunLoop(
            self.tree,
            clock=self._run.equipment.clock,
            observers=[_NodeErrors(self._run), *observers, *((rules,) if rules else ())],
            journal=rules or self._run.journal,
            supervisor=opened.floor,
            pacer=pacer,
            resumed=resumed,
            may_park=may_park,
            halt_grace_s=HALT_GRACE_S,
        )
        opened.cancel = self._loop.cancel
        self._answers: Mapping[str, Any] = {}

    def cancel(self) -> None:
        """Ask the tree to stop; its `cancelled` guard decides how, or the floor if it has none."""
        self._run.grace.end()
        self._loop.cancel()

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data of the key's type
        """Write a blackboard value at the start of the next tick.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        if key == ANSWERS:  # one delivery replaces the other, and what a tick has not seen yet must not be lost
            pending = self._run.output.pending
            self._answers = value = {**value, **{id_: each for id_, each in self._answers.items() if id_ in pending}}
        self._loop.deliver(key, value)

    def force(self, path: str, result: ForcedResult) -> None:
        """Replace the result of a node, the next time it is ticked.

        Raises:
            RunError: the tree has no such node.
        """
        self._loop.force(path, result)

    async def drive(self) -> None:
        """Run the tree to its end, or until the query is parked."""
        result: RunResult = await self._loop.run()
        self.is_parked = result.is_parked
        if result.error is not None:
            self._run.ending.lose_control(result.error)
