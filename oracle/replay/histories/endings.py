"""Why a run ended, and which node decided that.

A run ends in one of these ways, and each leaves other marks in the record:

- A node wrote the reason: a guard, a `stop`, a kind of a plugin. If the facts did not support that reason, the query
  ended with another one (`settled`).
- The tree ended without a reason: the model had answered, the provider had failed, or a node had raised.
- The tree was ended from outside while it was running: by the floor below every control, by a rule that it declares, by
  the run loop because it could not go on, by the service, or later from its log.
"""

from collections.abc import Mapping
from typing import Any

from bt_runtime.text.phrases import clipped, counted, number
from oracle.agent.ending import control_failed
from oracle.replay.histories import naming
from oracle.replay.histories.model import BreachFacts, EndedBy, EndFacts, History, TickFacts, TurnFacts, VisitFacts

_BY_CATEGORY: Mapping[str, EndedBy] = {"guard": "guard"}
_LIMITS = ("max_iterations", "token_budget", "timeout")
_PROVIDER = ("provider_auth", "provider_overloaded", "provider_failed", "provider_refused", "context_too_large")
_HAS_CAUSE = ("provider", "service", "floor")
"""Ends whose cause names settings and hosts; that of a tree is in the sentence, because it is about its nodes."""
_SERVICE: Mapping[str, str] = {
    "service_stopping": "The service was stopping",
    "interrupted": "The service was interrupted, and the run was ended from its log",
    "not_continued": "The service was interrupted, and the run could not be continued",
    "internal": "The service had an internal error",
}


def ending(history: History, reason: str, *, error: Mapping[str, Any] | None = None) -> EndFacts:
    """Why the run ended.

    Args:
        history: all of it but its end.
        reason: the reason for the end, as the row of the run has it.
        error: of its row: `error`, `error_type`, `cause`; `None` if it did not fail.
    """
    return _Ending(history, reason, error or {}).found()


class _Ending:
    """Looks at the marks one after the other; the first that fits counts."""

    def __init__(self, history: History, reason: str, error: Mapping[str, Any]) -> None:
        self._history = history
        self._reason = reason
        self._error_type = str(error.get("error_type", ""))
        self._message = clipped(str(error.get("error", "")), 200).rstrip(".")
        prefix = control_failed(history.run.tree, "").cause
        self._cause = clipped(str(error.get("cause") or "").removeprefix(prefix), 300).rstrip(".")
        self._breach = next((breach for breach in history.breaches if breach.enforcement == "stop"), None)
        self._ticks = naming.own_ticks(history)
        self._last: TickFacts | None = self._ticks[-1] if self._ticks else None

    def found(self) -> EndFacts:
        written = next((tick for tick in self._history.ticks if self._writes(tick)), None)
        if self._reason == "error" and self._breach is not None and self._error_type in ("tree_failed", ""):
            return self._by_rule(self._breach)
        if self._reason == "error" and self._error_type in _SERVICE:
            what = _SERVICE[self._error_type]
            return self._end("service", self._last, None, f"{what}{self._meanwhile()}")
        if written is not None:
            return self._by_writer(written)
        if self._last is None:
            return self._end("unknown", None, None, self._message or f"The run ended as {self._reason}")
        if naming.statuses_after(self._ticks).get(0) == "RUNNING":
            return self._from_outside(self._last)
        return self._without_reason(self._last)

    def _end(self, by: EndedBy, tick: TickFacts | None, node: int | None, sentence: str) -> EndFacts:
        full = sentence if not sentence or sentence[-1] in '.!?"' else f"{sentence}."
        cause = f"{self._cause}." if self._cause and by in _HAS_CAUSE else ""
        return EndFacts(self._reason, None if tick is None else tick.tick, node, full, by, cause)

    def _writes(self, tick: TickFacts) -> bool:
        """Whether the tree has given its reason in this tick; `explain_stop` writes what the facts say."""
        if not _reason_of(tick):
            return False
        writer = _writer(tick)
        node = naming.node_of(self._history, writer.node) if writer else None
        return node.kind != "explain_stop" if node is not None else self._reason != "error"

    def _by_writer(self, tick: TickFacts) -> EndFacts:
        writer, written = _writer(tick), _reason_of(tick)
        node = naming.node_of(self._history, writer.node) if writer else None
        index = writer.node if writer else None
        if written == self._reason:
            by = _BY_CATEGORY.get(node.category, "node") if node else "node"
            by = "stop" if node is not None and node.kind == "stop" else by
            if writer is None:
                return self._end(by, tick, None, f"The tree stopped the run as {written}")
            paths = naming.visit_tree(self._history, tick)
            reason = paths.because(paths.to(writer.node)) if by == "stop" else ""
            return self._end(by, tick, index, naming.with_because(naming.sentence_of(self._history, writer), reason))
        who = naming.title_of(self._history, index) if writer else "The tree"
        return self._end("settled", tick, index, f"{who} stopped the run as {written}, but {self._facts()}")

    def _facts(self) -> str:
        """Why the reason that was given does not count."""
        match self._reason:
            case "stuck":
                return "the model wrote no answer: it counts as stuck"
            case "error":
                return f"the facts do not support that: {self._cause or self._message or 'there was no answer'}"
        return f"the run ended as {self._reason}"

    def _by_rule(self, breach: BreachFacts) -> EndFacts:
        tick = next((each for each in reversed(self._ticks) if each.tick < breach.tick), None)
        event = clipped(breach.event, 160).rstrip(".") or "the end of the run"
        said = f"The rule {clipped(breach.rule)} ended the run, broken by {event}: {clipped(breach.text, 200)}"
        return self._end("rule", tick, None, said)

    def _from_outside(self, last: TickFacts) -> EndFacts:
        """The root was RUNNING when the run ended."""
        if self._reason == "error" and self._error_type not in _PROVIDER:
            what = self._cause or self._message or "the tree could not go on"
            return self._end(
                "control", last, last.decision, f"The run of the tree was ended{self._meanwhile()}: {what}"
            )
        return self._end(
            "floor", last, None, f"{self._floor(last)}{self._meanwhile()}; no node of the tree had stopped it"
        )

    def _floor(self, last: TickFacts) -> str:
        """What the floor has found, with figures."""
        run, limits = self._history.run, self._history.run.limits
        match self._reason:
            case "user_cancelled":
                return "The user cancelled, or did not come back"
            case "timeout":
                limit = limits.get("timeout_seconds")
                return f"The time limit of {number(limit)} s was reached" if limit else "The time limit was reached"
            case "max_iterations":
                limit = _value(self._history, "turn_limit", last) or limits.get("max_iterations") or 0
                return f"The limit of turns was reached, {number(run.turns)} of {counted(int(limit), 'turn')}"
            case "token_budget":
                budget = counted(int(limits.get("token_budget") or 0), "token")
                return f"The token budget was used up, {number(run.tokens_used)} of {budget}"
            case "error":
                return f"Turns of the model failed or were interrupted again and again: {self._message}"
        return f"The run was ended as {self._reason}"

    def _meanwhile(self) -> str:
        running = naming.running_leaves(self._history)
        if not running:
            return ""
        who = naming.titles_of(self._history, running)
        if self._reason in ("max_iterations", "token_budget"):  # what the floor refuses has not begun
            return f", when {who} was about to continue"
        return f", while {who} {'was' if len(running) == 1 else 'were'} running"

    def _without_reason(self, last: TickFacts) -> EndFacts:
        """The root has ended, and no node has written a reason."""
        turn = self._history.turns[-1] if self._history.turns else None
        tick = self._tick_of(turn) or last
        if self._reason == "completed":
            answered = f"after turn {turn.n:,} had answered" if turn else "with an answer"
            return self._end("answer", tick, tick.decision, f"The tree ended {answered}, and gave no reason")
        if self._reason == "error":
            return self._failed(turn, last)
        if self._reason in (*_LIMITS, "user_cancelled"):
            return self._end("floor", last, None, f"{self._floor(last)}, and the tree ended without stopping it")
        because = (
            "the model had not given a whole answer"
            if self._reason == "stuck"
            else "that follows from the state of the run"
        )
        said = f"The tree ended without a reason; it counts as {self._reason}, because {because}"
        return self._end("settled", tick, tick.decision, said)

    def _failed(self, turn: TurnFacts | None, last: TickFacts) -> EndFacts:
        if turn is not None and turn.error and self._error_type in (*_PROVIDER, ""):
            tick = self._tick_of(turn) or last
            said = f"The model's provider failed in turn {turn.n:,}: {clipped(turn.error, 200).rstrip('.')}"
            return self._end("provider", tick, turn.node, said)
        raised = next((tick for tick in reversed(self._history.ticks) if tick.errors), None)
        if raised is not None:
            path, error = raised.errors[-1]
            who, what = naming.title_at(self._history, path), clipped(error, 200).rstrip(".")
            said = f"{who} raised an error, and the tree ended without a reason: {what}"
            return self._end("error", raised, naming.index_at(self._history, path), said)
        why = self._cause or self._message or "there was no answer"
        return self._end("settled", last, last.decision, f"The tree ended without a reason, which is an error: {why}")

    def _tick_of(self, turn: TurnFacts | None) -> TickFacts | None:
        return next((tick for tick in self._ticks if turn is not None and tick.tick == turn.ended_tick), None)


def _reason_of(tick: TickFacts) -> str:
    """The reason that was written in a tick; the first one counts."""
    return next((str(value) for key, value in tick.writes if key == "termination_reason" and value), "")


def _writer(tick: TickFacts) -> VisitFacts | None:
    """The node that wrote the reason first."""
    for visit in (*tick.visits, *tick.given_back):
        if any(key == "termination_reason" and value for key, value in visit.writes):
            return visit
    return None


def _value(history: History, key: str, last: TickFacts) -> Any:  # noqa: ANN401  JSON data
    """The value of a blackboard key after a tick."""
    value = next((each.value for each in history.keys if each.name == key), None)
    for tick in history.ticks:
        value = next((new for name, new in reversed(tick.writes) if name == key), value)
        if tick is last:
            break
    return value
