"""The `loop` kind."""

from collections.abc import Iterator
from typing import Any

from bt_runtime.expressions import Expression
from bt_runtime.kind import ExpressionUse, NodeSettings, Slot, Use
from bt_runtime.nodes import Children, Node
from bt_runtime.registration import node
from bt_runtime.scope import compile_in_scope, lookup_in_scope
from bt_runtime.status import FAILURE, RUNNING, SUCCESS, Status


class LoopSettings(NodeSettings):
    """Settings of `loop`.

    Args:
        until: an expression; the loop ends when it is true before or after a round.
    """

    until: str | None = None

    def uses(self) -> Iterator[Use]:
        if self.until is not None:
            yield ExpressionUse(("until",), self.until)


@node(
    "loop",
    category="decorator",
    settings=LoopSettings,
    slots=(Slot("guards", many=True, required=False), Slot("child", many=False)),
    waits=True,
)
class Loop(Node[LoopSettings]):
    """Runs its child again and again, under guards.

    The guards are ticked in order at every tick, before the child; so a guard can interrupt running work. When one of
    them fails, the child is halted, its pending work is awaited, and only then the loop ends. A guard that is RUNNING
    has not decided yet and stops nothing.

    SUCCESS when a guard fails or `until` is true (the reason to stop is on the blackboard; the tree has not failed);
    FAILURE when the child fails; RUNNING otherwise. With neither guards nor `until` it runs until it is
    halted. Many rounds in a row in which nothing takes time end the run with an error that names the loop.

    ```yaml
    loop:
      until: "count >= 3"
      guards:
        - condition: "turn < 9"
      child: {set: {count: "count + 1"}}
    ```
    """

    guards: tuple[Node[Any], ...]
    child: Node[Any]
    _until: Expression | None = None
    _ending = False

    def attach(self, children: Children) -> None:
        self.guards = children.get("guards", ())
        (self.child,) = children["child"]
        if self.settings.until is not None:
            self._until = compile_in_scope(self.settings.until, self)

    def initialise(self) -> None:
        self._ending = False
        self.reset_children()

    def update(self) -> Status:
        if self._ending:
            return SUCCESS
        for guard in self.guards:
            if guard.step() is FAILURE:
                return self._end()
        if self.child.status is not RUNNING and self._is_over():
            return SUCCESS
        status = self.child.step()
        if status is not SUCCESS:
            return status
        if self._is_over():
            return SUCCESS
        self.run.tick_again(self.path)
        return RUNNING

    def _end(self) -> Status:
        """Halt the child; if that leaves work to be awaited, the loop ends a tick later."""
        self.halt_children()
        if not self.run.halting:
            return SUCCESS
        self._ending = True
        self.run.tick_again(self.path)
        return RUNNING

    def _is_over(self) -> bool:
        return self._until is not None and bool(self._until.evaluate(lookup_in_scope(self)))
