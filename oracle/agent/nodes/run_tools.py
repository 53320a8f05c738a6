"""The `run_tools` kind."""

from collections.abc import Coroutine
from typing import Any

from bt_runtime import Facts, Figure, NoSettings, Status, Stepped, Words, node
from bt_runtime.analysis.effects import leaf
from bt_runtime.text.phrases import counted, listed
from oracle.agent.nodes.base import AgentAction
from oracle.agent.nodes.flows import RUNNING_CALLS
from oracle.agent.nodes.roles import RUNS_CALLS
from oracle.agent.outcomes import ToolsOutcome
from oracle.agent.tool_calls import CANCELLED, refuse_open, run_tool_calls


@node("run_tools", facts=Facts(roles=(RUNS_CALLS,)), flow=leaf(*RUNNING_CALLS))
class RunTools(AgentAction[NoSettings]):
    """Runs the tools that the model called in its last turn, side by side up to the user's limit.

    RUNNING while they run; then SUCCESS, also when tools failed: their errors go to the model. A halt cancels them, and
    each call still gets a result. A call is run once, even if the node is visited again.

    ```yaml
    run_tools:
    ```
    """

    def start(self) -> Coroutine[Any, Any, ToolsOutcome]:
        return run_tool_calls(self.agent, self.agent.turn.open_calls)

    def finish(self, value: ToolsOutcome) -> Status:
        self.agent.apply_tools(value)
        self.publish()
        return Status.SUCCESS

    def interrupted(self, value: ToolsOutcome | None) -> None:
        """Keep the results so far; calls without a result, also those that had not begun, are cancelled."""
        if value is not None:
            self.agent.apply_tools(value)
        refuse_open(self.agent, CANCELLED)
        self.publish()

    def words(self, step: Stepped) -> Words:
        turn = self.agent.turn
        if self.status is Status.RUNNING:
            return _running([call.name for call in turn.open_calls], began=step.began)
        if turn.tools is None or self.status is Status.FAILURE:
            return Words()
        results = turn.tools.results
        errors = sum(result.is_error for result in results)
        text = counted(len(results), "result") + (f", {counted(errors, 'error')}" if errors else "")
        text += ", nothing found" if turn.tools.found_nothing and errors < len(results) else ""
        done = "were halted" if self.status is not Status.SUCCESS else "have returned"
        return Words(text, f"The tools {done}: {text}.", (Figure("results", len(results)), Figure("errors", errors)))


def _running(names: list[str], *, began: bool) -> Words:
    if not names:
        return Words()
    begin, are = ("begins", "is") if len(names) == 1 else ("begin", "are")
    return Words(f"runs {listed(names)}", f"{listed(names)} {begin if began else f'{are} under way'}.")
