"""Reports the steps of a query to the trace of its run; builds nothing if the run is not traced."""

from contextlib import AbstractContextManager, nullcontext
from typing import Final

from opentelemetry.trace import Span, SpanKind

from bt_runtime import working_node
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.run import AgentRun
from oracle.core.traces import content, names
from oracle.core.traces.spans import AttributeValue, TracedEnd, count, fail, short
from oracle.llm.protocol import ModelRequest, ToolUse, Usage
from oracle.tools import ToolResult

_NOT_TRACED: Final[AbstractContextManager[None]] = nullcontext()
_TOOL_ERROR: Final = "tool_error"


def turn_span(run: AgentRun, request: ModelRequest, *, visible: bool) -> AbstractContextManager[Span | None]:
    """The span of a turn that begins now.

    Args:
        run: the query.
        request: what is sent to the provider.
        visible: whether the turn is part of the answer.
    """
    trace = run.trace
    if trace is None or not trace.is_recording:
        return _NOT_TRACED
    model = short(request.model or run.equipment.model.name)
    attributes: dict[str, AttributeValue] = {
        names.OPERATION: names.CHAT,
        names.PROVIDER: trace.traces.system,
        names.REQUEST_MODEL: model,
        names.MAX_TOKENS: request.max_tokens,
        names.STREAM: True,
        names.TURN: run.state.turn + 1,
        names.IS_SIDE: not visible,
    }
    return trace.step(f"{names.CHAT} {model}", attributes, node=working_node(), kind=SpanKind.CLIENT)


def note_turn(run: AgentRun, span: Span | None, outcome: TurnOutcome, usage: Usage) -> None:
    """How the turn of a span ended."""
    if span is None or run.trace is None:
        return
    billed, fault = usage.billed_input, outcome.fault
    input_tokens = None if billed is None else count(billed + usage.cache_read_tokens)
    output_tokens = None if usage.output_tokens is None else count(usage.output_tokens)
    run.trace.add_tokens(input_tokens=input_tokens or 0, output_tokens=output_tokens or 0)
    if outcome.calls:
        run.trace.askers = {call.id: span for call in outcome.calls}
    known: dict[str, AttributeValue | None] = {
        names.INPUT_TOKENS: input_tokens,
        names.OUTPUT_TOKENS: output_tokens,
        names.CACHE_READ_TOKENS: count(usage.cache_read_tokens) or None,
        names.CACHE_CREATION_TOKENS: count(usage.cache_creation_tokens) or None,
        names.BUDGET_TOKENS: count(outcome.tokens),
        names.FINISH_REASONS: [outcome.stop_reason] if outcome.stop_reason else None,
        names.RESPONSE_MODEL: short(outcome.model) or None,
        names.FIRST_TEXT_MS: outcome.first_text_ms,
        names.SIGNAL: outcome.signal.type if outcome.signal else None,
        names.SERVER_TOOLS: [short(each) for each in outcome.server_tools] or None,
        names.REQUEST_IDS: [short(each) for each in outcome.request_ids] or None,
        names.CANCELLED: outcome.interrupted or None,
    }
    if run.trace.traces.with_content:
        calls = [(call.id, call.name, call.arguments) for call in outcome.calls]
        reason = outcome.stop_reason or ""
        known[names.OUTPUT_MESSAGES] = content.message("assistant", outcome.text, calls, reason=reason)
    span.set_attributes({name: value for name, value in known.items() if value is not None})
    if fault:
        fail(span, fault.error_type, fault.cause or fault.message)


def tool_span(run: AgentRun, call: ToolUse) -> AbstractContextManager[Span | None]:
    """The span of a tool call that begins now."""
    trace = run.trace
    if trace is None or not trace.is_recording:
        return _NOT_TRACED
    attributes: dict[str, AttributeValue] = {
        names.OPERATION: names.EXECUTE_TOOL,
        names.TOOL: short(call.name),
        names.TOOL_TYPE: "function",
        names.TOOL_CALL: short(call.id),
    }
    if trace.traces.with_content:
        attributes[names.TOOL_ARGUMENTS] = content.arguments(call.arguments)
    name = f"{names.EXECUTE_TOOL} {short(call.name)}"
    return trace.step(name, attributes, node=working_node(), above=trace.askers.get(call.id))


def note_result(run: AgentRun, span: Span | None, result: ToolResult) -> None:
    """How the call of a span ended."""
    if span is None or run.trace is None:
        return
    if run.trace.traces.with_content:
        span.set_attribute(names.TOOL_RESULT, content.text(result.text))
    if result.is_error:
        fail(span, _TOOL_ERROR)


def note_end(run: AgentRun) -> None:
    """How the query ended, once `Done` was sent."""
    if run.trace is None or not run.trace.is_recording:
        return
    state, fault = run.state, run.fault
    has_failed = state.termination_reason == "error"
    run.trace.ended(
        TracedEnd(
            reason=state.termination_reason or "completed",
            turns=state.turn,
            tokens=state.tokens_used,
            model=run.model_used,
            error_type=(fault.error_type if fault else "internal") if has_failed else "",
            error=(fault.cause or fault.message) if has_failed and fault else "",
            question=run.query.question,
            answer=lambda: run.output.answer,
        )
    )
