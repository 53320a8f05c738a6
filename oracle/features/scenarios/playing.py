"""Plays a scenario: one query with the real control, tree, limits and conversation, and a scripted rest."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Final

from bt_runtime import Blackboard, BlackboardError, Outcome, ReloadingTrees, TickRecord, TreeLibrary
from bt_runtime.testing import FakeClock
from bt_runtime.text import did_you_mean
from oracle.agent.answering import ActiveQuery, Ask, Oracle
from oracle.agent.control.choosing import Trees
from oracle.agent.control.tree import TreeControl
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.conversations.protocol import Exchange
from oracle.agent.equipment import Equipment
from oracle.agent.journal import Fact, NoJournal
from oracle.classify.types import QueryClassification
from oracle.core.chunks import Chunk
from oracle.core.errors import TreeAuthorError
from oracle.domains.domain import Domain, domain_in
from oracle.features.scenarios.model import OutsideEvent, Scenario
from oracle.features.scenarios.played import Played
from oracle.features.scenarios.stage import (
    Improviser,
    Moments,
    RunClock,
    StagedEncoder,
    StagedModel,
    StagedPeople,
    StagedTools,
)
from oracle.llm.protocol import ModelFault
from oracle.runs.readers import Readers
from oracle.tools import ToolRegistry
from oracle.tools.selection import unknown_type
from prompts import SegmentLibrary
from signals import SignalRecord

GRACE_S: Final = 60.0
"""How long a query goes on without a reader; the default of the service."""

BEGINNING: Final = "2026-01-02T03:04:05.000+00:00"
"""When scenarios begin."""
_STOPPING: Final = ModelFault("service_stopping", "The service is stopping. Please ask again in a moment.")
_USER: Final = "local"
_PATIENCE_S: Final = 20.0


class PlayError(TreeAuthorError):
    """A scenario that cannot be played."""


class EndlessError(PlayError):
    """A scenario that does not end."""


class _Record(NoJournal):
    """Keeps the audit, and what happens in its order."""

    def __init__(self, see: Callable[[object], object]) -> None:
        self.signals: list[SignalRecord] = []
        self.facts: list[Fact] = []
        self._see = see

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        self.facts.extend(outcomes)
        for outcome in outcomes:
            self._see(outcome)

    def signal(self, record: SignalRecord) -> None:
        self.signals.append(record)

    def on_tick(self, record: TickRecord) -> None:
        self.facts.append(record)
        self._see(record)


class Player:
    """Plays scenarios on the trees of a library; a tree is read once, and again when its file has changed.

    Args:
        trees: where they are found by name.
        segments: of the prompt; `None`: those of the trees' domain.
        patience_s: real seconds after which a scenario counts as hanging.
    """

    def __init__(
        self, trees: Trees, *, segments: SegmentLibrary | None = None, patience_s: float = _PATIENCE_S
    ) -> None:
        self.patience_s = patience_s
        self.trees = ReloadingTrees(trees) if isinstance(trees, TreeLibrary) else trees
        self.domain = domain_in(trees.registry)
        self.segments = segments or self.domain.shared_segments

    def play(self, scenario: Scenario, by: Improviser | None = None) -> Played:
        """Play a scenario in an event loop of its own; none may be running.

        Args:
            scenario: what is played.
            by: speaks and decides in place of its model and people.

        Raises:
            EndlessError: it never ends.
            PlayError: it or names a control that is no tree.
            UserError, TreeFileError: there is no such tree, or it has mistakes.
            UserError: the question cannot be asked.
        """
        loop = asyncio.SelectorEventLoop()  # `asyncio.run` would take twice the time, for the sake of Ctrl-C
        try:
            return loop.run_until_complete(self.play_async(scenario, by))
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def play_async(self, scenario: Scenario, by: Improviser | None = None) -> Played:
        """`play` within a running event loop, which must be asyncio's own."""
        clock = FakeClock()
        run_clock = RunClock(clock)
        moments = Moments(clock) if by is None else Moments(clock, by.see)
        model = StagedModel(scenario, moments, clock.sleep, by.speak if by else None)
        tools = StagedTools(scenario, clock, moments)
        numbers = count(1)
        conversations = MemoryConversations(new_id=lambda: f"id-{next(numbers)}")
        oracle = Oracle(
            equipment=Equipment(
                model=model,
                tools=ToolRegistry(tools.tools(), self.domain.types),
                segments=self.segments,
                classifier=self.domain.classifier(),
                clock=run_clock,
                timestamp=lambda: BEGINNING,
                encoder=StagedEncoder(scenario, model),
            ),
            trees=self.trees,
            conversations=conversations,
            new_id=lambda: f"id-{next(numbers)}",
        )
        context_id = await _converse(scenario, conversations, self.domain)
        record = _Record(moments.see)
        people = StagedPeople(scenario, clock, run_clock, by.decide if by else None)

        def emit(chunk: Chunk) -> None:
            record.facts.append(chunk)
            moments.emit(chunk)
            people.emit(chunk)

        ask = Ask(scenario.question, tree=scenario.tree, limits=scenario.limits, context_id=context_id)
        query = await oracle.open(ask, emit=emit, observers=[record], journal=record, may_park=people.rest)
        if not isinstance(query.control, TreeControl) or query.tree is None:
            raise PlayError(f"{scenario.tree!r} is a decision tree in Python; scenarios are for trees in YAML")
        _check_deliveries(scenario, query.control.tree.blackboard)
        people.deliver = query.control.deliver
        await _run(query, query.control, scenario, moments, run_clock, patience_s=self.patience_s)
        kept = await conversations.load(_USER, query.agent.query.context_id)
        messages = [] if kept is None else [each for each in kept.messages if each.role != "system"]
        return Played(
            facts=tuple(record.facts),
            tree=query.tree,
            requests=tuple(model.requests),
            tool_runs=tuple(tools.runs),
            signals=tuple(record.signals),
            blackboard={name: query.control.tree.blackboard[name] for name in query.control.tree.blackboard},
            saved=messages[-1].content if messages and messages[-1].role == "assistant" else "",
            turns_scripted=sum(turn.times for turn in scenario.model),
            turns_played=model.played,
            decisions_left=people.left,
            elapsed_s=clock.now(),
        )


async def _converse(scenario: Scenario, conversations: MemoryConversations, domain: Domain) -> str | None:
    """The conversation with the earlier queries; `None` if there are none."""
    if not scenario.history:
        return None
    conversation = await conversations.create(_USER)
    previous: QueryClassification | None = None
    for number, earlier in enumerate(scenario.history, start=1):
        previous = domain.classifier().classify_query_with(earlier.question, None, previous=previous)
        if earlier.query_type is not None:
            if earlier.query_type not in domain.types.needs:
                raise PlayError(f"the history: {unknown_type(earlier.query_type, domain.types)}")
            previous = QueryClassification.of(earlier.query_type, confidence=1.0, types=domain.types)
        exchange = Exchange(
            question=earlier.question,
            answer=earlier.answer,
            asked_at=BEGINNING,
            answered_at=BEGINNING,
            termination_reason="completed",
            run_id=f"earlier-{number}",
            classification=previous,
            had_tool_errors=earlier.tool_errors,
        )
        await conversations.append(_USER, conversation.context_id, exchange)
    return conversation.context_id


async def _run(
    query: ActiveQuery,
    control: TreeControl,
    scenario: Scenario,
    moments: Moments,
    clock: RunClock,
    *,
    patience_s: float,
) -> None:
    """Run the query to its end, with the events from outside.

    Raises:
        EndlessError: it does not end.
    """
    readers = Readers(grace_s=GRACE_S, clock=moments.clock, on_deserted=lambda _: query.cancel())
    run_id = query.agent.query.run_id
    readers.join(run_id, "reader")
    for event in scenario.events:
        moments.at(event.moment, _action(event, query, control, readers, moments, clock))
    waiting = moments.start()
    try:
        async with asyncio.timeout(patience_s):
            await query.run()
    except TimeoutError:
        raise EndlessError(f"the scenario {scenario.name!r} does not end; it was given {patience_s:g} s") from None
    finally:
        readers.forget(run_id)
        for task in waiting:
            task.cancel()
        for task in waiting:
            with suppress(asyncio.CancelledError):
                await task


def _check_deliveries(scenario: Scenario, board: Blackboard) -> None:
    """Check that the tree takes what is delivered.

    Raises:
        PlayError: a key that does not come from outside, or a value of another type.
    """
    for event in scenario.events:
        if event.action != "delivery":
            continue
        if not board.is_deliverable(event.key):
            hint = did_you_mean(event.key, filter(board.is_deliverable, board))
            message = f"the tree {scenario.tree!r} has no key {event.key!r} that comes from outside ('from: delivery')"
            raise PlayError(f"{message}; {hint}" if hint else message)
        try:
            board.check(event.key, event.value)
        except BlackboardError as error:
            raise PlayError(f"the delivery cannot be made: {error}") from None


def _action(
    event: OutsideEvent, query: ActiveQuery, control: TreeControl, readers: Readers, moments: Moments, clock: RunClock
) -> Callable[[], object]:
    run_id, state = query.agent.query.run_id, query.agent.state
    actions: Mapping[str, Callable[[], object]] = {
        "cancel": query.cancel,
        "reader_leaves": lambda: readers.leave(run_id, "reader"),
        "reader_returns": lambda: readers.join(run_id, "reader"),
        "service_stops": lambda: query.abort(_STOPPING),
        "delivery": lambda: control.deliver(event.key, event.value),
        "deadline_passes": lambda: moments.clock.advance(state.start_time + state.time_limit_s - clock.now()),
    }
    return actions[event.action]
