"""A query under the control of a YAML tree."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from bt_runtime import (
    ForcedResult,
    LiveTree,
    Observer,
    Pacer,
    Registry,
    RunLoop,
    RunResult,
    TickRecord,
    TreeDefinition,
    build,
)
from oracle.agent.closing import Closer
from oracle.agent.journal import QueryJournal
from oracle.agent.run import AgentRun
from oracle.control.floor import TreeFloor
from oracle.models.protocol import ModelFault
from oracle.nodes import REGISTRY, AgentHost, demanded, values_of
from oracle.rules import rules_of

HALT_GRACE_S = 0.08
"""How long halted work may take to end, in real seconds: a query ends within 100 ms of its limit (decision 7), and
turns and tools take up to 50 ms to stop."""


@dataclass(frozen=True, slots=True)
class _NodeErrors:
    """Collects the exceptions of nodes, for the error message if the tree fails."""

    run: AgentRun

    def on_tick(self, record: TickRecord) -> None:
        if record.errors:
            self.run.ending.note_errors(f"{error.path}: {error.error}" for error in record.errors)


class TreeControl:
    """Drives one query by a tree."""

    def __init__(
        self,
        run: AgentRun,
        definition: TreeDefinition,
        *,
        closing: Closer,
        asked_at: str,
        journal: QueryJournal,
        observers: Iterable[Observer] = (),
        registry: Registry = REGISTRY,
        pacer: Pacer | None = None,
    ) -> None:
        rules = rules_of(run, definition, journal=journal, stop=self._stop, only_enforced=True)
        keys = demanded(definition)
        host = AgentHost(run, closing, asked_at, count(1), keys)
        self.tree: LiveTree = build(definition, registry=registry, host=host, values=values_of(run, keys))
        self._loop = RunLoop(
            self.tree,
            clock=run.equipment.clock,
            observers=[_NodeErrors(run), *observers, *((rules,) if rules else ())],
            journal=rules or journal,
            supervisor=TreeFloor(run, self.tree.blackboard),
            pacer=pacer,
            halt_grace_s=HALT_GRACE_S,
        )
        self._run = run

    def _stop(self, fault: ModelFault) -> None:
        """End the query for a rule of the tree."""
        self._run.fail(fault)
        self._loop.cancel()

    def cancel(self) -> None:
        """Ask the tree to stop; its `cancelled` guard decides how, and the floor holds where it has none."""
        self._loop.cancel()

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data of the key's type
        """Write a blackboard value at the start of the next tick.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        self._loop.deliver(key, value)

    def force(self, path: str, result: ForcedResult) -> None:
        """Replace the result of a node, the next time it is ticked.

        Raises:
            RunError: the tree has no such node.
        """
        self._loop.force(path, result)

    async def drive(self) -> None:
        """Run the tree to its end."""
        result: RunResult = await self._loop.run()
        if result.error is not None:
            self._run.ending.lose_control(result.error)
