"""A run of the real tree that is driven by chosen events instead of by tasks and time.

Nodes, stepper, agent, floor and closing are the product's. The work is not: each outcome is made when it is needed,
through the code that makes the outcomes of real turns and tool calls.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from bt_runtime import (
    BTError,
    Outcome,
    Registry,
    Request,
    Status,
    Stepper,
    TickRecord,
    TreeDefinition,
)
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.record.recording import TickInput
from oracle.agent.control.opening import open_agent
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY, demanded, values_of
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.nodes.roles import ASKS_MODEL, FINISHES, RUNS_CALLS
from oracle.agent.people import People
from oracle.agent.query import Query
from oracle.agent.tool_calls import answer_calls, calls_of, forbidden
from oracle.agent.turn import OpenTurn
from oracle.core.chunks import Chunk
from oracle.decision import AgentConfig, canonical_arguments
from oracle.domains.domain import domain_in
from oracle.features.rules.enforcing import RunRules
from oracle.features.scenarios.model import PersonDecides, SignalLine, Turn
from oracle.features.verifier import events
from oracle.features.verifier.events import (
    OTHER_REASONS,
    PLAIN,
    SHARES,
    WORDS,
    Reply,
    Result,
    Tokens,
    events_of,
)
from oracle.features.verifier.parts import (
    MODEL,
    TIMESTAMP,
    ChosenStore,
    ChosenTools,
    Memory,
    NoAudit,
    Stored,
    TokenWatch,
    WatchedIntents,
    WorldProgress,
    disarmed,
    outcome_of,
    reader_of,
    watched_blackboard,
)
from oracle.gathering.log import GatheringLog
from oracle.llm.protocol import ToolUse, Usage
from oracle.llm.scripted import ScriptedCall, ScriptedTurn, arguments_text
from oracle.runs.repeating import StillClock, UnaskedModel
from oracle.tools import Tool, ToolResult

Saved = tuple[tuple[Stored, tuple[Any, ...]], tuple[Chunk, ...]]

_INJECTED = "RuntimeError: an error in the service"
PARTIAL = "The beginning of an"


AGAIN: Final = "the question"
"""What a call searches for that can be made again."""
FRESH: Final = "question "
"""How the texts begin that a call never searches for again; a number follows."""
REPEATED: Final = frozenset({canonical_arguments({"query": AGAIN})})
FOUND_AGAIN: Final = "What it says."
"""What a tool returns that brings the same as before."""


class World:
    """One run.

    Args:
        definition: the tree.
        config: the user's limits.
        tools: those of the service; none of them is run.
        registry: the kinds of the tree.
        question: the question until `Start` puts another one in its place.
    """

    def __init__(
        self,
        definition: TreeDefinition,
        *,
        config: AgentConfig,
        tools: Sequence[Tool],
        question: str,
        registry: Registry = REGISTRY,
    ) -> None:
        self.definition = definition
        self.clock, self.store, self.intents = StillClock(), ChosenStore(), WatchedIntents()
        self.gathering = GatheringLog()
        self.chunks: list[Chunk] = []
        self.visited: set[int] = set()
        self.path: list[int] = []  # which nodes each tick of the last event has visited
        self.on_tick: Callable[[TickRecord], None] | None = None
        domain = domain_in(registry)
        labelled = [replace(tool, labels=tool.labels_with(definition.labels)) for tool in disarmed(tools)]
        self.tools = ChosenTools(labelled, domain.types)
        self.read: set[str] = set()
        self.written: set[str] = set()
        opened = open_agent(
            # As long a history as there can be: what is done about that is done.
            replace(
                Query("run", question, "local", "conversation", config, tree=definition.name),
                history_tokens=config.token_budget // 2,
                history_room=config.token_budget // 2,
            ),
            definition,
            equipment=Equipment(
                model=UnaskedModel(MODEL),
                tools=self.tools,
                intents=self.intents,
                gathering=lambda: self.gathering,
                segments=domain.shared_segments,
                classifier=domain.classifier(),
                clock=self.clock,
                timestamp=lambda: TIMESTAMP,
            ),
            store=self.store,
            emit=self.chunks.append,
            registry=registry,
            rules="all",
            blackboard=watched_blackboard(self.read),
        )
        opened.cancel = self._request_cancel
        self.agent, self.tree, self.floor = opened.agent, opened.tree, opened.floor
        self.rules = opened.rules if isinstance(opened.rules, RunRules) else None
        self.agent.signals.audit = NoAudit()
        self.closing = opened.host.closing
        self.context = self.tree.context
        self.turn_limit = self.agent.state.turn_limit
        self.progress = WorldProgress()
        self.moment = 0  # counts what happens, so that what was found out about the state now is found out once
        self.tokens = TokenWatch(self.tree.nodes)
        self.stepper = Stepper(self.tree, self.floor)
        self._partial: dict[Request, Any] = {}
        self._tokens_before = 0
        agent = self.agent
        self._memory = Memory(
            self.tree,
            [
                *(agent, agent.output, agent.transcript, agent.signals, agent.turn, agent.cost),
                *(agent.ending, self.gathering, agent.part(People.of)),
                *(self.floor, opened.host, self.store, self.progress),
                *((self.rules, self.rules.stream) if self.rules else ()),
            ],
        )

        self._first = self.save()

    @property
    def question(self) -> str:
        """What the user asks."""
        return self.agent.query.question

    # Time travel

    def save(self) -> Saved:
        """The state now, to come back to."""
        requests = {*self.under_way, *self.stepper.posted}
        return (self._memory.store(requests), self.stepper.snapshot()), tuple(self.chunks)

    def restore(self, saved: Saved) -> None:
        """Come back to a state."""
        self.moment += 1
        (stored, steps), self.chunks[:] = saved
        self._memory.restore(stored)
        self.stepper.put_back(steps)
        self.clock.now_s = self.context.now_s

    def begin_again(self) -> None:
        """Come back to before the question."""
        self.restore(self._first)

    # Events

    @property
    def under_way(self) -> Collection[Request]:
        """The requests that have been started and have not ended, in order."""
        return self.stepper.under_way.values()

    def run_by(self, key: str) -> Sequence[ToolUse]:
        """The calls that the request of this key runs."""
        return calls_of(self.agent, self.stepper.under_way[key])

    @property
    def next_deadline_s(self) -> float | None:
        """The earliest deadline of a node or of the query."""
        return self.stepper.wake_at_s

    def play(self, event: events.Event) -> None:
        """Let something happen, and tick the tree until it waits again or has ended."""
        self.moment += 1
        self.intents.was_asked = False
        self.tokens.begin()
        self.read.clear()
        self.written.clear()
        self.path.clear()
        self._partial.clear()
        now_s, self._tokens_before = self.clock.now_s, self.agent.state.tokens_used
        was_complete = False
        match event:
            case events.Start(question):
                self._ask(question)
            case events.Cancelled():
                self.progress.reason_at_cancel = self.agent.state.termination_reason or ""
                self._interrupt(event.part, calls=event.calls)
                was_complete = self.stepper.has_events
                self.stepper.deliver("cancel_requested", value=True, at_s=now_s)
            case events.Decided(at):
                asked = tuple(self.agent.output.pending)[at]
                decides = PersonDecides(decision=event.decision, value=event.says)
                self.stepper.deliver(ANSWERS, {asked: decides.delivered()}, now_s)
            case events.Delivered(key, value):
                self.progress.delivered |= {key}
                self.stepper.deliver(key, value, now_s)
            case events.TimePassed():
                until_s = self.next_deadline_s
                assert until_s is not None  # noqa: S101  it is offered only then
                self._interrupt(event.part)
                self.clock.now_s = until_s
            case _:
                request = self.stepper.under_way[event.request]
                self.stepper.ended(self._end_of(request, event))
        given = self.stepper.begin(now_s) if isinstance(event, events.Start) else self.stepper.due(self.clock.now_s)
        assert given is not None  # noqa: S101  something has happened
        self._tick(given)
        if was_complete:
            self.progress.reason_at_cancel = self.agent.state.termination_reason or ""
        self._go_on()
        if was_complete and self.tree.root.status is not Status.RUNNING:
            # What was complete in the moment of the cancel was complete before, and so is an end that follows at once.
            self.progress.reason_at_cancel = self.progress.reason_at_cancel or "none"
        self.moment += 1

    def _tick(self, given: TickInput) -> None:
        self._keep([outcome for outcome in given.outcomes if outcome.state != "cancelled"])
        has_spent = self.agent.state.tokens_used != self._tokens_before
        self._observe(self.stepper.tick(given), has_spent=has_spent)

    def _ask(self, question: str) -> None:
        """Put another question in place of the first one."""
        if question == self.question:
            return
        agent = self.agent
        agent.query = replace(agent.query, question=question)
        agent.transcript.begin_anew((), question)
        for key, value in values_of(agent, demanded(self.definition)).items():
            self.tree.blackboard.set(key, value)
        self.tree.blackboard.take_writes()

    def _keep(self, outcomes: Sequence[Outcome]) -> None:
        """Show the rules of the tree what has ended, as the journal does before a tick."""
        if self.rules is not None and outcomes:
            outcome_of(self.rules.keep(outcomes))

    def _request_cancel(self) -> None:
        """A rule of the tree has ended the query."""
        self.stepper.deliver("cancel_requested", value=True, at_s=self.clock.now_s)

    def _observe(self, record: TickRecord, *, has_spent: bool = True) -> None:
        visited = record.visited
        self.visited.update(visited)
        self._memory.touched.update(visited)
        self._memory.touched.update([index for index, _ in record.changes])
        self.path.append(hash(visited))
        self.written.update([key for key, _ in record.writes])
        self.tokens.note(visited, has_spent=has_spent)
        if record.errors:
            self.agent.ending.note_errors(record.errors)
            if not self.progress.has_crashed:
                first = record.errors[0]
                self.progress.node_problem = self.progress.node_problem or first.error
                self.progress.node_error = self.progress.node_error or first.path
        if self.rules is not None:
            self.rules.on_tick(record)
        if self.on_tick is not None:
            self.on_tick(record)

    def _go_on(self) -> None:
        """Tick the tree until it waits or has ended."""
        try:
            while not self.stepper.is_over:
                self._settle()
                self._start()
                given = self.stepper.due(self.clock.now_s)
                if given is None:
                    break
                self._tick(given)
            if not self.stepper.is_over:
                return
        except BTError as error:
            self.progress.error = error.with_traceback(None)
        self._end()

    def _start(self) -> None:
        """Start what the floor lets begin."""
        for request in self.stepper.start():
            self._reserve(request)
            if self.progress.reason_at_cancel is not None and FINISHES not in request.node.facts.roles:
                self.progress.began_after_cancel = self.progress.began_after_cancel or request.node.path

    def _reserve(self, request: Request) -> None:
        """Reserve the tokens of a turn while it is under way."""
        node, rules = request.node, self.agent.rules
        if RUNS_CALLS in node.facts.roles:
            judged = {call.id: forbidden(self.agent, call) for call in calls_of(self.agent, request)}
            before = {} if request.part is None else self.progress.forbidden
            self.progress.forbidden = before | {call_id: why for call_id, why in judged.items() if why is not None}
        if ASKS_MODEL not in node.facts.roles:
            return
        if rules is not None:
            rules.turn(visible=node.settings.visible)
        plan = self.agent.plan(node.settings.model)
        self.progress.reserved[request] = plan.input_tokens + plan.max_tokens
        self.agent.cost.reserved_tokens += self.progress.reserved[request]

    def _settle(self) -> None:
        while halted := self.stepper.halted:
            outcomes = [self._cancelled(request) for request in halted]
            self._keep(outcomes)
            self.stepper.settle(outcomes)

    def _end(self) -> None:
        """The tree has ended, or was ended: close the query as `ActiveQuery` does."""
        self.stepper.halt()
        self._settle()
        record = self.stepper.close(self.clock.now_s)
        if record is not None:
            self._observe(record)
        if self.progress.error is not None:
            self.agent.ending.lose_control(self.progress.error)
        self.store.fails = False
        outcome_of(self.closing.finish(self.agent, asked_at=TIMESTAMP))
        self.progress.is_over = True

    # Outcomes

    def _release(self, request: Request) -> None:
        self.agent.cost.reserved_tokens -= self.progress.reserved.pop(request, 0)

    def _end_of(self, request: Request, event: events.Event) -> Outcome:
        """The outcome of a request that ends by itself."""
        self._release(request)
        value, error = self._result_of(request, event)
        if error is not None:
            self.progress.has_crashed = True
        state = "done" if error is None else "failed"
        return Outcome(request.key, state, value, error, at_s=self.clock.now_s)  # type: ignore[arg-type]

    def _result_of(self, request: Request, event: events.Event) -> tuple[Any, str | None]:
        node = request.node
        match event:
            case events.Replied(_, reply):
                return (None, _INJECTED) if reply.crashes else (self._turn(request, reply), None)
            case events.ToolsEnded(_, results):
                return self._tools(request, results), None
            case events.ActionEnded():
                self.tools.next = self.result_of(event.result, event.text)
                return outcome_of(node.start())
            case events.SaveEnded(_, fails):
                self.store.fails = fails
                return outcome_of(node.start())
            case events.WorkEnded(_, fails):
                return (None, _INJECTED) if fails else (None, None)
            case _:
                raise TypeError(event)

    def _turn(self, request: Request, reply: Reply, *, interrupted: bool = False) -> Any:  # noqa: ANN401
        node: Any = request.node
        rules, self.agent.rules = self.agent.rules, None  # they saw the turn when it began
        turn = OpenTurn(self.agent, node.request())
        self.agent.rules = rules
        try:
            script = self.scripted(reply)
            turn.response.reader = reader_of("".join(script.text))
            turn.play(events_of(script, ends=not (interrupted or reply.is_fault)))
        finally:
            turn.release()
        return turn.end(reply.fault, interrupted=interrupted)

    def turn_of(self, reply: Reply) -> Turn:
        """The reply as a turn of a scenario, as it would be now."""
        text, signal = reply.text, None
        if reply.signal == "malformed":
            text = f'{text}\n\n<signal type="need_turn"></signal>'
        elif reply.signal:
            signal = SignalLine(type=reply.signal, fields=self._fields_of(reply), confidence=reply.confidence)
        return Turn(
            text=text,
            signal=signal,
            calls=self._calls_of(reply),
            usage=Usage(input_tokens=0, output_tokens=self.left_until(reply.tokens)),
            stop_reason=reply.stop_reason,
            fault=reply.fault,
        )

    def scripted(self, reply: Reply) -> ScriptedTurn:
        """What the model sends of the reply now, as a value that can be hashed: arguments of calls are text."""
        script = self.turn_of(reply).scripted()
        calls = tuple(replace(call, arguments=arguments_text(call.arguments)) for call in script.tool_calls)
        return replace(script, tool_calls=calls, fault=None)

    def left_until(self, level: Tokens) -> int:
        """The tokens that are left until a level is reached; 0 if it is reached."""
        state = self.agent.state
        return max(0, int(state.config.token_budget * SHARES[level]) - state.tokens_used)

    def _fields_of(self, reply: Reply) -> dict[str, str]:
        """The fields of the signal that are not the usual ones; a `need_turn` repeats its reason only if it is to."""
        fields: dict[str, str] = {}
        if reply.signal == "need_turn":
            before = self.agent.signals.last_reason  # which reason would be a repetition
            same = next((reason for reason in OTHER_REASONS if reason == before), OTHER_REASONS[0])
            fields["reason"] = same if reply.same_reason else next(each for each in OTHER_REASONS if each != before)
        if reply.words:
            fields[WORDS[reply.signal][0]] = reply.words
        return fields

    def name_of(self, call: str) -> str:
        """The tool that the model calls."""
        if call not in {"read", "read_fresh", "write"}:
            return "no_such_tool" if call == "unknown" else call
        offered = [tool for name in self.agent.offered if (tool := self.tools.get(name)) and not tool.is_server_side]
        fitting = (tool.name for tool in offered if tool.writes is (call == "write"))
        return next(fitting, "vault_write" if call == "write" else "search_code")

    def _calls_of(self, reply: Reply) -> tuple[ScriptedCall, ...]:
        """The calls of the reply; those with fresh arguments have been made never before."""
        number, own = len(self.agent.output.steps), dict(reply.arguments)
        return tuple(
            ScriptedCall(
                self.name_of(call),
                own or {"query": f"{FRESH}{number}.{at}" if call == "read_fresh" else AGAIN},
            )
            for at, call in enumerate(reply.calls)
        )

    def _tools(self, request: Request, results: Sequence[Result | None]) -> Any:  # noqa: ANN401
        left = iter(results)

        def known(call: ToolUse) -> ToolResult | None:
            del call
            result = next(left, None)
            return None if result is None else self.result_of(result)

        calls, forbidden = calls_of(self.agent, request), self.progress.forbidden
        return answer_calls(self.agent, calls, known, forbidden=forbidden)

    def result_of(self, result: Result, text: str = "") -> ToolResult:
        """What a tool returns now."""
        fresh = f"{len(self.agent.output.steps)}"
        if result in ("found", "found_again"):
            return ToolResult(text or (FOUND_AGAIN if result == "found_again" else f"What it says, {fresh}."))
        if result == "nothing":
            return ToolResult(text or "Nothing was found.", is_empty=True)
        again = result == "error_again"
        return ToolResult("It failed." if again else f"It failed, {fresh}.", is_error=True)

    # Interruptions

    def _interrupt(self, part: str, *, calls: bool = False) -> None:
        """What the work under way has brought when it is interrupted; if that is the whole, it ends in this moment."""
        for request in tuple(self.under_way) if part != "nothing" else ():
            roles = request.node.facts.roles
            if ASKS_MODEL in roles:
                reply = Reply(PARTIAL if part == "some" else PLAIN, calls=("read",) if calls else ())
                if part == "whole":
                    self.stepper.ended(self._end_of(request, events.Replied(request.key, reply)))
                else:
                    reserved = self.progress.reserved[request]
                    self.agent.cost.reserved_tokens -= reserved  # the turn itself reserves it while it is played
                    self._partial[request] = self._turn(request, reply, interrupted=True)
                    self.agent.cost.reserved_tokens += reserved
            elif RUNS_CALLS in roles:
                if part == "whole":
                    found: Result = "found"
                    results = (found,) * len(calls_of(self.agent, request))
                    self.stepper.ended(self._end_of(request, events.ToolsEnded(request.key, results)))
                else:
                    self._partial[request] = self._tools(request, ("found",))

    def _cancelled(self, request: Request) -> Outcome:
        """The outcome of a request whose node was halted."""
        if request.key not in self.stepper.under_way:
            return Outcome(request.key, "cancelled", at_s=self.clock.now_s)
        self._release(request)
        node, roles = request.node, request.node.facts.roles
        value = self._partial.pop(request, None)
        if value is None and ASKS_MODEL in roles:
            value = self._turn(request, Reply(), interrupted=True)
        elif value is None and RUNS_CALLS in roles:
            value = self._tools(request, ())
        elif CALLS_HOST in roles:
            self.tools.next = asyncio.CancelledError()
            outcome_of(node.start())
        return Outcome(request.key, "cancelled", value, at_s=self.clock.now_s)
