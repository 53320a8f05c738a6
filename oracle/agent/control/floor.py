"""The floor: the limits that hold for every query, whichever control it has.

A tree, and a `DecisionTree` in Python, may stop a query earlier, order the reasons and end more gracefully. The floor
enforces the limits that they do not, with the same reasons and messages:

- No turn and no tool call begins after a cancel, after the deadline, beyond the limits, or once there is a reason to
  stop.
- After a cancel, after the deadline and after `done`, the control may still take steps that need no time, and wait for
  `finish`; if it waits for anything else, or does not end, the floor ends it.
- A provider that keeps failing is not called without limit.
- Work between two turns of the model is bounded: it costs no tokens, so no other limit ends it.
"""

from collections.abc import Collection, Sequence
from typing import Literal

from bt_runtime import Blackboard, HotLoopError, Request, Standing
from bt_runtime.language.kind import CALLS_HOST
from oracle.agent.ending import control_failed
from oracle.agent.nodes.board import LIMIT_REACHED
from oracle.agent.nodes.roles import ASKS_MODEL, FINISHES, RUNS_CALLS
from oracle.agent.run import AgentRun
from oracle.core.chunks import TerminationReason
from oracle.decision import AgentState, rules

FREE_STEPS = 200
"""Requests, notifications and sentences of a tree in a row, without a finished turn of the model between them. Ten
times what a tree needs that calls tools before the first turn."""

FREE_STEPS_PER_S = 10
"""Steps that each second adds: a tree may poll something slow."""

ENDING_TICKS = 20
"""Ticks in a row without a wait, once nothing may take time any more. Ending needs a few. The limit on hot loops would
take half a second, and a query must end within 100 ms.
"""

Role = Literal["turn", "tools", "closing", "other"]


class Floor:
    """Cancel, deadline and limits of one query."""

    def __init__(self, run: AgentRun) -> None:
        self._run = run
        self.is_cancelled = False

    @property
    def ends_at_s(self) -> float:
        """The deadline of the query, in seconds of its clock."""
        return self._run.state.start_time + self._run.state.time_limit_s

    def cancel(self) -> None:
        """Request that the query stops."""
        self.is_cancelled = True

    def is_over(self, now_s: float) -> bool:
        """Whether nothing may take time any more: after a cancel, after the deadline, after `done`."""
        return self.is_cancelled or now_s >= self.ends_at_s or self._run.output.is_done

    def look(self, now_s: float) -> AgentState:
        """Update the run's state to this time and to a cancel, and return it."""
        state = self._run.state
        elapsed_s = now_s - state.start_time
        if now_s >= self.ends_at_s:
            elapsed_s = max(elapsed_s, state.time_limit_s)  # adding and subtracting times may differ in the last bit
        self._run.state = state.at(elapsed_s, cancelled=self.is_cancelled)
        return self._run.state

    def exceeded(self, now_s: float) -> TerminationReason | None:
        """The first limit that the query has reached, a cancel among them; the state is updated only if there is one.

        Guards judge each state once; a new state at every tick would make them judge again.
        """
        if self.is_cancelled or now_s >= self.ends_at_s or rules.exceeded(self._run.state) is not None:
            return rules.exceeded(self.look(now_s))
        return None


class TreeFloor(Floor):
    """The floor below a tree: the supervisor of its run."""

    def __init__(self, run: AgentRun, board: Blackboard) -> None:
        super().__init__(run)
        self._board = board
        self.is_late = False
        self._ending_ticks = 0
        self._free_steps: float = FREE_STEPS
        self._counted = (0, 0, run.state.start_time)  # turns, remarks and time when the steps were counted last

    def deadline_s(self) -> float | None:
        """The query's deadline; `None` once it has passed."""
        return None if self.is_late else self.ends_at_s

    def judge(self, standing: Standing) -> Sequence[Request] | None:
        """The requests that the tree may start; `None` ends the run, with a reason written.

        Raises:
            HotLoopError: the tree goes on working, and nothing of it takes time.
        """
        if self._board["cancel_requested"]:
            self.cancel()
        self._run.state = self._run.state.after_limit(self._board[LIMIT_REACHED])
        now_s, posted = standing.now_s, standing.posted
        self.is_late = self.is_late or now_s >= self.ends_at_s
        if self._lingers(standing):
            self._stop(self.exceeded(now_s))
            return None
        if not posted and not standing.rests:
            self._charge(standing, posted)
            return posted
        for request in posted:
            if self._refuses(request, now_s):
                closing = [each for each in posted if _role(each) == "closing"]
                return closing if closing or _closes(standing.under_way) else None
        chosen = self._admitted(standing)
        self._charge(standing, chosen)
        if not (standing.rests and self.is_over(now_s)) or _closes(standing.under_way) or _closes(chosen):
            return chosen
        self._stop(self.exceeded(now_s))
        return None

    def _lingers(self, standing: Standing) -> bool:
        """Whether the tree keeps working although it must end."""
        if standing.again is None or not self.is_over(standing.now_s):
            self._ending_ticks = 0
            return False
        if _closes(standing.under_way) or _closes(standing.posted):
            return False
        self._ending_ticks += 1
        return self._ending_ticks > ENDING_TICKS

    def _refuses(self, request: Request, now_s: float) -> bool:
        """Whether this must not begin any more."""
        role, run = _role(request), self._run
        if role not in ("turn", "tools"):
            return False
        if run.state.is_terminal or run.output.is_done:
            return True
        reason = self.exceeded(now_s)
        if reason is None and role == "turn" and rules.keeps_breaking(run.state):
            if run.fault is None:
                problem = f"{run.state.broken_turns} turns in a row were interrupted"
                run.ending.fault = control_failed(run.query.tree, problem)
            reason = "error"
        self._stop(reason)
        return reason is not None

    def _stop(self, reason: TerminationReason | None) -> None:
        if reason is not None:
            self._run.stop(reason)

    def _admitted(self, standing: Standing) -> Sequence[Request]:
        """The posted requests that can begin now; one that would collide with others waits until those have ended."""
        chosen: list[Request] = []
        for request in standing.posted:
            if not standing.under_way and not chosen:
                chosen.append(request)
                continue
            beside = [other for other in (*standing.under_way, *chosen) if _role(other) == _role(request)]
            if not beside or not self._must_wait(request, beside, new=sum(other in chosen for other in beside)):
                chosen.append(request)
        return chosen

    def _must_wait(self, request: Request, beside: Sequence[Request], *, new: int) -> bool:
        """Whether a request has to wait for others with the same role.

        One visible turn at a time, because an answer is one text; as many turns as the limits leave, should all of them
        count; one `run_tools` at a time, because they are about the same calls, but several parts of one.

        Args:
            request: a posted request, which nothing else keeps from beginning.
            beside: the others; not empty.
            new: how many of them begin now, and have reserved no tokens yet.
        """
        node, run = request.node, self._run
        if ASKS_MODEL in node.facts.roles:
            if node.settings.visible and any(_is_visible(other) for other in beside):
                return True
            plan = run.plan(node.settings.model)
            wanted = new * (plan.max_tokens + plan.input_tokens)
            return run.state.turn + len(beside) >= run.state.turn_limit or plan.tokens_left <= wanted
        return RUNS_CALLS in node.facts.roles and any(other.node is not node for other in beside)

    def _charge(self, standing: Standing, chosen: Sequence[Request]) -> None:
        """Count the steps of the tree since the last finished turn.

        Raises:
            HotLoopError: there are too many.
        """
        turns, remarks, at_s = self._counted
        run, now_s = self._run, standing.now_s
        self._counted = (run.state.turn, run.output.remarks, now_s)
        if run.state.turn != turns:
            self._free_steps = FREE_STEPS
        self._free_steps = min(FREE_STEPS, self._free_steps + (now_s - at_s) * FREE_STEPS_PER_S)
        self._free_steps -= run.output.remarks - remarks + len(chosen)
        if self._free_steps < 0:
            path = chosen[-1].node.path if chosen else standing.again
            raise HotLoopError(path or "root", FREE_STEPS, "requests and messages")


def _role(request: Request) -> Role:
    roles = request.node.facts.roles
    if ASKS_MODEL in roles:
        return "turn"
    if RUNS_CALLS in roles or CALLS_HOST in roles:
        return "tools"
    return "closing" if FINISHES in roles else "other"


def _closes(requests: Collection[Request]) -> bool:
    """Whether one of the requests ends the query."""
    return any(_role(request) == "closing" for request in requests)


def _is_visible(request: Request) -> bool:
    return _role(request) == "turn" and bool(request.node.settings.visible)
