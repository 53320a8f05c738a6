"""The tool calls of one turn: run side by side up to the limit, each answered exactly once."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b

from bt_runtime import Request, working_node
from oracle.agent.outcomes import ASKED_CLIENT, WRITE_UNKNOWN, CallResult, ToolsOutcome
from oracle.agent.run import AgentRun
from oracle.core.chunks import ToolReturned
from oracle.decision import ToolAction, canonical_arguments
from oracle.llm.protocol import ToolUse
from oracle.tools import CallKey, ToolResult
from oracle.tools.keys import handing, keyed
from oracle.tools.text import KEPT_CHARS, OUTPUT_CHARS

NO_TURN_LEFT = "Not run: the limits leave no turn to read the result."
NOT_RUN = "Not run: "
"""The prefix of the result of a call that was not run."""
OWN_CALL = "tree_"
"""The prefix of the ids of the tree's own calls."""
CANCELLED = "Cancelled: the run was stopped before this call had ended."


async def run_tool_calls(run: AgentRun, calls: Sequence[ToolUse]) -> ToolsOutcome:
    """Run the calls of the last turn.

    Calls beyond the limit of a turn are refused, and so are those that a rule of the tree forbids; rules judge the
    calls in the model's order. Identical ones are run once, and share the result. When this is cancelled, the calls
    that have not ended are answered as cancelled, and the outcome has the other results. A call of a tool of the
    client is not run: its result says that it is to be put to the client (`CallResult.is_asked`).
    """
    limit = run.state.config.max_tool_calls_per_turn
    if len(calls) == 1:
        return ToolsOutcome((await _run_call(run, calls[0], nullcontext(), forbidden(run, calls[0])),))
    places = asyncio.Semaphore(run.state.config.max_parallel_tools)
    different: dict[Hashable, ToolUse] = {}
    for call in calls[:limit]:
        different.setdefault(likeness(call), call)
    tasks = {
        likeness: asyncio.create_task(_run_call(run, call, places, forbidden(run, call)), name=f"call:{call.name}")
        for likeness, call in different.items()
    }
    if tasks:
        try:
            await asyncio.wait(tasks.values())
        except asyncio.CancelledError:
            for task in tasks.values():
                task.cancel()
            await asyncio.wait(tasks.values())
    return _together(run, calls, {likeness: task.result() for likeness, task in tasks.items()})


def answer_calls(
    run: AgentRun,
    calls: Sequence[ToolUse],
    result_of: Callable[[ToolUse], ToolResult | None],
    *,
    forbidden: Mapping[str, ToolResult],
) -> ToolsOutcome:
    """What `run_tool_calls` returns if the results are already known; nothing is run.

    Args:
        run: the query.
        calls: those of the last turn.
        result_of: the result of a call that would be run; `None`: it was cancelled.
        forbidden: the results of the calls that a rule of the tree forbade when they were to begin, by their ids.
    """
    ran: dict[Hashable, CallResult] = {}
    for call in calls[: run.state.config.max_tool_calls_per_turn]:
        if likeness(call) in ran:
            continue
        if call.id in forbidden:
            ran[likeness(call)] = _answer(run, call, forbidden[call.id], duration_ms=0, counts=False)
            continue
        refusal = _refusal(run, call)
        result = refusal or result_of(call)
        known = result or ToolResult(CANCELLED, is_error=True)
        counts = result is not None
        ran[likeness(call)] = _answer(run, call, known, duration_ms=0, counts=counts, began=refusal is None)
    return _together(run, calls, ran)


def _together(run: AgentRun, calls: Sequence[ToolUse], ran: Mapping[Hashable, CallResult]) -> ToolsOutcome:
    """The results of the calls that were run, and of those that share one or are too many."""
    limit = run.state.config.max_tool_calls_per_turn
    shared = [_shared(run, call, ran[likeness(call)]) for call in calls[:limit]]
    return ToolsOutcome((*shared, *refuse_excess(run, calls)))


def refuse_excess(run: AgentRun, calls: Sequence[ToolUse]) -> tuple[CallResult, ...]:
    """Answer the calls beyond the limit of a turn."""
    limit = run.state.config.max_tool_calls_per_turn
    too_many = f"Not run: at most {limit} tool calls are run in a turn. Ask for the rest in the next turn."
    return refuse(run, calls[limit:], too_many)


def refuse(run: AgentRun, calls: Sequence[ToolUse], why: str) -> tuple[CallResult, ...]:
    """Answer calls without running them; they count neither as errors nor as actions."""
    return tuple(_answer(run, call, ToolResult(why, is_error=True), duration_ms=0, counts=False) for call in calls)


def refuse_open(run: AgentRun, why: str) -> None:
    """Answer the calls of the last turn that have no result yet, without running them."""
    if run.turn.open_calls:
        run.apply_tools(ToolsOutcome(refuse(run, run.turn.open_calls, why)))


def likeness(call: ToolUse) -> Hashable:
    """The key that identical calls share."""
    return call.name, canonical_arguments(call.arguments), call.malformed


def _shared(run: AgentRun, call: ToolUse, result: CallResult) -> CallResult:
    """The result under the call's own id; if an identical call was run instead, it does not count as another action."""
    if call is result.call:
        return result
    if result.is_asked:  # the client gives a result for each of its calls
        return replace(result, call=call)
    chunk = ToolReturned(call.id, result.text, is_error=result.is_error, duration_ms=0)
    run.output.return_tool(chunk)
    return replace(result, call=call, counts=False, began=False, started_s=None, duration_ms=0)


async def _run_call(
    run: AgentRun, call: ToolUse, places: AbstractAsyncContextManager[None], forbidden: ToolResult | None
) -> CallResult:
    """Run one call; a cancelled one gets a result as well."""
    if forbidden is not None:
        return _answer(run, call, forbidden, duration_ms=0, counts=False)
    clock, refusal = run.equipment.clock, _refusal(run, call)
    shown = _shown_of(run, call)
    if shown is not None:
        return shown
    tool = run.equipment.tools.get(call.name)
    if refusal is None and tool is not None and tool.is_client_side:
        return _result(run, call, ToolResult(ASKED_CLIENT), counts=False, began=True)
    asked_s, started_s = clock.now(), None
    try:
        async with places:
            started_s = clock.now()
            result = refusal or await call_tool(run, call)
            counts = not is_unknown(run, call)
    except asyncio.CancelledError:
        result, counts = ToolResult(CANCELLED, is_error=True), False
    duration_ms = round((clock.now() - (asked_s if started_s is None else started_s)) * 1000)
    began = refusal is None
    started_s = started_s if began else None
    return _answer(run, call, result, duration_ms=duration_ms, counts=counts, began=began, started_s=started_s)


def answer_from_client(run: AgentRun, call: ToolUse, result: ToolResult) -> CallResult:
    """The result that the client has given for a call of its tool."""
    return _answer(run, call, result, duration_ms=0, counts=True, began=True)


def results_shown(run: AgentRun, calls: Sequence[ToolUse]) -> ToolsOutcome:
    """The results that the user saw of some calls before the process that ran them died."""
    found = [shown for call in calls if (shown := _shown_of(run, call)) is not None]
    return ToolsOutcome(tuple(found))


def _shown_of(run: AgentRun, call: ToolUse) -> CallResult | None:
    """The result of a call that the user saw before its process died; `None`: there is none."""
    shown = run.lost.results.get(call.id) if run.lost is not None else None
    if shown is None or run.lost is None:
        return None
    ran = _refusal(run, call) is None and not shown.tool_result.startswith((NOT_RUN, CANCELLED))
    result = ToolResult(shown.tool_result, shown.is_error, run.lost.sources.get(call.id, ()))
    counts = ran and shown.tool_result != WRITE_UNKNOWN
    return _answer(run, call, result, duration_ms=shown.duration_ms, counts=counts, began=ran)


def is_unknown(run: AgentRun, call: ToolUse) -> bool:
    """Whether a process that died may have run the call, and the tool cannot tell."""
    if run.lost is None or call.id not in run.lost.intents:
        return False
    tool = run.equipment.tools.get(call.name)
    return tool is None or not tool.takes_key


async def call_tool(run: AgentRun, call: ToolUse) -> ToolResult:
    """Run a tool; raises nothing but `CancelledError`.

    A writing call is recorded durably before it begins. If it may have begun in a process that died, it is repeated
    only if the tool can tell.
    """
    tool, key = run.equipment.tools.get(call.name), None
    if tool is not None and tool.writes:
        if is_unknown(run, call):
            return ToolResult(WRITE_UNKNOWN, is_error=True)
        begun_at = run.lost.intents.get(call.id) if run.lost is not None else None
        at = begun_at or run.equipment.timestamp()
        run.journal.intend(call.id, call.name, step=working_node(), at=at)
        await run.journal.flush()
        if tool.takes_key:
            moment = datetime.fromisoformat(at)
            is_repeat = begun_at is not None
            key = CallKey(run.query.run_id, call.id, moment, is_repeat, run.journal.flush)
    with run.trace.tool(call) as note_result, keyed(key), handing(run.query.headers, run):
        keep = run.equipment.hooks.keep_result
        most = OUTPUT_CHARS if keep is None else KEPT_CHARS
        tools = run.equipment.tools
        result = await tools.call(call.name, call.arguments, grace_s=run.cancel_grace_s, most_chars=most)
        if keep is not None and len(result.text) > OUTPUT_CHARS:
            result = await keep(run.query.run_id, call.id, result)
        note_result(result)
        return result


def forbidden(run: AgentRun, call: ToolUse) -> ToolResult | None:
    """The result of a call that the tree has held back, or that a rule of it forbids now; `None`: the call begins."""
    held = run.gathering.held_back.get(call.id)
    if held is not None:
        return ToolResult(held, is_error=True)
    if run.rules is None or _refusal(run, call) is not None:
        return None
    why = run.rules.refusal(call.name, call.arguments, call_id=call.id)
    return None if why is None else ToolResult(why, is_error=True)


def calls_of(run: AgentRun, request: Request) -> Sequence[ToolUse]:
    """The calls that a request of a node runs: the open ones of the last turn, or a part of them."""
    return run.turn.open_calls if request.part is None else request.part


def can_run(run: AgentRun, call: ToolUse) -> bool:
    """Whether the call could be run, as far as it is known without asking the rules of the tree."""
    return call.id not in run.gathering.held_back and _refusal(run, call) is None


def _refusal(run: AgentRun, call: ToolUse) -> ToolResult | None:
    """The error of a call that cannot be run; `None` if it can."""
    if call.malformed is not None:
        return ToolResult(f"The arguments of {call.name} could not be read: {call.malformed}", is_error=True)
    if call.name not in run.offered or call.name in run.withheld:
        offered = ", ".join(name for name in run.offered if name not in run.withheld) or "none"
        return ToolResult(f"{call.name!r} is not offered for this question. Offered: {offered}.", is_error=True)
    return None


def _answer(
    run: AgentRun,
    call: ToolUse,
    result: ToolResult,
    *,
    duration_ms: int,
    counts: bool,
    began: bool = False,
    started_s: float | None = None,
) -> CallResult:
    note = run.call_notes.get(call.id, "")
    text = result.text if result.text.startswith(note) else note + result.text
    run.output.return_tool(ToolReturned(call.id, text, is_error=result.is_error, duration_ms=duration_ms))
    for source in result.sources:
        run.output.cite(source)
    return replace(
        _result(run, call, result, counts=counts, began=began), text=text, started_s=started_s, duration_ms=duration_ms
    )


def _result(run: AgentRun, call: ToolUse, result: ToolResult, *, counts: bool, began: bool) -> CallResult:
    tool = run.equipment.tools.get(call.name)
    digest = blake2b(result.text.encode(errors="replace"), digest_size=8).hexdigest()
    return CallResult(
        call=call,
        text=result.text,
        is_error=result.is_error,
        counts=counts,
        is_empty=result.is_empty,
        group=tool.group if tool else None,
        action=ToolAction.from_call(call.name, call.arguments, is_error=result.is_error, result_digest=digest),
        began=began,
        sources=tuple(dict.fromkeys(source.path for source in result.sources)),
        offers=result.offers,
    )
