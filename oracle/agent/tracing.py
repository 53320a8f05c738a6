"""Reports the steps of a query to the trace of its run; builds nothing if the run is not traced."""

from bt_runtime import working_node
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.run import AgentRun
from oracle.models.protocol import ModelRequest, ToolCall, Usage
from oracle.tools import ToolResult
from oracle.traces import NO_SPAN, RunEnd, ToolBegin, ToolEnd, ToolSpan, TurnBegin, TurnEnd, TurnSpan


def turn_span(run: AgentRun, request: ModelRequest, *, visible: bool) -> TurnSpan:
    """The span of a turn that begins now.

    Args:
        run: the query.
        request: what is sent to the provider.
        visible: whether the turn is part of the answer.
    """
    if not run.trace.is_on:
        return NO_SPAN
    model = request.model or run.equipment.model.name
    return run.trace.turn(TurnBegin(model, request.max_tokens, run.state.turn + 1, working_node(), is_side=not visible))


def note_turn(span: TurnSpan, outcome: TurnOutcome, usage: Usage) -> None:
    """How the turn of a span ended."""
    if span is NO_SPAN:
        return
    fault, billed = outcome.fault, usage.billed_input
    span.ended(
        TurnEnd(
            input_tokens=None if billed is None else billed + usage.cache_read_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_creation_tokens=usage.cache_creation_tokens,
            stop_reason=outcome.stop_reason,
            model=outcome.model,
            budget_tokens=outcome.tokens,
            first_text_ms=outcome.first_text_ms,
            signal=outcome.signal.type if outcome.signal else "",
            is_cancelled=outcome.interrupted,
            error_type=fault.error_type if fault else "",
            error=(fault.cause or fault.message) if fault else "",
            request_ids=outcome.request_ids,
            server_tools=outcome.server_tools,
            text=outcome.text,
            calls=[(call.id, call.name, call.arguments) for call in outcome.calls],
        )
    )


def tool_span(run: AgentRun, call: ToolCall) -> ToolSpan:
    """The span of a tool call that begins now."""
    if not run.trace.is_on:
        return NO_SPAN
    return run.trace.tool(ToolBegin(call.id, call.name, call.arguments, working_node()))


def note_result(span: ToolSpan, result: ToolResult) -> None:
    """How the call of a span ended."""
    if span is not NO_SPAN:
        span.ended(ToolEnd(is_error=result.is_error, text=result.text))


def note_end(run: AgentRun) -> None:
    """How the query ended, once `Done` was sent."""
    if not run.trace.is_on:
        return
    state, fault = run.state, run.fault
    has_failed = state.termination_reason == "error"
    run.trace.ended(
        RunEnd(
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
