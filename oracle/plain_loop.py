"""A query under the control of the plain loop that a `DecisionTree` in Python drives.

The loop stops for the reasons in `oracle.decision.rules` and does nothing else: no fallback, no loops of signals. It is
kept for skills that bring their own decision tree, and to compare the YAML trees with.

The user's limits and a cancel hold for every decision tree: the floor is the same as below a YAML tree.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar, cast, get_args

from bt_runtime import Outcome
from bt_runtime.nodes.clock import Signal
from oracle.agent import notices
from oracle.agent.control.floor import Floor
from oracle.agent.nodes.board import LIMIT_REACHED
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.run import AgentRun
from oracle.agent.steps import classify, compose
from oracle.agent.tool_calls import CANCELLED, NO_TURN_LEFT, refuse, refuse_open, run_tool_calls
from oracle.agent.turn import run_turn
from oracle.core.chunks import TerminationReason
from oracle.decision import AgentState, DecisionTree, DecisionTreeError, rules

T = TypeVar("T")


class LoopControl:
    """Drives one query by a decision tree in Python."""

    def __init__(self, run: AgentRun, decisions: DecisionTree) -> None:
        self._run = run
        self._decisions = decisions
        self._floor = Floor(run)
        self._wake = Signal()
        self._steps = 0

    def cancel(self) -> None:
        """Stop now; the running turn or tools are cancelled and awaited."""
        self._floor.cancel()
        self._wake.set()

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  as `TreeControl.deliver`
        """Take a value from outside; all but the limit that the user has reached are ignored."""
        if key == LIMIT_REACHED:
            self._run.state = self._run.state.after_limit(value)

    async def drive(self) -> None:
        """Classify, compose, then turn by turn until the decision tree says stop.

        Raises:
            DecisionTreeError: the decision tree raised, or returned something invalid.
        """
        classify(self._run)
        compose(self._run)
        while self._goes_on():
            await self._turn()

    async def _turn(self) -> None:
        run = self._run
        run.send_warnings(self._decided(self._decisions.on_turn_start, run.state))
        turn = await self._while_allowed(
            partial(run_turn, run, step=f"llm_turn@{self._steps + 1}"),
            key="llm_turn",
            apply=run.apply_turn,
            otherwise=lambda: TurnOutcome(interrupted=True),
        )
        if run.fault is not None:
            run.stop("error")
        if not self._goes_on():
            refuse_open(run, CANCELLED if self._floor.is_cancelled else NO_TURN_LEFT)
        elif turn.calls:
            cancelled = lambda: ToolsOutcome(refuse(run, turn.calls, CANCELLED))  # noqa: E731  called only in that case
            apply = partial(run.apply_tools, judge=self._judge)
            step = partial(run_tool_calls, run, turn.calls)
            await self._while_allowed(step, key="run_tools", apply=apply, otherwise=cancelled)
        elif rules.says_nothing(run.state):
            run.ending.note_blocker(notices.silence(run.state))
            run.stop("stuck")
        else:
            run.ask_again()

    def _judge(self, state: AgentState, result: CallResult) -> AgentState:
        action = result.action
        call = {
            "tool": action.tool,
            "arguments": action.arguments,
            "is_error": action.is_error,
            "result_digest": action.result_digest,
            "text": result.text,
            "group": result.group,
        }
        return self._decided(self._decisions.on_tool_result, state, call)

    def _goes_on(self) -> bool:
        """Ask the decision tree, and the floor."""
        run = self._run
        now_s = run.equipment.clock.now()
        if not run.state.is_terminal:
            reason = self._reason_to_stop(self._floor.look(now_s)) or self._floor.exceeded(now_s)
            if reason is not None:
                run.stop(reason)
        return not run.state.is_terminal

    def _reason_to_stop(self, state: AgentState) -> TerminationReason | None:
        answer = _answer_of(self._decisions.should_continue, state)
        try:
            goes_on, reason = answer
        except (TypeError, ValueError):
            raise DecisionTreeError(f"should_continue answered {answer!r}; it must be (bool, reason)") from None
        if goes_on:
            return None
        reason = reason or "completed"
        if reason not in get_args(TerminationReason):
            known = ", ".join(get_args(TerminationReason))
            raise DecisionTreeError(f"should_continue gave the reason {reason!r}; it must be one of {known}")
        return cast("TerminationReason", reason)

    def _decided(self, hook: Callable[..., Any], *arguments: Any) -> AgentState:  # noqa: ANN401  the hook's arguments
        answer = _answer_of(hook, *arguments)
        if not isinstance(answer, AgentState):
            raise DecisionTreeError(f"{hook.__name__} answered {answer!r}; it must be the next AgentState")
        before: AgentState = arguments[0]
        return before.changed_by_control(answer)

    async def _while_allowed(
        self,
        step: Callable[[], Coroutine[Any, Any, T]],
        *,
        key: str,
        apply: Callable[[T], None],
        otherwise: Callable[[], T],
    ) -> T:
        """Run a step until it ends, the deadline passes, or a cancel is requested; returns its outcome.

        Args:
            step: its coroutine returns its partial result when it is cancelled.
            key: names it in the journal.
            apply: applies the outcome, also when this task itself is cancelled.
            otherwise: makes the outcome of a step that was cancelled before it began.
        """
        clock = self._run.equipment.clock
        task = asyncio.create_task(self._ended(step))
        try:
            while not (task.done() or self._floor.is_over(clock.now())):
                await clock.wait(self._wake, until_s=self._floor.ends_at_s)
                self._wake.clear()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
            outcome = otherwise() if task.cancelled() else task.result()
            try:
                await self._keep(key, outcome)
            finally:
                apply(outcome)
        return outcome

    async def _ended(self, step: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do a step, and tell its end from within its task: a callback would run an iteration of the loop later."""
        try:
            return await step()
        finally:
            self._wake.set()

    async def _keep(self, key: str, value: object) -> None:
        """Keep the outcome before it is applied."""
        self._steps += 1
        outcome = Outcome(f"{key}@{self._steps}", "done", value, at_s=self._run.equipment.clock.now())
        await self._run.journal.keep([outcome])
        await self._run.journal.flush()


def _answer_of(hook: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401  a skill's own code
    try:
        return hook(*arguments)
    except Exception as error:
        raise DecisionTreeError(f"{hook.__name__} raised {type(error).__name__}: {error}") from error
