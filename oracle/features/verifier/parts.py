"""The parts around a run that is explored: tools and a store whose results are chosen, and what notes what was read.

Everything that decides is the product's own; these take the place of what is slow or outside.

`Memory` stores and restores the state of a live run in place: the objects of a run refer to each other, and to bound
methods of each other, so they cannot be copied one by one. The run stays the same object; what changes in it is stored
as plain values and put back.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from functools import lru_cache
from itertools import combinations
from operator import attrgetter
from typing import Any, Final

from bt_runtime import Blackboard, BTError, LiveTree, Request, Status
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.nodes.base import Node
from bt_runtime.record.recording import describe
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import Conversation, Exchange
from oracle.agent.nodes.roles import ASKS_MODEL, LIMITS_TOKENS, RUNS_CALLS, TRIES_STRATEGY, WARNS_NEAR_LIMITS
from oracle.classify import HeuristicIntentClassifier, ResponseIntent
from oracle.core.sources import QueryTypes
from oracle.decision import AgentState
from oracle.tools import Tool, ToolRegistry, ToolResult
from oracle.tools.protocol import ALWAYS
from signals import ParsedResponse, SignalAudit, SignalRecord, SignalStream

Stored = tuple[Any, ...]

_CONTAINERS = frozenset({list, dict, set})


def _fresh(value: Any) -> Any:  # noqa: ANN401
    """The value, as a container of its own if it is one that changes."""
    return type(value)(value) if type(value) in _CONTAINERS else value


class Cell:
    """One object whose attributes change."""

    __slots__ = ("_get", "_names", "_of")

    def __init__(self, of: object, names: Iterable[str] | None = None) -> None:
        self._of = of
        if names is None:
            names = [each.name for each in fields(of)] if is_dataclass(of) else vars(of)
        self._names = tuple(names)
        self._get = attrgetter(*self._names, "__class__")  # at least two names, so that it returns a tuple

    def store(self) -> Stored:
        """The values of the attributes."""
        return tuple([_fresh(value) for value in self._get(self._of)])

    def restore(self, stored: Stored) -> None:
        """Put them back."""
        of, now = self._of, self._get(self._of)
        if now == stored:
            return
        for name, value, present in zip(self._names, stored, now, strict=False):
            if value is not present:
                setattr(of, name, _fresh(value))


class Memory:
    """Stores and restores a live tree and the objects around it.

    Args:
        tree: the live tree.
        parts: further objects, all of whose attributes are stored.
    """

    def __init__(self, tree: LiveTree, parts: Sequence[object]) -> None:
        self._tree = tree
        self._nodes: tuple[Node[Any], ...] = tree.nodes
        self._dicts = [vars(node) for node in self._nodes]
        self._last: object = None
        self._running: frozenset[int] = frozenset()
        self.touched: set[int] = set()
        self._cells = [Cell(part) for part in parts]

    def store(self, requests: Iterable[Request]) -> Stored:
        """The state now.

        Args:
            requests: those that nodes still refer to.
        """
        context, board = self._tree.context, self._tree.blackboard
        self._last = None
        return (
            context.snapshot(),
            board.snapshot(),
            [node.status for node in self._nodes],
            [{name: _fresh(value) for name, value in each.items()} for each in self._dicts],
            [(request, request.outcome, request.started, request.halted) for request in requests],
            [cell.store() for cell in self._cells],
        )

    def restore(self, stored: Stored) -> None:
        """Put the state back."""
        context, board = self._tree.context, self._tree.blackboard
        waits, values, statuses, dicts, requests, cells = stored
        context.put_back(waits)
        board.put_back(values)
        # A node that was neither ticked nor halted since this very state was restored is as it was.
        indices = self.touched if self._last is stored else range(len(self._nodes))
        for index in indices:
            self._nodes[index].status = statuses[index]
            own, kept = self._dicts[index], dicts[index]
            if own != kept:
                own.clear()
                own.update({name: _fresh(value) for name, value in kept.items()})
        if self._last is not stored:
            self._last = stored
            self._running = frozenset(index for index, status in enumerate(statuses) if status is Status.RUNNING)
        self.touched = set(self._running)
        for request, outcome, started, halted in requests:
            request.outcome, request.started, request.halted = outcome, started, halted
        for cell, kept in zip(self._cells, cells, strict=True):
            cell.restore(kept)


MODEL: Final = "any-model"
TIMESTAMP: Final = "2026-01-01T00:00:00Z"


class NoAudit(SignalAudit):
    """Keeps no records: no control reads them, and they would grow with every path."""

    def append_response(self, parsed: ParsedResponse, **_: Any) -> tuple[SignalRecord, ...]:  # noqa: ANN401, ARG002
        """Forget it."""
        return ()


@dataclass(slots=True)
class ChosenStore:
    """Keeps the exchange of one query; saving fails if that was chosen."""

    saved: tuple[Exchange, ...] = ()
    attempts: int = 0
    fails: bool = False

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        """Not used: the query has its conversation."""
        raise NotImplementedError

    async def load(self, user_id: str, context_id: str) -> Conversation | None:
        """Not used."""
        raise NotImplementedError

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        """Keep the exchange.

        Raises:
            OSError: that was chosen.
        """
        del user_id, context_id
        self.attempts += 1
        if self.fails:
            raise OSError("the disk is full")
        self.saved += (exchange,)


class ChosenTools(ToolRegistry):
    """The tools of the service, with results that are chosen; none of them is run."""

    def __init__(self, tools: Sequence[Tool], types: QueryTypes | None = None) -> None:
        super().__init__(tools, types)
        self.next: ToolResult | BaseException = ToolResult("")

    async def call(self, name: str, arguments: Any, **_: Any) -> ToolResult:  # noqa: ANN401, ARG002
        """The chosen result."""
        if isinstance(self.next, BaseException):
            raise self.next
        return self.next


async def _not_run(arguments: Mapping[str, Any]) -> ToolResult:
    raise NotImplementedError


def stand_in(
    name: str, *, group: str = "code", writes: bool = False, labels: Iterable[str] = ("private", "untrusted")
) -> Tool:
    """A tool by name, without any work behind it."""
    return Tool(name, name, name, {"type": "object"}, _not_run, group, writes, labels=frozenset(labels))


ADDED: Final = "any"
"""The group of the tools that stand for all with some labels."""


def labelled(words: Sequence[str]) -> tuple[Tool, ...]:
    """A tool that is always offered for each way to have some of these labels, the one with none left out.

    They stand for all tools that rules over labels can be about, whichever the service has.
    """
    sets = (each for count in range(1, len(words) + 1) for each in combinations(words, count))
    return tuple(
        replace(stand_in(f"any_{'_'.join(each)}_tool", group=ADDED, labels=each), query_types=ALWAYS) for each in sets
    )


STANDARD_TOOLS: Final[tuple[Tool, ...]] = (
    *(stand_in(name) for name in ("search_code", "read_file", "list_files")),
    *(stand_in(name, group="vault") for name in ("vault_search", "vault_read", "vault_list")),
    stand_in("vault_write", group="vault", writes=True, labels=["inward"]),
    *(stand_in(name, group="thread") for name in ("thread_read", "thread_seek")),
    stand_in("thread_push", group="thread", writes=True, labels=["inward"]),
    stand_in("web_search", group="web", labels=["untrusted", "outward"]),
)
"""The names and groups of the service's own tools."""


def disarmed(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The same tools, none of which can be run."""
    return tuple(replace(tool, call=_not_run) for tool in tools)


@dataclass(slots=True)
class WorldProgress:
    """Where a run stands, in addition to what its own parts know.

    Args:
        is_over: `done` was sent.
        error: what ended the run in place of the tree.
        reason_at_cancel: the reason that was written when the user cancelled; `None`: the user has not cancelled.
        began_after_cancel: the path of what began after the cancel, if anything did.
        has_crashed: an exception of the service was part of the story; the tree is not to blame for it.
        node_error: the path of the first node that raised by itself.
        node_problem: the error of that node, as `Type: message`.
        reserved: the tokens that the turns under way have reserved.
        forbidden: the results of the open calls that a rule forbade when they were to begin, by their ids.
        delivered: the keys that have got a value from outside.
    """

    is_over: bool = False
    error: BTError | None = None
    reason_at_cancel: str | None = None
    began_after_cancel: str = ""
    has_crashed: bool = False
    node_error: str = ""
    node_problem: str = ""
    reserved: dict[Request, int] = field(default_factory=dict)
    forbidden: dict[str, ToolResult] = field(default_factory=dict)
    delivered: frozenset[str] = frozenset()


def watched_blackboard(read: set[str]) -> type[Blackboard]:
    """A blackboard that notes which keys nodes read."""

    class Watched(Blackboard):
        __slots__ = ()

        def __getitem__(self, name: str) -> Any:  # noqa: ANN401
            read.add(name)
            return super().__getitem__(name)

    return Watched


@dataclass(slots=True)
class WatchedIntents:
    """Classifies responses as the product does, and notes that it was asked."""

    was_asked: bool = False

    @property
    def name(self) -> str:
        """The product's own."""
        return "heuristic"

    def classify(self, text: str) -> ResponseIntent:
        """The way in which the product reads the text."""
        self.was_asked = True
        return _classified(text)


class KnownReader:
    """The reader of a response that was read before: the product's own has read it once."""

    def __init__(self, text: str) -> None:
        self.thoughts: list[str] = []  # no reply has any
        reader = SignalStream()
        self._shown = reader.feed(text)
        self._parsed = reader.close()

    def feed(self, delta: str) -> str:
        """What may be shown now."""
        return self._shown if delta else ""

    def close(self, *, cut_off: bool = False) -> ParsedResponse:  # noqa: ARG002  no reply ends within a signal
        """The response."""
        return self._parsed


@lru_cache(maxsize=1024)
def reader_of(text: str) -> Any:  # noqa: ANN401  as good as a `SignalStream`
    """The reader of this response."""
    return KnownReader(text)


@lru_cache(maxsize=256)
def _classified(text: str) -> ResponseIntent:
    return HeuristicIntentClassifier().classify(text)


_BY_TOKENS: Final = frozenset({ASKS_MODEL, LIMITS_TOKENS, WARNS_NEAR_LIMITS, RUNS_CALLS, CALLS_HOST})
"""The roles of kinds that may do something by how many tokens are used."""


class TokenWatch:
    """Notes which nodes have done something by the tokens that are used, since an event.

    Args:
        nodes: of the live tree, in order.
    """

    def __init__(self, nodes: Sequence[Node[Any]]) -> None:
        self._turns = frozenset(node.index for node in nodes if ASKS_MODEL in node.facts.roles)
        self._readers = frozenset(node.index for node in nodes if _reads_tokens(node))
        asking = frozenset(node.index for node in nodes if LIMITS_TOKENS in node.facts.roles)
        self._figures = self._readers - asking - self._turns
        self._asking = frozenset(node.index for node in nodes if TRIES_STRATEGY in node.facts.roles)
        self.begin()

    def begin(self) -> None:
        """Forget what was before; an event happens."""
        self._is_read = self._is_asked = self.has_read_figures = False

    def note(self, visited: Sequence[int], *, has_spent: bool) -> None:
        """Note the nodes that a tick has visited.

        Args:
            visited: their indices, in order.
            has_spent: tokens were counted since the event, before the tick. Else nodes that were ticked before a turn
                ended in this tick have seen the tokens from before the event.
        """
        end = -1 if has_spent else next((at for at, index in enumerate(visited) if index in self._turns), len(visited))
        after = visited[end + 1 :]
        self._is_read = self._is_read or not self._readers.isdisjoint(after)
        self._is_asked = self._is_asked or not self._asking.isdisjoint(after)
        self.has_read_figures = self.has_read_figures or not self._figures.isdisjoint(visited)

    def decide(self, state: AgentState, read: set[str]) -> bool:
        """Whether the tokens of the event may have decided anything.

        Args:
            state: after the event. Once all turns are used there is none left, whatever the tokens.
            read: the keys that nodes have read since the event.
        """
        asks_for_a_turn = self._is_asked or "turn_left" in read
        return (
            self._is_read
            or "tokens_used" in read
            or (asks_for_a_turn and state.turn < state.turn_limit)
            or state.termination_reason == "token_budget"
        )


def _reads_tokens(node: Node[Any]) -> bool:
    facts = node.facts
    return facts.reads is None or "tokens_used" in facts.reads or not _BY_TOKENS.isdisjoint(facts.roles)


def outcome_of(work: Coroutine[Any, Any, Any]) -> tuple[Any, str | None]:
    """The value and the error of work that does not wait, because nothing in it has to."""
    try:
        work.send(None)
    except StopIteration as ended:
        return ended.value, None
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  as the run loop does
        return None, describe(error)
    work.close()
    raise RuntimeError("the work of a node waited, although nothing in this world takes time")
