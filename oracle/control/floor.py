"""The floor: what holds for every query, whatever controls it (decision 31).

A tree, and a `DecisionTree` in Python, may stop a query earlier, order the reasons and end more gracefully. What they
let through is stopped here, with the same reasons and the same words:

- No turn and no tool call begins after a cancel, after the deadline, beyond the limits, or once a reason is written.
- After a cancel, after the deadline and after `done` the control may still do what takes no time, and wait for
  `finish`; if it waits for anything else, it is ended.
- A provider that fails again and again is not asked without end.
- Work that no turn of the model stands between is bounded, because it costs nothing and so has no end of its own.
"""

from collections.abc import Sequence
from typing import Literal

from bt_runtime import Blackboard, HotLoopError, Request, Standing
from bt_runtime.kinds.action import CallAction
from oracle.agent.faults import control_failed
from oracle.agent.run import AgentRun
from oracle.chunks import TerminationReason
from oracle.decision import AgentState, rules
from oracle.nodes.finish import Finish
from oracle.nodes.llm_turn import LlmTurn
from oracle.nodes.run_tools import RunTools

FREE_STEPS = 200
"""Requests, notifications and sentences of a tree in a row, with no finished turn of the model between them. Ten times
what a tree needs that calls tools before the model speaks."""

FREE_STEPS_PER_S = 10
"""What time adds to them: a tree may poll something that takes its time."""

Role = Literal["turn", "tools", "closing", "other"]


class Floor:
    """Cancel, deadline and limits of one query.

    Args:
        run: the query.
    """

    def __init__(self, run: AgentRun) -> None:
        self._run = run
        self._cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """A cancel was requested."""
        return self._cancelled

    @property
    def ends_at_s(self) -> float:
        """The deadline of the query, in seconds of its clock."""
        return self._run.state.start_time + self._run.state.time_limit_s

    def cancel(self) -> None:
        """The query is to stop."""
        self._cancelled = True

    def is_over(self, now_s: float) -> bool:
        """Whether nothing more may take time: after a cancel, after the deadline, after `done`."""
        return self._cancelled or now_s >= self.ends_at_s or self._run.output.is_done

    def look(self, now_s: float) -> AgentState:
        """The state at this time, a cancel included; it is the run's from now on."""
        state = self._run.state
        elapsed_s = now_s - state.start_time
        if now_s >= self.ends_at_s:
            elapsed_s = max(elapsed_s, state.time_limit_s)  # a sum and a difference of times may differ in the last bit
        self._run.state = state.at(elapsed_s, cancelled=self._cancelled)
        return self._run.state

    def exceeded(self, now_s: float) -> TerminationReason | None:
        """The first limit that the query has reached; a cancel is one."""
        return rules.exceeded(self.look(now_s))


class TreeFloor(Floor):
    """The floor below a tree: the supervisor of its run.

    Args:
        run: the query.
        board: the tree's.
    """

    def __init__(self, run: AgentRun, board: Blackboard) -> None:
        super().__init__(run)
        self._board = board
        self._is_late = False
        self._free_steps: float = FREE_STEPS
        self._seen = (0, 0, run.state.start_time)  # turns, remarks and time when the steps were counted last

    def deadline_s(self) -> float | None:
        """The query's deadline, until it has come."""
        return None if self._is_late else self.ends_at_s

    def judge(self, standing: Standing) -> Sequence[Request] | None:
        """What the tree may start; `None` ends the run, and the reason is written then.

        Raises:
            HotLoopError: the tree works on and on, and nothing of it takes time.
        """
        if self._board["cancel_requested"]:
            self.cancel()
        now_s = standing.now_s
        self._is_late = self._is_late or now_s >= self.ends_at_s
        closes = any(_role(request) == "closing" for request in standing.under_way)
        if any(self._refuses(request, now_s) for request in standing.posted):
            closing = [request for request in standing.posted if _role(request) == "closing"]
            return closing if closing or closes else None
        chosen = self._admitted(standing)
        self._charge(standing, chosen)
        if not (standing.rests and self.is_over(now_s)) or closes or any(_role(each) == "closing" for each in chosen):
            return chosen
        self._stop(self.exceeded(now_s))
        return None

    def _refuses(self, request: Request, now_s: float) -> bool:
        """Whether this must not begin any more."""
        role = _role(request)
        if role not in ("turn", "tools"):
            return False
        if self._run.state.is_terminal or self._run.output.is_done:
            return True
        reason = self.exceeded(now_s)
        if reason is None and role == "turn" and rules.keeps_breaking(self._run.state):
            self._blame()
            reason = "error"
        self._stop(reason)
        return reason is not None

    def _blame(self) -> None:
        """Name what has kept the turns from their ends."""
        run = self._run
        if run.fault is None:
            problem = f"{run.state.broken_turns} turns in a row were interrupted"
            run.own_fault = control_failed(run.query.tree, problem)

    def _stop(self, reason: TerminationReason | None) -> None:
        if reason is not None:
            self._run.stop(reason)

    def _admitted(self, standing: Standing) -> Sequence[Request]:
        """The posted requests that can begin now; what would collide with others waits until those have ended."""
        chosen: list[Request] = []
        for request in standing.posted:
            beside = [other for other in (*standing.under_way, *chosen) if _role(other) == _role(request)]
            if not beside or not self._must_wait(request, beside, new=sum(other in chosen for other in beside)):
                chosen.append(request)
        return chosen

    def _must_wait(self, request: Request, beside: Sequence[Request], *, new: int) -> bool:
        """Whether a request has to wait for others of its role.

        One visible turn at a time, because an answer has one voice; as many turns as the limits leave, should all of
        them count; one `run_tools` at a time, because they are about the same calls.

        Args:
            request: what could begin.
            beside: the others; not empty.
            new: how many of them begin now, and have reserved no tokens yet.
        """
        node, run = request.node, self._run
        if isinstance(node, LlmTurn):
            if node.settings.visible and any(_is_visible(other) for other in beside):
                return True
            plan = run.plan()
            reserved = new * (plan.max_tokens + plan.input_tokens)
            return run.state.turn + len(beside) >= run.state.turn_limit or run.unreserved_tokens <= reserved
        return isinstance(node, RunTools)

    def _charge(self, standing: Standing, chosen: Sequence[Request]) -> None:
        """Count what the tree does while no turn ends.

        Raises:
            HotLoopError: it is too much.
        """
        turns, remarks, at_s = self._seen
        run, now_s = self._run, standing.now_s
        self._seen = (run.state.turn, run.output.remarks, now_s)
        if run.state.turn != turns:
            self._free_steps = FREE_STEPS
        self._free_steps = min(FREE_STEPS, self._free_steps + (now_s - at_s) * FREE_STEPS_PER_S)
        self._free_steps -= run.output.remarks - remarks + len(chosen)
        if self._free_steps < 0:
            path = chosen[-1].node.path if chosen else standing.again
            raise HotLoopError(path or "root", FREE_STEPS, "requests and messages")


def _role(request: Request) -> Role:
    node = request.node
    if isinstance(node, LlmTurn):
        return "turn"
    if isinstance(node, RunTools | CallAction):
        return "tools"
    return "closing" if isinstance(node, Finish) else "other"


def _is_visible(request: Request) -> bool:
    return isinstance(request.node, LlmTurn) and request.node.settings.visible
