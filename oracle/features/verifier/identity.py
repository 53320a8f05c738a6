"""What makes two states of a run the same: everything that can matter to what follows, and nothing else.

Two runs in states of equal identity can do the same from here on. What only grows or only shows (texts, chunks, numbers
of requests) is left out; so is what no node that can still be ticked reads.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from bt_runtime import Request, Rule, Status
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.nodes.base import Node
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.board import AGENT_KEYS, AgentKey
from oracle.agent.nodes.roles import (
    ASKS_MODEL,
    HOLDS_BACK_CALLS,
    JUDGES_CONTEXT,
    RUNS_CALLS,
    SEES_ERRORS,
    SEES_REPETITION,
    TRIES_STRATEGY,
    WARNS_NEAR_LIMITS,
)
from oracle.agent.outcomes import CallResult
from oracle.agent.people import People
from oracle.decision import AgentState, canonical_arguments, rules
from oracle.decision.rules import ERROR_LIMIT
from oracle.features.verifier.properties import conditions_of, names_in
from oracle.features.verifier.reads import (
    OF_ONE_TURN,
    OF_THE_TOOLS,
    Before,
    Reads,
    answers_calls,
    judgements,
    speaks,
)
from oracle.features.verifier.world import FOUND_AGAIN, FRESH, REPEATED, World
from oracle.gathering.log import says_enough
from oracle.llm.protocol import ToolUse

_RUNNING = Status.RUNNING
_NEXT = "next"
_READERS: Mapping[str, Callable[[Any], Any]] = {key.name: key.read for key in AGENT_KEYS if isinstance(key, AgentKey)}
_OF_THE_STATE = frozenset({"turn", "turn_limit", "token_budget", "question", "max_turns", "tokens_used"})
"""Keys whose values follow from what is in the identity anyway."""


_COUNTERS = frozenset({"turns_without_signal", "same_reason", "empty_turns", "announcements"})
"""Keys that grow by one with each turn of the answer, or start anew."""


_TEXTS = frozenset({"signal", "intent", "capability", "blocker", "signal_reason"})
"""Texts of one turn, which most trees only compare with others."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """What can still be ticked.

    Args:
        keys: the blackboard keys that it reads.
        works: it may begin something that limits bound, or reads how far they are used.
        texts: of keys that are only compared with texts: those texts.
    """

    keys: tuple[str, ...]
    roles: frozenset[str]
    works: bool
    texts: Mapping[str, frozenset[object]]

    @property
    def counts_tokens(self) -> bool:
        """Whether it may do anything by how many tokens are used."""
        return self.works or WARNS_NEAR_LIMITS in self.roles


class Identity:
    """Tells the states of one world apart.

    Args:
        world: the run.
        is_exact: what only rules can distinguish is part of the identity: warnings, and which tools were called.
    """

    def __init__(self, world: World, reads: Reads, *, is_exact: bool = False) -> None:
        self._world = world
        self._reads = reads
        self._warnings = is_exact
        self._reads_tokens = "tokens_used" in reads.keys or _judge_tokens(world.definition.rules)
        self._numbers = {key: reads.numbers_of(key) for key in _COUNTERS}
        self._nodes: tuple[Node[Any], ...] = world.tree.nodes
        self._keeping = tuple((node, vars(node), node.facts.keeps) for node in self._nodes if node.facts.keeps)
        self._remembering = tuple((vars(node), node.facts.remembers) for node in self._nodes if node.facts.remembers)
        self._undeclared = tuple(node for node in self._nodes if node.facts.keeps is None)
        self._watched = tuple(child for node in self._nodes if node.facts.compares for child in node.child_nodes)
        self._next_turn = Before(world.tree.root, speaks)
        self._next_tools = Before(world.tree.root, answers_calls)
        self._moment, self._form = -1, (self._shape(), tuple(self._pending()))
        self._ahead = lru_cache(maxsize=4096)(self._look_ahead)

    def of(self, extra: Hashable = None) -> Hashable:
        """The identity of the state now.

        Args:
            extra: what else tells states apart, such as the states of monitors.
        """
        world = self._world
        ahead = self.ahead()
        shape, pending = self._form
        return (
            self._tokens(ahead),
            self._board(ahead),
            shape,
            self._attributes(),
            (world.context.now_s, *world.context.awaited(), world.floor.is_late),
            pending,
            self._agent(ahead),
            world.progress.reason_at_cancel,
            world.progress.has_crashed,
            bool(world.stepper.interrupted),
            world.progress.delivered,
            extra,
        )

    def split(self, identity: Hashable) -> tuple[Hashable, tuple[Hashable, ...]] | None:
        """The identity in two parts: what nodes read themselves, tokens apart, and the values on the blackboard.

        States that differ only in tokens and in some of the values do the same, if the first of them does nothing by
        those. The values are in the order of the keys ahead, which follow from the first part.

        Returns:
            `None` if something reads how many tokens are used.
        """
        if self._reads_tokens or not isinstance(identity, tuple):
            return None
        return identity[2:], identity[1]

    def _tokens(self, ahead: Ahead) -> Hashable:
        """How much of the budget is used, in percent, and who was warned, if anything may follow that depends on it."""
        state = self._world.agent.state
        if not ahead.counts_tokens:
            return None
        share = state.tokens_used * 100 // state.config.token_budget
        return share, state.token_warned if self._warnings else None

    def _shape(self) -> tuple[tuple[int, ...], tuple[Status, ...], tuple[Hashable, ...]]:
        """Which nodes are RUNNING, and what each of them may still tick."""
        running = tuple([at for at, node in enumerate(self._nodes) if node.status is _RUNNING])
        return (
            running,
            tuple([node.status for node in self._watched]),
            tuple([self._nodes[at].ahead() for at in running]),
        )

    def _attributes(self) -> tuple[Hashable, ...]:
        """What the nodes keep."""
        found = [_hashable(own.get(name)) for own, names in self._remembering for name in names]
        for node, own, names in self._keeping:
            if node.status is _RUNNING:
                found += [_hashable(own.get(name)) for name in names]
        for node in self._undeclared:
            found += [_hashable(value) for name, value in vars(node).items() if _is_kept(node, name, value)]
        return tuple(found)

    def _pending(self) -> Iterable[Hashable]:
        world = self._world
        for request in world.under_way:
            yield _index(request), "under way", tuple([call.name for call in request.part or ()])
        for request in world.context.posted:
            yield _index(request), "posted"

    def _board(self, ahead: Ahead) -> tuple[Hashable, ...]:
        """The values that can still be read; of those that are read from the run, also what they will be next."""
        board, agent = self._world.tree.blackboard, self._world.agent
        found: list[Hashable] = []
        for key in ahead.keys:
            value = board[key]
            if key in _COUNTERS:
                found.append(self._count(key, value))
                continue
            if key in ahead.texts and value and value not in ahead.texts[key]:
                found.append("another")
                continue
            read = _READERS.get(key)
            now = value if read is None else read(agent)
            is_same = now is value or now == value
            found.append(_hashable(value) if is_same else (_NEXT, _hashable(value), _hashable(now)))
        return tuple(found)

    def _count(self, key: str, value: int) -> Hashable:
        """How a counter compares with what the tree compares it with, now and after each turn that is left.

        It grows by one with each turn, or starts anew; so equal comparisons mean equal consequences.
        """
        state = self._world.agent.state
        left = state.turn_limit - state.turn
        return tuple(
            [
                (value + turns >= number, value + turns > number)
                for number in self._numbers[key]
                for turns in range(left + 1)
            ]
        )

    def _agent(self, ahead: Ahead) -> tuple[Hashable, ...]:
        """What the product's own nodes read of the query."""
        agent, state = self._world.agent, self._world.agent.state
        ending = agent.ending
        closing: Hashable = None
        if not ending.is_explained:
            # Also while the next turn is under way: one that is interrupted leaves them as they are.
            closing = (
                state.answered,
                None if agent.fault is None else agent.fault.error_type == "tree_failed",
                bool(ending.node_errors),
                bool(agent.output.answer.strip()),
                None if agent.turn.outcome is None else bool(agent.turn.outcome.calls),
            )
        working: Hashable = None
        if ahead.works:
            working = (
                *(state.turn, state.turn_limit, state.broken_turns, state.budget_cut),
                *(state.tokens_used >= state.config.token_budget, agent.turn.is_last_paid),
                *(len(agent.turn.open_calls), _offered(self._world)),
                *(agent.turn.cut_off is not None, agent.output.goes_on),
                _calls(agent.turn.open_calls, state) if _COMPARES_CALLS & ahead.roles else None,
                tuple([call.name for call in agent.turn.open_calls]) if self._warnings else None,
                _refused(agent.part(People.of)),
            )
        return (
            closing,
            ending.is_explained,
            agent.output.is_done,
            state.cancelled,
            state.termination_reason,
            working,
            self._actions(ahead.roles),
            self._gathering(ahead.roles),
            state.turn_warned if self._warnings else None,
        )

    def _actions(self, roles: frozenset[str]) -> Hashable:
        """What is known of the latest actions; before a turn after which no tools run, only what has been judged."""
        state = self._world.agent.state
        watched = {SEES_REPETITION, SEES_ERRORS} & roles
        if not watched or not state.recent_actions:
            return None
        if self._only_speaks() and self._world.agent.plan().wrap_up:
            return rules.is_repeating_itself(state), rules.keeps_failing(state)
        if self._rounds_left() == 1:
            return judgements(state)
        return (_repetition(state) if SEES_REPETITION in watched else None), _streak(state)

    def _gathering(self, roles: frozenset[str]) -> Hashable:
        """What the nodes read that judge what was gathered, and choose strategies by it.

        Before a turn after which no tools run and no strategy is tried, that is nothing.
        """
        agent = self._world.agent
        gathering, gathered = self._world.gathering, self._world.gathering.gathered
        if not roles & _OF_GATHERING or (self._only_speaks() and agent.plan().wrap_up):
            return gathering.answer_due
        strategies: Hashable = None
        if TRIES_STRATEGY in roles:
            untried = any(name not in agent.state.tools_tried for name in agent.offered)
            strategies = gathering.strategies, untried, bool(gathered.failed_tools), bool(gathered.empty_searches)
        if not roles & {JUDGES_CONTEXT, HOLDS_BACK_CALLS}:
            return strategies, gathering.answer_due
        return (
            strategies,
            *(
                gathered.dry_turns,
                gathered.known_calls,
                gathered.empty_turns,
                gathered.has_found,
                gathered.said_sufficient,
            ),
            *(gathering.verdict, gathering.refused_calls, gathering.answer_due, bool(gathering.held_back)),
            *(bool(gathered.repeatable), any(each.arguments in REPEATED for each in gathered.repeatable)),
            *(gathered.knows(FOUND_AGAIN), bool(agent.turn.open_calls) and says_enough(agent.signals.latest)),
        )

    def _rounds_left(self) -> int:
        """How many more times the tools of a turn can run; 2 stands for more."""
        world = self._world
        nodes = [request.node for request in (*world.under_way, *world.context.posted)]
        left = world.agent.state.turn_limit - world.agent.state.turn
        if len(nodes) != 1:
            return 2
        return left - 1 if speaks(nodes[0]) else left if answers_calls(nodes[0]) else 2

    def _only_speaks(self) -> bool:
        """Whether the run waits for one turn of the answer and nothing else: it replaces what is known of the last."""
        under_way, posted = self._world.under_way, self._world.context.posted
        if posted or len(under_way) != 1 or self._world.agent.ending.node_errors:
            return False
        return speaks(next(iter(under_way)).node)

    def ahead(self) -> Ahead:
        """What can still be ticked."""
        if self._moment != self._world.moment:
            self._moment, self._form = self._world.moment, (self._shape(), tuple(self._pending()))
        return self._ahead(self._form)

    def _look_ahead(self, shape: Hashable) -> Ahead:
        """What can still be ticked; the nodes are in this shape now."""
        del shape
        found: set[Node[Any]] = set()
        self._collect(self._world.tree.root, found)
        read = frozenset().union(*(self._reads.by_node[node.index] for node in found))
        keys = read - _OF_THE_STATE
        keys -= OF_ONE_TURN - self._read_before(self._next_turn)
        keys -= OF_THE_TOOLS - self._read_before(self._next_tools)
        board = self._world.tree.blackboard
        roles = frozenset(role for node in found for role in node.facts.roles)
        works = bool(read & _OF_LIMITS) or any(_works(node) for node in found)
        texts: dict[str, set[object]] = {}
        for node in self._until_replaced(found):
            for key, literals in self._reads.compared[node.index].items():
                if key in _TEXTS:
                    texts.setdefault(key, set()).update(literals)
        alike = {key: frozenset(literals) for key, literals in texts.items() if None not in literals}
        return Ahead(tuple(sorted(key for key in keys if key in board)), roles, works, alike)

    def _until_replaced(self, found: set[Node[Any]]) -> set[Node[Any]]:
        """Of the nodes that can still be ticked, those that can be ticked before the next turn has succeeded."""
        waiting = [request.node for request in (*self._world.under_way, *self._world.context.posted)]
        if not waiting:
            return found
        nodes: set[Node[Any]] = set()
        for node in waiting:
            nodes |= self._next_turn.after(node)  # type: ignore[arg-type]  # all requesters are nodes
        return found & nodes

    def _read_before(self, replaced: Before) -> frozenset[str]:
        """The keys that can be read before something is replaced."""
        waiting = [request.node for request in (*self._world.under_way, *self._world.context.posted)]
        nodes: set[Node[Any]] = set() if waiting else set(self._nodes)
        for node in waiting:
            nodes |= replaced.after(node)  # type: ignore[arg-type]  # all requesters are nodes
        return frozenset().union(*(self._reads.by_node[node.index] for node in nodes))

    def _collect(self, node: Node[Any], found: set[Node[Any]]) -> None:
        found.add(node)
        if node.status is not _RUNNING or node.facts.repeats:
            found.update(node.walk())
            return
        for child in node.ahead():
            self._collect(child, found)


_COMPARES_CALLS = frozenset({SEES_REPETITION, JUDGES_CONTEXT, HOLDS_BACK_CALLS})
"""The roles of kinds that compare the calls of a turn with those before."""
_OF_GATHERING = frozenset({JUDGES_CONTEXT, HOLDS_BACK_CALLS, TRIES_STRATEGY})
_WORKING = frozenset({ASKS_MODEL, RUNS_CALLS, CALLS_HOST})
_OF_LIMITS = frozenset({"turn", "turn_limit"})


def _works(node: Node[Any]) -> bool:
    """Whether a node may begin anything that limits bound, or look at them."""
    return not node.facts.are_declared or node.kind.category == "guard" or not _WORKING.isdisjoint(node.facts.roles)


def _judge_tokens(rules: Sequence[Rule]) -> bool:
    """Whether a rule is about how many tokens are used."""
    own = {"tokens", "tokens_used"}
    return any(
        not own.isdisjoint(names_in(pattern)) or (pattern.type == "key" and own & {*(pattern.names or own)})
        for _, pattern in conditions_of(rules)
    )


def _index(request: Request) -> int:
    index: int = request.node.index  # type: ignore[attr-defined]  # all requesters are nodes
    return index


def _offered(world: World) -> Hashable:
    """What can be told apart of the offered tools: can anything be read, written, added?"""
    agent = world.agent
    tools = [tool for name in agent.offered if (tool := world.tools.get(name))]
    reading = sum(not tool.writes for tool in tools)
    most = sum(not tool.writes and tool.name not in agent.withheld for tool in world.tools.tools)
    return bool(reading), len(tools) > reading, reading == most, agent.withheld


def _repetition(state: AgentState) -> Hashable:
    """The recent actions, with calls and results numbered by their first occurrence."""
    calls: dict[Hashable, int] = {}
    results: dict[Hashable, int] = {}
    turns: dict[Hashable, int] = {}
    return tuple(
        (
            calls.setdefault((action.tool, action.arguments), len(calls)),
            results.setdefault((action.tool, action.is_error, action.result_digest), len(results)),
            action.is_error,
            turns.setdefault(action.turn, len(turns)),
        )
        for action in state.recent_actions
    )


def _calls(calls: Sequence[ToolUse], state: AgentState) -> Hashable:
    """The open calls of a turn: which of the recent ones each repeats, and whether it can be made again."""
    known: dict[Hashable, int] = {}
    for action in state.recent_actions:
        known.setdefault((action.tool, action.arguments), len(known))
    made = [(call.name, canonical_arguments(call.arguments)) for call in calls]
    return tuple((known.setdefault(each, len(known)), each[1] in REPEATED) for each in made)


def _refused(people: People) -> Hashable:
    """The calls that a person has refused, and that can be made again."""
    return frozenset([str(like) for like in people.refusals if FRESH not in str(like)]) if people.refusals else None


def _streak(state: AgentState) -> Hashable:
    if not state.error_streak:
        return 0
    is_long = state.error_streak_until > state.error_streak_since
    return min(state.error_streak, ERROR_LIMIT), is_long, state.turn == state.error_streak_since


def _is_kept(node: Node[Any], name: str, value: object) -> bool:
    """Whether an attribute of a node that declares nothing may be part of its state."""
    if name in node.unkept or isinstance(value, Node):
        return False
    return not (isinstance(value, tuple) and any(isinstance(each, Node) for each in value))


def _hashable(value: object) -> Hashable:
    """The value, or its text where it cannot be hashed."""
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    if isinstance(value, CallResult):  # why a call was not run decides nothing
        return value.call.id, value.is_empty, value.is_error, value.action if value.counts else None
    if isinstance(value, Request):
        return _index(value), value.started, value.halted
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
