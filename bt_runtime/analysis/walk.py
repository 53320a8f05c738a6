"""The walk through a tree with states instead of a blackboard: which nodes are reached, and how they end.

Each node is ticked with all of its possible states and yields all of its possible results; repetitions continue until
they yield nothing new. So a node that the walk has not reached is never ticked in any run.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import chain

from bt_runtime.analysis.expressions.domains import ANY, NULL, Domain, Numbers, TextSet, of_key, of_values
from bt_runtime.analysis.host import Budget, HostChecks, Transfer
from bt_runtime.analysis.states import (
    ACTED,
    NOWHERE,
    REASON,
    STOPPED_BY,
    Conditions,
    EndStates,
    NameScope,
    Partition,
    State,
    States,
    scope_of,
)
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import HERE, Case, GuardFlow, Key, KeyUse, LeafFlow, Possible
from bt_runtime.language.registry import Registry
from bt_runtime.text.data import dataclass

_SOME_REASON = Domain(texts=TextSet(filled=True))
_UNKNOWN = State()
_NO_LIMIT = 1e9


@dataclass(slots=True)
class NodeStates:
    """What the walk has seen of a node.

    Args:
        states: those in which it was ticked.
        results: its results.
    """

    states: list[State] = field(default_factory=list)
    results: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Entries:
    """How a loop was entered: in states in which it is over at once, or not; for the first time, or again."""

    first_over: bool = False
    first_runs: bool = False
    again_over: bool = False
    again_runs: bool = False


@dataclass(frozen=True, slots=True)
class WrittenKeys:
    """What a part of a tree may change; `everything`: that is unknown."""

    keys: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    everything: bool = False

    def __or__(self, other: "WrittenKeys") -> "WrittenKeys":
        return WrittenKeys(self.keys | other.keys, self.facts | other.facts, self.everything or other.everything)


class Walk:
    """One walk; see `bt_runtime.analysis.flow`.

    Args:
        transfers: the flows of the kinds that need code and have none of their own, by the kind's name.
        own_file: the file that is judged; arguments of its nodes are not known.
        types: what each key can hold by its type.
        delivered: keys that get values from outside, at any time.
        budget: what is left for this check.
    """

    def __init__(
        self,
        registry: Registry,
        host: HostChecks,
        partition: Partition,
        *,
        transfers: Mapping[str, Transfer],
        own_file: str,
        types: Mapping[str, Domain],
        delivered: frozenset[str] = frozenset(),
        budget: Budget,
    ) -> None:
        self.seen: dict[str, NodeStates] = {}
        self.entries: dict[str, Entries] = {}
        self.rounds_of: dict[str, int] = {}
        """How many rounds of a loop brought something new."""
        self.repeated_acts: set[str] = set()
        self.further_rounds: dict[str, list[State]] = {}
        """The states in which a repetition goes on with another round."""
        self.until_results: dict[str, set[bool]] = {}
        """What the `until` of a loop or a `wait` can be, whenever it is evaluated."""
        self.old_values: set[str] = set()
        """The `wait` that may find a value that a `wait` has taken before."""
        self.before_finally: dict[str, list[EndStates]] = {}
        """The ends of the child of a `finally`, before its `then`."""
        self.partition = partition
        self.conditions = Conditions(partition)
        self.rounds = 0
        """How many repetitions around the node that is ticked are in a later round."""
        self.asking = 0
        """How many loops around the node that is ticked are asking their guards."""
        self.types = types
        self.marks = host.marks
        self._delivered = delivered
        self._registry = registry
        self._flows = {name: kind.flow or transfers.get(name) for name, kind in registry.kinds.items()}
        self._own_file = own_file
        self._beside: list[WrittenKeys] = [WrittenKeys(host.volatile, host.volatile_facts)]
        self.budget = budget
        self._written: dict[str, WrittenKeys] = {}
        self._scopes: dict[str, NameScope] = {}

    # --- what transfers ask for

    def paths(self, node: NodeDefinition, states: Iterable[State]) -> EndStates:
        """Tick a node in these states: all ways on from there.

        Raises:
            OverBudgetError: the check has taken too long.
        """
        merged = self.partition.merged(states)
        if not merged:
            return NOWHERE
        self.budget.spend(len(merged))
        seen = self.seen.get(node.path)
        if seen is None:
            seen = self.seen[node.path] = NodeStates()
        seen.states += merged
        found: EndStates
        match self._flows[node.kind]:
            case None:
                found = self._unknown(node, merged)
            case LeafFlow(cases=cases):
                found = self.ends(node, merged, cases(node.settings))
            case GuardFlow() as flow:
                found = self._compared(node, merged, flow)
            case transfer:
                found = transfer(self, node, merged)
        for result, ends in zip(EndStates._fields, found, strict=True):
            if ends:
                seen.results.add(result)
        return found

    def ends(self, node: NodeDefinition, states: Iterable[State], cases: Sequence[Case]) -> EndStates:
        """The ends of a leaf."""
        kind = self._registry.kinds[node.kind]
        found: dict[str, list[State]] = {"success": [], "failure": [], "waiting": []}
        for before in states:
            state = self._noted_act(node, before) if kind.acts else before
            for case in cases:
                ended = self._ended(node, state, case, waits=kind.waits)
                if ended is not None:
                    found[case.result].append(ended)
            if kind.waits and not any(case.result == "waiting" for case in cases):
                written = _written_in(cases)
                found["waiting"].append(self.after_waiting(state).forgetting(written.keys, written.facts))
        return EndStates(*(self.partition.merged(found[result]) for result in EndStates._fields))

    def failed(self, node: NodeDefinition, states: Iterable[State], *, fault: bool = False) -> States:
        """States after a failure that this node is to blame for."""
        return tuple(state.failed(node.path, fault=fault) for state in states)

    def split(
        self, node: NodeDefinition, text: str, states: Iterable[State]
    ) -> tuple[list[State], list[State], list[State]]:
        """The states in which an expression of a node is true, in which it is false, and in which it may raise."""
        self.budget.spend()
        scope = self.scope(node)
        splits = [self.conditions.split(text, state, scope) for state in states]
        return (
            [split.true for split in splits if split.true is not None],
            [split.false for split in splits if split.false is not None],
            [split.raised for split in splits if split.raised is not None],
        )

    def scope(self, node: NodeDefinition) -> NameScope:
        """What the names in the expressions of a node stand for."""
        found = self._scopes.get(node.path)
        if found is None:
            is_known = node.place.file != self._own_file
            found = self._scopes[node.path] = scope_of(node, are_arguments_known=is_known)
        return found

    def filled(self, key: str) -> Domain | None:
        """What a key can hold that has a value; `None` if its type is not known."""
        found = self.types.get(key)
        return None if found is None or found == ANY else found.unequal_to(NULL)

    def after_waiting(self, state: State) -> State:
        """A state after time has passed, in which others may have changed it."""
        beside = self._beside[-1]
        if beside.everything:
            return State({}, {ACTED: state.facts[ACTED]} if ACTED in state.facts else {})
        after = state.forgetting(beside.keys, beside.facts)
        delivered = {
            key: self.types[key] if None in domain else self.types[key].unequal_to(NULL)
            for key, domain in after.keys.items()
            if key in self._delivered
        }
        return State({**after.keys, **delivered}, after.facts) if delivered else after

    @contextmanager
    def beside(self, nodes: Iterable[NodeDefinition], *, is_over_on_failure: bool = False) -> Iterator[None]:
        """While these nodes are ticked again and again in parallel with those that the block ticks.

        Args:
            nodes: the others.
            is_over_on_failure: a failure of one of them ends what the block ticks.
        """
        written = self._beside[-1]
        for node in nodes:
            flow = self._flows[node.kind]
            if is_over_on_failure and isinstance(flow, LeafFlow):
                cases = flow.cases(node.settings)
                written |= _written_in([case for case in cases if case.result != "failure"])
            else:
                written |= self.written(node)
        self._beside.append(written)
        try:
            yield
        finally:
            self._beside.pop()

    def written(self, node: NodeDefinition) -> WrittenKeys:
        """What a node and all below it may change."""
        self.budget.spend()
        found = self._written.get(node.path)
        if found is None:
            found = self._own_writes(node)
            for children in node.children.values():
                for child in children:
                    found |= self.written(child)
            self._written[node.path] = found
        return found

    def heads(self, states: States) -> Callable[[Iterable[State]], States]:
        """A function that returns which of further states are new; repeated calls end in none."""
        known: dict[object, tuple[State, int]] = {self.partition.part(state): (state, 0) for state in states}

        def new(further: Iterable[State]) -> States:
            fresh: list[State] = []
            for state in self.partition.merged(further):
                part = self.partition.part(state)
                if part not in known:
                    known[part] = (state, 0)
                    fresh.append(state)
                    continue
                before, times = known[part]
                after = before.joined(state, widen=times > 0)
                if after is not before:
                    after = self.partition.bounded(after)
                    known[part] = (after, times + 1)
                    fresh.append(after)
            return tuple(fresh)

        return new

    def _unknown(self, node: NodeDefinition, states: States) -> EndStates:
        """The ends of a kind that does not declare them."""
        kind = self._registry.kinds[node.kind]
        if kind.category == "condition" and not kind.slots:
            return self.ends(node, states, (Case("success"), Case("failure")))
        if kind.category == "guard" and not kind.slots:
            return self.ends(node, states, (Case("success"), Case("failure", stops=True)))
        below = [self.paths(child, (_UNKNOWN,)) for children in node.children.values() for child in children]
        anything = (_UNKNOWN,)
        waits = kind.waits or any(ends.waiting for ends in below)
        return EndStates(anything, anything, anything if waits else ())

    # --- leaves

    def _compared(self, node: NodeDefinition, states: States, flow: GuardFlow) -> EndStates:
        """The results of a guard. It passes if its limit, or a lower one, was found not reached in this tick."""
        own = getattr(node.settings, flow.limit) if flow.limit else None
        limit = own if isinstance(own, int | float) else _NO_LIMIT
        below = {}
        if flow.counter and own == limit:
            below[flow.counter] = Domain(numbers=Numbers(0, limit - 1, whole=True))
        passes = Case("success", writes=flow.writes, facts={flow.fact: repr(limit)}, when=below)
        trips = Case("failure", writes=flow.writes, facts={flow.fact: None}, stops=True)
        found = []
        for state in states:
            unreached = None if isinstance(own, str) else state.facts.get(flow.fact)
            is_unreached = unreached is not None and all(float(value) <= limit for value in unreached)
            found.append(self.ends(node, (state,), (passes,) if is_unreached else (passes, trips)))
        return EndStates(*(self.partition.merged(chain.from_iterable(ends)) for ends in zip(*found, strict=True)))

    def _noted_act(self, node: NodeDefinition, state: State) -> State:
        """Note an act of what is ticked at every tick; the second time it is a repetition."""
        acted = state.facts.get(ACTED) if self.asking else None
        if acted is None:
            return state
        if node.path in acted:
            self.repeated_acts.add(node.path)
            return state
        return state.with_facts({ACTED: acted | {node.path}})

    def _ended(self, node: NodeDefinition, state: State, case: Case, *, waits: bool) -> State | None:
        """The state after one case; `None` if that is impossible."""
        narrowed = self._narrowed(state, case)
        if narrowed is None:
            return None
        after = self.after_waiting(narrowed) if waits else narrowed
        keys, facts = dict(after.keys), dict(after.facts)
        for name, values in case.writes.items():
            key = node.private.get(name, name)
            if values is None:
                keys.pop(key, None)
            else:
                keys[key] = _domain_of(values)
        counted = self._counted(after, case)
        if counted is None:
            return None
        keys |= counted
        for fact, value in case.facts.items():
            if value is None:
                facts.pop(fact, None)
            else:
                facts[fact] = frozenset({node.path if value is HERE else value})
        if case.stops:
            self._stop(node, after, keys, facts)
        ended = State(keys, facts)
        if case.result == "success":
            return ended.succeeded(node.path)
        return ended.failed(node.path, fault=case.fault) if case.result == "failure" else ended

    def _counted(self, state: State, case: Case) -> dict[str, Domain] | None:
        """The counters that a case adds to; `None` if that is more than they can be."""
        found = {}
        for key, number in case.adds.items():
            before = self.partition.domain(state, key).numbers
            if before is not None:
                added = Domain(numbers=Numbers(before.least + number, before.most + number, before.whole))
                found[key] = added.meet(self.partition.known.bounds.get(key, ANY))
                if found[key].is_empty:
                    return None
        return found

    def _narrowed(self, state: State, case: Case) -> State | None:
        keys: dict[str, Domain] = {}
        for key, wanted in case.when.items():
            met = self.partition.domain(state, key).meet(_domain_of(wanted))
            if met.is_empty:
                return None
            keys[key] = met
        facts: dict[str, frozenset[str]] = {}
        for fact, values in case.when_facts.items():
            known = state.facts.get(fact)
            common = values if known is None else known & values
            if not common:
                return None
            facts[fact] = common
        return State({**state.keys, **keys}, {**state.facts, **facts}) if keys or facts else state

    def _stop(
        self, node: NodeDefinition, state: State, keys: dict[str, Domain], facts: dict[str, frozenset[str]]
    ) -> None:
        """Write a reason, unless there is one."""
        before = self.partition.domain(state, REASON)
        can_be_false, can_be_true = self.partition.truth(before)
        if not can_be_false:
            return
        keys[REASON] = _SOME_REASON
        known = state.facts.get(STOPPED_BY, frozenset()) if can_be_true else frozenset()
        facts[STOPPED_BY] = known | {node.path}

    def _own_writes(self, node: NodeDefinition) -> WrittenKeys:
        flow = self._flows[node.kind]
        written = {use.key for use in node.settings.uses() if isinstance(use, KeyUse) and use.access == "write"}
        keys = frozenset(node.private.get(key, key) for key in written)
        marked = frozenset(fact for key, fact in self.marks.items() if key in written and node.kind == "set")
        if isinstance(flow, LeafFlow):
            return _written_in(flow.cases(node.settings)) | WrittenKeys(keys)
        if flow is not None or self._registry.kinds[node.kind].category == "condition":
            return WrittenKeys(keys, marked)
        if self._registry.kinds[node.kind].category == "guard":
            return WrittenKeys(keys | {REASON}, frozenset({STOPPED_BY}))
        return WrittenKeys(keys, everything=True)


def _domain_of(values: Possible) -> Domain:
    """What a flow says of a key."""
    if isinstance(values, Key):
        return of_key(values)
    return values if isinstance(values, Domain) else of_values(values)


def _written_in(cases: Sequence[Case]) -> WrittenKeys:
    keys = {key for case in cases for key in (*case.writes, *case.adds)}
    facts = {fact for case in cases for fact in case.facts}
    if any(case.stops for case in cases):
        keys.add(REASON)
        facts.add(STOPPED_BY)
    return WrittenKeys(frozenset(keys), frozenset(facts))
