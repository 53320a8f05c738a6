"""Composites: `sequence`, `selector` and `parallel`."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Self

from py_trees import composites
from pydantic import Field, model_validator

from bt_runtime.kinds.endings import AwaitingHalted
from bt_runtime.language.explanation import Figure, Stepped, Words, of_step
from bt_runtime.language.kind import Facts, NodeSettings
from bt_runtime.nodes.base import Children, Ends, Node
from bt_runtime.nodes.registration import CHILDREN, node
from bt_runtime.nodes.wording import said, says
from bt_runtime.record.status import FAILURE, INVALID, RUNNING, SUCCESS, Status
from bt_runtime.text.phrases import listed


class InOrderSettings(NodeSettings):
    """Settings of `sequence` and `selector`.

    Args:
        memory: continue with the running child; if false, start at the first child at every tick.
    """

    memory: bool = True


class InOrder(Node[InOrderSettings]):
    """Ticks its children in order, as long as they return `passes_on`."""

    defers = True
    passes_on: ClassVar[Status]

    _next = 0
    """The child that is RUNNING; says nothing where the node is not."""

    @property
    def memory(self) -> bool:
        """For py_trees' displays."""
        return self.settings.memory

    def update(self) -> Status:
        """Tick the children from the current one on; those after the last one ticked are not part of the round yet."""
        if self.make_children is not None:
            self.grow()
        children, passes_on = self.child_nodes, self.passes_on
        for position in range(self._next if self.status is RUNNING else 0, len(children)):
            status = children[position].step()
            if status is not passes_on:
                if position != self._next and self.settings.memory:
                    self._next = position
                after = position + 1  # none is INVALID before one that is not: all are ticked in this order
                if after < len(children) and children[after].status is not INVALID:
                    self.reset_children(after)
                return status
        return passes_on

    def ahead(self) -> tuple[Node[Any], ...]:
        """The child that is RUNNING and those after it; without memory all."""
        return self.child_nodes[self._next :]

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As a child that decides, or as the last one."""
        self.grow()
        return self._ends_from(0, enter)

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """Where the child passes on, as those after it; without memory an earlier one may decide meanwhile."""
        at, on = self.child_nodes.index(child), frozenset({self.passes_on})
        earlier = [] if self.settings.memory else [enter(each) - on for each in self.child_nodes[:at]]
        later = self._ends_from(at + 1, enter) if ends & on else frozenset()
        return (ends - on).union(later, *earlier)

    def _ends_from(self, position: int, enter: Callable[[Node[Any]], Ends]) -> Ends:
        on, found = frozenset({self.passes_on}), frozenset[Status]()
        for child in self.child_nodes[position:]:
            ends = enter(child)
            found |= ends - on
            if not ends & on:
                return found
        return found | on

    @of_step
    def words(self, step: Stepped) -> Words:
        """Which children were asked, and what the last of them said."""
        if not step.ticked:
            return Words()
        *before, last = (child.title for child in step.ticked)
        if self.status is self.passes_on:
            return Words("", f"{listed([*before, last])} said {said(self.passes_on)}.")
        passed = f", after {listed(before)} said {said(self.passes_on)}" if before else ""
        return Words("", f"{last} {says(self.status)}{passed}.")


@node(
    "sequence",
    category="composite",
    settings=InOrderSettings,
    slots=CHILDREN,
    shorthand="children",
    facts=Facts(keeps=("_next",)),
)
class Sequence(InOrder):
    """Ticks its children in order until one fails.

    SUCCESS when all have succeeded; FAILURE as soon as one fails; otherwise RUNNING. With `memory: false`, only
    conditions and guards may stand before the last child; if one of them fails, the running child is halted.

    ```yaml
    sequence:
      - condition: "turn > 3"
      - set: {hint: "'Be brief.'"}
    ```
    """

    passes_on = SUCCESS
    stock = composites.Sequence


@node(
    "selector",
    category="composite",
    settings=InOrderSettings,
    slots=CHILDREN,
    shorthand="children",
    facts=Facts(keeps=("_next",)),
)
class Selector(InOrder):
    """Ticks its children in order until one succeeds.

    SUCCESS as soon as one succeeds; FAILURE when all have failed; otherwise RUNNING. With `memory: false`, an earlier
    child that does not fail halts the running one.

    ```yaml
    selector:
      - condition: "turn > 9"
      - set: {hint: "'There is time.'"}
    ```
    """

    passes_on = FAILURE
    stock = composites.Selector


class ParallelSettings(NodeSettings):
    """Settings of `parallel`.

    Args:
        success: how many children must succeed.
        failure: when to fail: at the first failure, or when too few children are left to succeed.
        until: makes it a race.
        max_concurrent: how many children may be RUNNING at once; by default all.
    """

    success: Literal["all", "one"] | Annotated[int, Field(ge=1)] = "all"
    failure: Literal["one", "unreachable"] = "unreachable"
    until: Literal["first_success", "first_end"] | None = None
    max_concurrent: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _race_decides(self) -> Self:
        if self.until is not None and self.model_fields_set & {"success", "failure"}:
            raise ValueError("'until' decides alone: leave out 'success' and 'failure'")
        return self


@node(
    "parallel",
    category="composite",
    settings=ParallelSettings,
    slots=CHILDREN,
    shorthand="children",
    facts=Facts(keeps=("ends_with",), compares=True),
)
class Parallel(AwaitingHalted[ParallelSettings]):
    """Ticks all its children at every tick until each has ended.

    SUCCESS when `success` children have succeeded; FAILURE according to `failure`; otherwise RUNNING. Enough
    successes win over a failure in the same tick. Children that are still RUNNING at the end are halted. With `until`
    the children race: `first_success` fails only when all have failed, `first_end` has the result of the first child
    that ends.

    ```yaml
    parallel:
      success: 1
      max_concurrent: 2
      children:
        - condition: "turn > 3"
        - condition: "turn < 9"
    ```
    """

    stock = composites.Parallel

    _needed = 0
    _limit = 0

    def attach(self, children: Children) -> None:
        total, wanted = len(children["children"]), self.settings.success
        is_race = self.settings.until is not None
        self._needed = 1 if is_race or wanted == "one" else (total if wanted == "all" else wanted)
        self._limit = self.settings.max_concurrent or total

    def update(self) -> Status:
        if self.ends_with is not None:
            return self.ends_with
        children, until = self.child_nodes, self.settings.until
        succeeded = failed = running = 0
        for child in children:
            status = child.status
            if status is not SUCCESS and status is not FAILURE:
                # Children are started in their order, so those that are RUNNING stand before those that wait.
                if running == self._limit:
                    continue
                status = child.step()
            if until is not None and (status is SUCCESS or (status is FAILURE and until == "first_end")):
                return self.end_with(status)
            succeeded += status is SUCCESS
            failed += status is FAILURE
            running += status is RUNNING
        if succeeded >= self._needed:
            return SUCCESS
        is_lost = (failed and self.settings.failure == "one") or len(children) - failed < self._needed
        return FAILURE if is_lost else RUNNING

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The last child that ended with the result; while the node is RUNNING the last that ended, or was ticked."""
        ended = [child for child in step.ticked if child.status in (SUCCESS, FAILURE)]
        alike = [child for child in ended if child.status is self.status]
        return next(reversed(alike or ended or step.ticked), None)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the children say it
        statuses = [child.status for child in self.child_nodes]
        said_yes = statuses.count(SUCCESS)
        parts = ((said_yes, "yes"), (statuses.count(FAILURE), "no"), (statuses.count(RUNNING), "running"))
        counts = ", ".join(f"{count} {what}" for count, what in parts if count) or "none ended"
        halted = "; halted work is awaited" if self.ends_with is not None and self.status is RUNNING else ""
        needed = f"{self._needed} of {len(statuses)} children must say yes: {counts}{halted}."
        return Words(counts, needed, (Figure("children that said yes", said_yes, self._needed),))
