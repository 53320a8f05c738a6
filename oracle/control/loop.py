"""A query under the control of the plain loop that a `DecisionTree` in Python drives: 012's control.

The loop stops for the reasons of 012 FR-004 and does nothing else: no fallback, no loops of signals. It is kept for
skills that bring their own decision tree, and to compare the YAML trees with.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar, cast

from oracle.agent.outcomes import CallResult, ToolsOutcome
from oracle.agent.run import AgentRun
from oracle.agent.steps import classify, compose
from oracle.agent.tool_calls import refuse, run_tool_calls
from oracle.agent.turn import run_turn
from oracle.chunks import TerminationReason
from oracle.decision import AgentState, DecisionTree

OutcomeT = TypeVar("OutcomeT")

_REFUSED = "Not run: the limits leave no turn to read the result."


class LoopControl:
    """Drives one query by a decision tree in Python."""

    def __init__(self, run: AgentRun, decisions: DecisionTree) -> None:
        self._run = run
        self._decisions = decisions
        self._wake = asyncio.Event()

    def cancel(self) -> None:
        """Stop now; what is under way is cancelled and awaited."""
        self._run.state = replace(self._run.state, cancelled=True)
        self._wake.set()

    async def drive(self) -> None:
        """Classify, compose, then turn by turn until the decision tree says stop."""
        run = self._run
        classify(run)
        compose(run)
        while self._goes_on():
            run.send_warnings(self._decisions.on_turn_start(run.state))
            turn = await self._while_allowed(run_turn(run))
            run.apply_turn(turn)
            if run.fault is not None:
                run.stop("error")
            if not self._goes_on():
                run.apply_tools(ToolsOutcome(refuse(run, turn.calls, _REFUSED)))
            elif turn.calls:
                run.apply_tools(await self._while_allowed(run_tool_calls(run, turn.calls)), judge=self._judge)
            else:
                run.ask_again()

    def _judge(self, state: AgentState, result: CallResult) -> AgentState:
        action = result.action
        told = {
            "tool": action.tool,
            "arguments": action.arguments,
            "is_error": action.is_error,
            "result_digest": action.result_digest,
            "text": result.text,
            "group": result.group,
        }
        return self._decisions.on_tool_result(state, told)

    def _goes_on(self) -> bool:
        run = self._run
        run.state = replace(run.state, elapsed_seconds=run.seconds_since_start())
        if run.state.termination_reason is None:
            goes_on, reason = self._decisions.should_continue(run.state)
            if not goes_on:
                run.stop(cast("TerminationReason", reason))
        return run.state.termination_reason is None

    async def _while_allowed(self, step: Coroutine[Any, Any, OutcomeT]) -> OutcomeT:
        """Run a step until it ends, the deadline comes, or somebody cancels; its outcome holds what there is."""
        clock, state = self._run.equipment.clock, self._run.state
        task = asyncio.create_task(step)
        task.add_done_callback(lambda _: self._wake.set())
        until_s = state.start_time + state.config.timeout_seconds
        try:
            while not task.done() and not self._run.state.cancelled and clock.now() < until_s:
                await clock.wait(self._wake, until_s=until_s)
                if not self._run.state.cancelled:
                    self._wake.clear()
        finally:
            if not task.done():
                task.cancel()
        return await task
