"""Continues runs whose worker has died, from their logs and with the same control state.

Rules:

- A run is opened anew with the equipment of this process, and repeats its recorded ticks on its own version of the
  tree. Each tick is compared with its record, and the model's input with the digest of what it was sent. At the first
  difference the run is given up (`NotContinuedError`), and no request is repeated.
- Unfinished work becomes an outcome if some of it is left, and is restarted otherwise. A turn whose text the user has
  seen counts as cut off there, and the control decides; results that were shown are kept.
- Nothing is sent twice: everything in the log was sent.
- A repetition yields to the other tasks of the event loop every few milliseconds.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import Any, Final

import structlog

from bt_runtime import (
    Clock,
    ContinuedClock,
    Outcome,
    Replaying,
    Request,
    ResumedWork,
    Stepper,
    TickRecord,
    TreeDefinition,
    TreeFileError,
    TreeNotFoundError,
    did_the_same,
)
from bt_runtime.library.named import read_sources
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.agent.answering import ActiveQuery, Ask, Checked, Oracle
from oracle.agent.control.opening import OpenAgent
from oracle.agent.conversations.protocol import Conversation
from oracle.agent.last_turn import LostTurn, LostWork
from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.nodes.tool_calls import RunTools
from oracle.agent.notices import Notice
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.tool_calls import OWN_CALL, calls_of, is_unknown, results_shown
from oracle.agent.turn import cut_off_turn, messages_of_lost
from oracle.core.chunks import Closing, Content, Thinking, ToolCalled
from oracle.core.errors import InternalError
from oracle.core.logs import quiet
from oracle.decision import AgentConfig
from oracle.llm.protocol import ModelFault, ToolUse
from oracle.runs.live import LiveRun
from oracle.runs.opening import Opener
from oracle.runs.options import RunOptions
from oracle.runs.record.events import (
    ChunkSent,
    Intended,
    Opened,
    Resumed,
    TurnFinished,
    TurnRequested,
    UnderWay,
)
from oracle.runs.record.record import Record
from oracle.runs.recorder import RunRecorder
from oracle.runs.recovery import remade_trace
from oracle.runs.repeating import RebuiltRun, as_begun, never, sources_found
from oracle.runs.storage.records import LogEntry, RunRecord
from oracle.runs.storage.store import Store
from oracle.tools.client_tools import kept_tools

log = structlog.get_logger(__name__)

OWN_VERSION: Final = f"oracle-bt {version('oracle-bt')}"
"""The version of the code that continues a run, as its log has it."""
_SLICE_S: Final = 0.005
"""After this time without a wait, other tasks run; a tick takes a fraction of the other half."""
_PARAGRAPH: Final = "\n\n"
_LONGEST: Final = 200  # characters shown to operators of a value
_MESSAGE: Final = "The answer was interrupted, and could not be continued as it was. Please ask again."


class NotContinuedError(InternalError):
    """A run cannot be continued, because its repetition differs from its record.

    Args:
        tick: the first that differs; 0: the run could not be opened.
        node: the path of the node in the tree; empty if it is no node.
        expected: the recorded text of the place.
        found: the text of the place in the repetition.
    """

    def __init__(self, expected: str, found: str, *, tick: int = 0, node: str = "") -> None:
        where = f"tick {tick}" + (f", {node}" if node else "") if tick else "its beginning"
        super().__init__(f"the run differs from its record at {where}: {expected} was recorded, and now it is {found}")
        self.tick = tick
        self.node = node
        self.expected = truncated(expected, _LONGEST)
        self.found = truncated(found, _LONGEST)

    @property
    def fault(self) -> ModelFault:
        """The error that ends the run."""
        detail = {"tick": self.tick, "node": self.node, "expected": self.expected, "found": self.found}
        return ModelFault("not_continued", _MESSAGE, "what was repeated of the run is not what was recorded", detail)


@dataclass(frozen=True, slots=True)
class Continued:
    """A run that is about to continue."""

    query: ActiveQuery
    recorder: RunRecorder


@dataclass(frozen=True, slots=True, eq=False)
class Continuation:
    """Continues runs that other workers have left to this one.

    Args:
        oracle: answers.
        store: the store of the runs and their logs.
        opener: opens their recorders.
        options: bounds.
        clock: monotonic time of the process.
        now: seconds since the epoch.
    """

    oracle: Oracle
    store: Store
    opener: Opener
    _: KW_ONLY
    options: RunOptions
    clock: Clock
    now: Callable[[], float]

    async def prepare(self, live: LiveRun, entries: Sequence[LogEntry]) -> Continued | None:
        """Open a run, repeat what was recorded of it, and make it ready to go on.

        Args:
            live: a run whose row names this worker.
            entries: the whole log of the run.

        Returns:
            `None` if it cannot go on, and must be ended from its log: the log names no versions
            of packages, no tree drives it, it shadows another run, or workers have gone on with it too often.

        Raises:
            NotContinuedError: it is not what was recorded.
            StorageError: the store cannot be read or written at present, or another worker has the run.
        """
        run = live.record
        try:
            record = await asyncio.to_thread(Record.fold, entries)
        except ValueError as error:
            raise NotContinuedError("a whole log", str(error)) from None
        opened = record.opened
        if opened is None or not opened.versions or run.tree_sha is None or run.shadow_of is not None:
            return None
        if run.attempts > self.options.most_attempts:
            log.warning("run.gave_up", run_id=run.id, attempts=run.attempts)
            return None
        clock = ContinuedClock(self.clock, opened.start_s)
        agent = await self._open(run, opened, clock)
        untaken = {outcome.key: outcome for outcome in record.pending.outcomes}
        stepper = await self._repeat(agent, record, clock)
        await self._show_prompt(agent, record)
        lost = self._lost(agent, record)
        for key in (*untaken, *lost.turns):
            stepper.start_held(key)  # the requests of the last tick had begun
        _check_sight(agent, record, lost, untaken)
        tick_bytes = sum(len(entry.data) for entry in entries if entry.kind == "tick")
        return await self._go_on(live, agent, record, clock, _Work(agent, lost, untaken, stepper), tick_bytes)

    async def _open(self, run: RunRecord, opened: Opened, clock: Clock) -> OpenAgent:
        definition = await self._tree(run)
        asked = run.input
        ask = Ask(
            str(asked["question"]),
            user_id=run.user_id,
            context_id=run.context_id,
            project_id=asked.get("project_id"),
            model=asked.get("model"),
            tree=run.tree,
            run_id=run.id,
            attachments=tuple(asked.get("attachments", ())),
            output_schema=asked.get("output_schema"),
        )
        checked = Checked(ask, ask.question, AgentConfig(**run.limits), definition, asked_at=iso(run.created_at))
        tools = kept_tools(asked).behind(self.oracle.tools_for(run.user_id, also_gone=True))
        labels = definition.labels
        then = tools.remade([as_begun(tools.get(known.name), known, labels=labels) for known in opened.tools])
        return self.oracle.reopen(checked, opened, conversation=await self._conversation(run), tools=then, clock=clock)

    async def _tree(self, run: RunRecord) -> TreeDefinition:
        version = await self.store.trees.find(run.tree_sha or "")
        if version is None:
            raise NotContinuedError(f"the version {run.tree_sha} of the tree {run.tree!r}", "not in the store")
        try:
            # In a thread, as it is read once in a process and takes longer than a slice.
            return await asyncio.to_thread(
                read_sources, version.source, name=version.name, registry=self.oracle.registry
            )
        except (TreeFileError, TreeNotFoundError) as error:
            raise NotContinuedError(f"the tree {run.tree!r}", str(error).partition("\n")[0]) from None

    async def _conversation(self, run: RunRecord) -> Conversation:
        """The conversation as it was when the run began."""
        conversations = self.store.conversations
        found = await conversations.before(run.user_id, run.context_id, run.id) or await conversations.load(
            run.user_id, run.context_id
        )
        if found is None:
            raise NotContinuedError(f"the conversation {run.context_id!r}", "no such conversation")
        return found

    async def _repeat(self, agent: OpenAgent, record: Record, clock: ContinuedClock) -> Stepper:
        """Repeat all recorded ticks; compare each with its record."""
        stops = {tick: breach for tick, breach in reversed(record.breaches()) if breach.enforcement == "stop"}
        rebuilt = RebuiltRun(agent, clock, sources_found(record.chunks()), stops)
        player, paths = Replaying(agent.tree, agent.floor, before_outcome=rebuilt.speak), agent.tree.paths
        since_s = perf_counter()
        for recorded in record.tick_records():
            with quiet():
                rebuilt.prepare(recorded)
                repeated = player.play(recorded) if player.is_running or recorded.cause == "end" else None
            if repeated is None or player.missing or not did_the_same(repeated, recorded, paths, paths):
                raise difference(repeated, recorded, paths, missing=player.missing)
            if recorded.errors:
                agent.agent.ending.note_errors(recorded.errors)
            if perf_counter() - since_s > _SLICE_S:
                await asyncio.sleep(0)
                since_s = perf_counter()
        return player.hand_over()

    async def _show_prompt(self, agent: OpenAgent, record: Record) -> None:
        """Give the query the system prompt that its requests had, whatever the prompts of this process are."""
        sent = next((event.request for _, event in reversed(record.events) if isinstance(event, TurnRequested)), None)
        if sent is None or not sent.prompt or agent.agent.prompt is None:
            return
        text = await self.store.prompts.find(sent.prompt)
        if text is None:
            raise NotContinuedError(f"the prompt {sent.prompt}", "not in the store")
        agent.agent.prompt = replace(agent.agent.prompt, text=text)
        missing = [
            name for name in sent.tools if (tool := agent.agent.equipment.tools.get(name)) is None or tool.call is never
        ]
        if missing:
            raise NotContinuedError(f"the tools {', '.join(missing)}", "this process does not have them")

    def _lost(self, opened: OpenAgent, record: Record) -> LostWork:
        """Restore what chunks tell of the query, and find the work without an outcome."""
        agent, answer = opened.agent, record.answer
        turns = (outcome.value for outcome in record.pending.outcomes if isinstance(outcome.value, TurnOutcome))
        untaken = [call for turn in turns for call in turn.calls]  # they are run when a tick has taken the turn
        asked = {call.id for call in (*agent.turn.open_calls, *untaken)}
        own = [pending.call for pending in record.pending.calls if pending.call.id.startswith(OWN_CALL)]
        ids = asked | {call.id for call in own}
        lost = LostWork(
            turns=_lost_turns(record),
            results={call_id: result for call_id, result in answer.results.items() if call_id in ids},
            sources=record.sources_of_calls(),
            intents=_intents(record),
            own_calls=own,
        )
        orphans = [call for call in answer.open_calls if call.id not in ids]
        agent.output.restore(answer, record.steps, orphans=orphans)
        agent.output.goes_on |= any(turn.has_paragraph and not turn.has_text for turn in lost.turns.values())
        agent.transcript.reserve_calls(answer.calls)
        opened.host.calls = sum(call_id.startswith(OWN_CALL) for call_id in answer.calls)
        agent.ending.is_explained |= answer.stopped is not None
        agent.lost = lost
        return lost

    async def _go_on(
        self, live: LiveRun, opened: OpenAgent, record: Record, clock: ContinuedClock, work: "_Work", tick_bytes: int
    ) -> Continued:
        """Start the clock, record that this worker has the run, and open its control."""
        run, at_s = live.record, max(record.last_s, clock.now())
        is_woken = bool(record.answer.pending) and not (work.stepper.under_way or work.stepper.posted or work.untaken)
        pause_s = max(0.0, self.now() - record.last_at)
        counted_s = 0.0 if is_woken else min(pause_s, self.options.most_pause_s)
        facts = list(record.facts())
        attempt, debug = max(1, run.attempts), record.debug
        under_way = work.under_way()
        record.keeps_events = False
        record.events.clear()
        started_s = opened.agent.state.start_time
        recorder = self.opener.recorder(live, started_s=started_s, clock=clock, record=record)
        recorder.first_chunk_s = 0.0 if record.chunk_n else None
        recorder.room.used_bytes = tick_bytes
        session = await self.opener.debugged(live, recorder, opened.tree.definition, clock=clock)
        query = self.oracle.resume(
            opened,
            ResumedWork(work.stepper, work.outcome_of),
            facts=facts,
            untaken=work.untaken,
            emit=recorder.emit,
            observers=[recorder],
            journal=recorder,
            pacer=session,
            may_park=live.may_park,
            trace=remade_trace(self.oracle.traces, run, model=self.oracle.model_name),
        )
        clock.go_on(at_s + counted_s)
        if session is not None:
            opened.agent.equipment = replace(opened.agent.equipment, clock=session.clock)
            session.attach(query)
            session.go_on(debug)
        resumed = Resumed(attempt, pause_s, counted_s, at_s + counted_s, under_way, OWN_VERSION, is_woken)
        recorder.resumed(resumed)
        if not is_woken:
            message = f"The service was interrupted, and the answer goes on after {resumed.pause_s:,.1f} s."
            metadata = {"attempt": resumed.attempt, "pause_s": round(resumed.pause_s, 3)}
            query.agent.output.inform(Notice("recovered", message, "info", metadata))
        await recorder.log.flush()
        if pause_s > counted_s and not is_woken:  # waking a run moves its deadline
            await self.store.runs.extend_deadline(run.id, by_s=pause_s - counted_s)
        log.info("run.continued", attempt=attempt, pause_s=round(pause_s, 3), ticks=record.ticks)
        return Continued(query, recorder)


@dataclass(frozen=True, slots=True)
class _Work:
    """The unfinished work of a run, and the outcomes that are known of it."""

    opened: OpenAgent
    lost: LostWork
    untaken: dict[str, Outcome]
    stepper: Stepper

    def outcome_of(self, request: Request) -> Outcome | None:
        """How the work of a request ended, as far as that is known; `None`: it is restarted."""
        kept = self.untaken.get(request.key)
        if kept is not None:
            return kept
        agent, node = self.opened.agent, request.node
        at_s = agent.equipment.clock.now()
        if isinstance(node, LlmTurn):
            turn = self.lost.turns.get(request.key)
            if turn is None or not (turn.has_text or request.halted):
                return None
            del self.lost.turns[request.key]
            return Outcome(request.key, "done", cut_off_turn(agent, turn, halted=request.halted), at_s=at_s)
        if isinstance(node, RunTools) and request.halted:
            return Outcome(request.key, "done", results_shown(agent, calls_of(agent, request)), at_s=at_s)
        return None

    def under_way(self) -> tuple[UnderWay, ...]:
        """The unfinished work, and how each part is handled."""
        found: list[UnderWay] = []
        for request in (*self.stepper.under_way.values(), *self.stepper.posted):
            if request.key in self.untaken:
                continue
            if isinstance(request.node, LlmTurn):
                turn = self.lost.turns.get(request.key)
                if turn is not None:  # otherwise it had not begun
                    found.append(UnderWay("turn", request.node.path, "continued" if turn.has_text else "repeated"))
            elif isinstance(request.node, RunTools):
                found += [
                    UnderWay("tool", call.name, self._fate(call.id, call.name))
                    for call in calls_of(self.opened.agent, request)
                ]
            elif not self.lost.own_calls:
                found.append(UnderWay("node", request.node.path, "repeated"))
        found += [UnderWay("tool", call.name, self._fate(call.id, call.name)) for call in self.lost.own_calls]
        return tuple(found)

    def _fate(self, call_id: str, name: str) -> Any:  # noqa: ANN401  one of the words of `UnderWay`
        if call_id in self.lost.results:
            return "kept"
        return "unknown" if is_unknown(self.opened.agent, ToolUse(call_id, name, {})) else "repeated"


def _check_sight(opened: OpenAgent, record: Record, lost: LostWork, untaken: Mapping[str, Outcome]) -> None:
    """Check that the next request begins with what the model was sent last.

    Raises:
        NotContinuedError: it does not.
    """
    requests = (event.request for _, event in reversed(record.events) if isinstance(event, TurnRequested))
    sent = next((each for each in requests if not each.is_side), None)
    if sent is None:
        return
    messages, turn, kept = opened.agent.transcript, lost.turns.get(sent.step), untaken.get(sent.step)
    if turn is not None:
        messages = messages_of_lost(opened.agent, turn)
    elif kept is not None and isinstance(kept.value, TurnOutcome) and kept.value.notes:
        messages = messages.beside(kept.value.notes)
    found = messages.digest_of(sent.blocks)
    if found != sent.digest:
        expected = f"messages with the digest {sent.digest[:16]}"
        node = sent.step.rpartition("@")[0]
        raise NotContinuedError(expected, f"others, with {found[:16]}", tick=record.ticks, node=node)


def _lost_turns(record: Record) -> dict[str, LostTurn]:
    """The turns without an outcome, by the keys of the outcomes that they will have."""
    turns: dict[str, LostTurn] = {}
    texts: dict[str, list[str]] = {}
    speaking = ""
    has_said = goes_on = False
    for _, event in record.events:
        match event:
            case TurnRequested(request):
                before = turns.get(request.step, LostTurn(request, times=0))
                turns[request.step] = replace(before, request=request, times=before.times + 1)
                texts.setdefault(request.step, [])
                speaking = speaking if request.is_side else request.step
            case TurnFinished(outcome):
                turns.pop(outcome.key, None)
                if outcome.key == speaking:
                    speaking, goes_on = "", isinstance(outcome.value, TurnOutcome) and outcome.value.is_lost
            case ChunkSent(Content(text)):
                turn = turns.get(speaking)
                if turn is not None and not isinstance(event.chunk, Closing):
                    is_first = has_said and not (goes_on or texts[speaking] or turn.has_paragraph)
                    if is_first and text == _PARAGRAPH:
                        turns[speaking] = replace(turn, has_paragraph=True)
                    else:
                        texts[speaking].append(text)
                has_said = True
            case ChunkSent(Thinking(text)) if speaking in turns:
                turns[speaking] = _longer(turns[speaking], len(text))
            case ChunkSent(ToolCalled(call)) if speaking in turns and not call.id.startswith(OWN_CALL):
                turns[speaking] = _longer(turns[speaking], len(str(call.arguments)))
    return {step: _with_text(turn, "".join(texts[step]), record.last_s) for step, turn in turns.items()}


def _longer(turn: LostTurn, characters: int) -> LostTurn:
    return replace(turn, characters=turn.characters + characters)


def _with_text(turn: LostTurn, text: str, last_s: float) -> LostTurn:
    duration_ms = max(0, round((last_s - turn.request.at_s) * 1000))
    return replace(turn, text=text, characters=turn.characters + len(text), duration_ms=duration_ms)


def _intents(record: Record) -> dict[str, str]:
    intents: dict[str, str] = {}
    for _, event in record.events:
        if isinstance(event, Intended):
            intents.setdefault(event.call_id, event.at)
    return intents


def difference(
    found: TickRecord | None, recorded: TickRecord, paths: Sequence[str], *, missing: Sequence[str]
) -> NotContinuedError:
    """Where a tick first differs from its record.

    Args:
        found: the tick in the repetition; `None`: the tree had ended before.
        recorded: its record.
        paths: the path of each node of the tree, by its index.
        missing: the keys of outcomes that the repetition has not asked for.
    """
    differs = partial(NotContinuedError, tick=recorded.tick)
    if missing:
        return differs(f"the outcome of {missing[0]}", "not asked for", node=missing[0].rpartition("@")[0])
    if found is None:
        return differs("a tick", "the end of the tree")
    for expected, seen in zip((*recorded.visited, None), (*found.visited, None), strict=False):
        if expected != seen:
            names = [_path(paths, index) for index in (expected, seen)]
            return differs(f"a visit of {names[0]}", f"one of {names[1]}", node=names[0])
    statuses, others = dict(recorded.changes), dict(found.changes)
    for index in sorted(statuses.keys() | others.keys()):
        if statuses.get(index) is not others.get(index):
            words = [str(each.get(index) and each[index].name) for each in (statuses, others)]
            return differs(words[0], words[1], node=_path(paths, index))
    for (key, value), (other, changed) in zip(
        (*recorded.writes, ("", None)), (*found.writes, ("", None)), strict=False
    ):
        if (key, value) != (other, changed):
            return differs(f"{key} = {value!r}", f"{other} = {changed!r}")
    return differs(repr(recorded.errors), repr(found.errors))


def _path(paths: Sequence[str], index: int | None) -> str:
    return "no node" if index is None or index >= len(paths) else paths[index]
