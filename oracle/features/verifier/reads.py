"""What of a run can matter: what a tree can distinguish, and what is still read before it is replaced.

What no node can distinguish need not be explored twice. What a node's code reads in addition to its settings is among
the facts that its kind declares; of a tree with a kind that declares none, nothing is proven (`properties`).

A turn that succeeds replaces everything that the blackboard says about the turn before. So what is known of the turn
before matters only to nodes that can be ticked until then: those after the node that waits, those that a guard leads
to, and those that follow if the turn fails. The answer errs on the side of more nodes.

`no_progress` and `error_limit` compare the latest calls with those that follow. Before the last round it matters only
how each round that can follow would be judged; histories that are judged alike are one.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from bt_runtime import NodeDefinition, Status, TreeDefinition
from bt_runtime.language.expressions.compiler import compile_expression
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import DeliveryUse, ExpressionUse, KeyUse, LeafFlow
from bt_runtime.nodes.base import ANY_END, Ends, Node
from bt_runtime.nodes.context import Requester
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.roles import ASKS_MODEL, REFUSES_CALLS, RUNS_CALLS
from oracle.decision import AgentConfig, AgentState, ToolAction, rules
from oracle.decision.state import RECENT_ACTIONS

SIGNAL_KEYS = frozenset(
    {
        *("signal", "confidence", "malformed_signal", "turns_without_signal", "same_reason", "intent"),
        *("signal_reason", "capability", "may_be_supplied", "blocker", "suggestions"),
    }
)


@dataclass(frozen=True)
class Reads:
    """What one tree reads.

    Args:
        by_node: the keys that each node reads, by its index.
        compared: the literals that each node compares each key with, by its index; `None` instead of a literal if it
            does something else with the value.
        into: the keys that get the text of a turn or of a tool.
    """

    by_node: tuple[frozenset[str], ...]
    compared: tuple[Mapping[str, frozenset[object]], ...]
    roles: frozenset[str]
    into: frozenset[str] = frozenset()

    @cached_property
    def keys(self) -> frozenset[str]:
        """All keys that are read."""
        return frozenset().union(*self.by_node)

    @cached_property
    def largest_number(self) -> float:
        """The largest number in any comparison; counters beyond it are all alike to the tree."""
        return max((number for key in self.keys for number in self.numbers_of(key)), default=0)

    def texts_of(self, key: str) -> tuple[str, ...]:
        """The texts that the key is compared with, in order."""
        return tuple(sorted({each for each in self._literals(key) if isinstance(each, str)}))

    def numbers_of(self, key: str) -> tuple[float, ...]:
        """The numbers that the key is compared with, in order."""
        found = {each for each in self._literals(key) if isinstance(each, int | float) and not isinstance(each, bool)}
        return tuple(sorted(found))

    def _literals(self, key: str) -> Iterator[object]:
        return (literal for compared in self.compared for literal in compared.get(key, ()))


def reads_of(definition: TreeDefinition) -> Reads:
    """Look at each node of a tree."""
    by_node: list[frozenset[str]] = []
    compared: list[Mapping[str, frozenset[object]]] = []
    into: set[str] = set()
    for node in definition.nodes():
        names = set(node.facts.reads or ())
        literals: dict[str, set[object]] = {name: {None} for name in names}
        for use in node.settings.uses():
            if isinstance(use, ExpressionUse):
                names |= _read_expression(use.text, node, definition, literals)
            elif isinstance(use, KeyUse) and use.access == "read" and not node.facts.shows:
                names.add(node.private.get(use.key, use.key))
            elif isinstance(use, DeliveryUse):
                names.add(use.key)
            elif isinstance(use, KeyUse) and use.at == ("into",):
                into.add(node.private.get(use.key, use.key))
        by_node.append(frozenset(names))
        compared.append({key: frozenset(literals.get(key, {None})) for key in names})
    roles = frozenset(role for node in definition.nodes() for role in node.facts.roles)
    return Reads(tuple(by_node), tuple(compared), roles, frozenset(into))


def _read_expression(
    text: str, node: NodeDefinition, definition: TreeDefinition, literals: dict[str, set[object]]
) -> frozenset[str]:
    """The keys that an expression reads; adds what each is compared with."""
    tree = parse(text)
    known = frozenset((*definition.keys, *node.private, *node.constants))
    read = compile_expression(text, names=known).names - node.constants.keys()
    seen: set[str] = set()
    for part in ast.walk(tree):
        if not isinstance(part, ast.Compare | ast.Call):
            continue
        names = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
        keys = names & read
        seen |= keys
        constants: set[object] = {each.value for each in ast.walk(part) if isinstance(each, ast.Constant)}
        named = [node.constants[name] for name in names & node.constants.keys()]
        constants |= {value for value in named if isinstance(value, str | int | float)}
        for key in keys:
            own = literals.setdefault(node.private.get(key, key), set())
            own |= constants if len(keys) == 1 and constants else {*constants, None}
    for key in read - seen:  # as a condition of its own: what matters is whether it is empty
        literals.setdefault(node.private.get(key, key), set()).add("")
    return frozenset(node.private.get(name, name) for name in read)


OF_THE_TOOLS = frozenset({"nothing_found"})
"""The keys that say something about the last tools that ran."""

OF_ONE_TURN = frozenset(
    {
        *("failed", "model_fault", "tool_calls", "cut_off", "said_nothing", "asks_user", "signal", "confidence"),
        *("malformed_signal", "signal_reason", "capability", "may_be_supplied", "blocker", "suggestions", "intent"),
    }
)
"""The keys that say something about the last turn alone."""


class Before:
    """Finds, by the structure of a tree, the nodes that can be ticked before something is replaced.

    Args:
        replaces: whether a node replaces it when it succeeds.
    """

    def __init__(self, root: Node[Any], replaces: Callable[[Any], bool]) -> None:
        self._replaces = replaces
        self._parents = {child.index: node for node in root.walk() for child in node.child_nodes}
        self.after = lru_cache(maxsize=1024)(self._after)

    def _after(self, waiting: Node[Any]) -> frozenset[Node[Any]]:
        """The nodes that can be ticked before one of those succeeds, while and after this one waits."""
        found: set[Node[Any]] = {waiting}

        def enter(node: Node[Any]) -> Ends:
            found.add(node)
            ends = node.ends(enter) if node.child_nodes else _ends_of_leaf(node)
            return ends - {Status.SUCCESS} if self._replaces(node) else ends

        node = waiting
        ends = ANY_END - {Status.SUCCESS} if self._replaces(waiting) else ANY_END
        while (parent := self._parents.get(node.index)) is not None:
            found.add(parent)
            ends = parent.ends_after(node, ends, enter)
            node = parent
        return frozenset(found)


def _ends_of_leaf(node: Node[Any]) -> Ends:
    """Both ways; SUCCESS alone for one that ends at once, if no case of its kind fails other than by a fault."""
    flow = node.kind.flow
    if node.kind.waits or not isinstance(flow, LeafFlow):
        return ANY_END
    fails = any(case.result == "failure" and not case.fault for case in flow.cases(node.settings))
    return ANY_END if fails else frozenset({Status.SUCCESS})


def speaks(node: Requester) -> bool:
    """Whether the node is a turn of the answer."""
    return ASKS_MODEL in node.facts.roles and bool(getattr(node.settings, "visible", True))


def answers_calls(node: Requester) -> bool:
    """Whether the node gives each open tool call a result."""
    return RUNS_CALLS in node.facts.roles or REFUSES_CALLS in node.facts.roles


Signature = tuple[tuple[bool, bool], ...]

_EMPTY = AgentState(user_id="local", config=AgentConfig())


def judgements(state: AgentState) -> Signature:
    """How the history would be judged after each round that can follow: (repeats itself, keeps failing)."""
    ranks = {turn: rank for rank, turn in enumerate(dict.fromkeys(action.turn for action in state.recent_actions))}
    names = {call: name for name, call in enumerate(dict.fromkeys(map(_call, state.recent_actions)))}
    ends = {end: name for name, end in enumerate(dict.fromkeys(map(_end, state.recent_actions)))}
    return _judgements(
        tuple(
            (names[_call(action)], ends[_end(action)], action.is_error, ranks[action.turn])
            for action in state.recent_actions
        ),
        len({action.tool for action in state.recent_actions}),
        min(state.error_streak, rules.ERROR_LIMIT),
        state.error_streak_until > state.error_streak_since,
    )


def _call(action: ToolAction) -> tuple[str, str]:
    return action.tool, action.arguments


def _end(action: ToolAction) -> tuple[bool, str | None]:
    return action.is_error, action.result_digest


@lru_cache(maxsize=4096)
def _judgements(actions: tuple[tuple[int, int, bool, int], ...], tools: int, streak: int, is_long: bool) -> Signature:  # noqa: FBT001
    """The judgements of one history, whose calls, results and turns are numbered."""
    history = tuple(
        ToolAction("tool" if tools == 1 else f"tool{call}", str(call), is_error, str(end), turn)
        for call, end, is_error, turn in actions
    )
    last = actions[-1][3] if actions else 0
    state = _EMPTY.changed(  # a state in the middle of a query
        turn=last + 1,
        recent_actions=history,
        error_streak=streak,
        error_streak_since=0 if is_long else last,
        error_streak_until=last,
    )
    return tuple(_judged(state, following) for following in _rounds(state))


def _judged(state: AgentState, actions: tuple[ToolAction, ...]) -> tuple[bool, bool]:
    for action in actions:
        state = state.after_tool_result(action)
    return rules.is_repeating_itself(state), rules.keeps_failing(state)


def _rounds(state: AgentState) -> Iterator[tuple[ToolAction, ...]]:
    """Rounds of one and two calls: each that was made before, and a new one, with each result and with a new one."""
    before = list(dict.fromkeys((action.tool, action.arguments) for action in state.recent_actions))
    results = list(dict.fromkeys((action.is_error, action.result_digest) for action in state.recent_actions))
    tool = before[0][0] if before else "tool"
    calls = [*before, (tool, "new"), (tool, "newer")]
    ends = [*results, (False, "new"), (True, "new"), (True, "newer")]
    single = [
        ToolAction(name, arguments, is_error, digest) for (name, arguments), (is_error, digest) in product(calls, ends)
    ]
    yield ()
    yield from ((action,) for action in single)
    if len(state.recent_actions) <= RECENT_ACTIONS // 3:
        yield from product(single, repeat=2)
