"""The headline of a tick: what came in, what was decided, and because of what.

Rules over the data of the tick, in the words of the nodes' kinds; no tree and no kind is known here.
"""

from collections.abc import Sequence

from bt_runtime import forced_path
from bt_runtime.text.phrases import clipped, counted, listed, truncated, value_of
from oracle.agent.nodes.llm_turn import turn_sentence
from oracle.replay.histories import naming
from oracle.replay.histories.model import CallFacts, History, TickFacts, TurnFacts
from oracle.replay.histories.people import answers_sentence

MOST_CHARACTERS = 400
"""Of a headline."""
_LATEST = 100
"""Turns and calls that are looked at; a headline is made when its tick is the last one."""


def headline(history: History, tick: TickFacts) -> str:
    """What happened in a tick and what was decided, in one to three sentences; empty if nothing is known."""
    parts = [*_came_in(history, tick), *_errors(history, tick)]
    decided = _decided(history, tick)
    if decided not in parts:
        parts.append(decided)
    return truncated(" ".join(part for part in parts if part), MOST_CHARACTERS)


def _came_in(history: History, tick: TickFacts) -> list[str]:
    """What the tick got: how turns and tools ended, or what else caused it."""
    ended = [turn for turn in history.turns[-_LATEST:] if turn.ended_tick == tick.tick]
    found = [_turn(history, turn) for turn in ended] + _returned(history, tick)
    match tick.cause:
        case "end":
            return [*found, _halted(history, tick)]
        case "start":
            return ["The run begins."]
        case "deadline":
            return [*found, _due(history, tick)]
        case "delivery":
            return [*(_delivered(history, key, value) for key, value in tick.deliveries), *found]
        case "outcome" if not found and tick.decision is None:
            nodes = list(dict.fromkeys(naming.title_at(history, key.rpartition("@")[0]) for key in tick.causes))
            return [f"{listed(nodes)} {'has' if len(nodes) == 1 else 'have'} an outcome."] if nodes else []
    return found


def _turn(history: History, turn: TurnFacts) -> str:
    is_empty = turn.answer is not None and not turn.answer.strip() and not turn.calls and turn.signal is None
    return turn_sentence(
        f"Turn {turn.n:,}" if turn.visible else f"Turn {turn.n:,}, beside the answer,",
        calls=_names(history, turn.calls),
        signal=turn.signal.type if turn.signal and not turn.signal.malformed else "",
        is_malformed=bool(turn.signal and turn.signal.malformed),
        is_empty=is_empty,
        is_cut_off=turn.cut_off,
        is_interrupted=turn.interrupted,
        error=turn.error,
    )


def _names(history: History, ids: Sequence[str]) -> list[str]:
    """The names of the tools of the latest calls, in the order of their ids."""
    if not ids:
        return []
    latest = {call.id: call.name for call in history.calls[-2 * len(ids) - _LATEST :]}
    return [latest.get(each, "a tool") for each in ids]


def _returned(history: History, tick: TickFacts) -> list[str]:
    ended = [call for call in history.calls[-_LATEST:] if call.ended_tick == tick.tick]
    refusals = [breach for breach in history.breaches[-_LATEST:] if breach.enforcement != "notify"]
    rules = {(breach.turn, breach.call_id): breach.rule for breach in refusals}
    said = [
        f"{call.name} was refused by the rule {rules[call.turn, call.id]}."
        for call in ended
        if (call.turn, call.id) in rules
    ]
    return [*_results([call for call in ended if (call.turn, call.id) not in rules]), *said]


def _results(calls: Sequence[CallFacts]) -> list[str]:
    if not calls:
        return []
    errors = sum(call.is_error for call in calls)
    what = f"{listed([call.name for call in calls])} returned"
    if errors == len(calls):
        return [f"{what} {'an error' if errors == 1 else counted(errors, 'error')}."]
    return [f"{what}{', ' + counted(errors, 'error') + ' among the results' if errors else ''}."]


def _halted(history: History, tick: TickFacts) -> str:
    parents = {node.parent for node in history.tree.nodes} if history.tree else set()
    halted = [index for index, status in tick.changes if status == "INVALID" and index not in parents]
    return f"The run ends, and {naming.titles_of(history, halted)} is halted." if halted else "The run ends."


def _due(history: History, tick: TickFacts) -> str:
    root, decided = naming.node_of(history, 0), naming.node_of(history, tick.decision)
    if decided is not None and tick.causes == (decided.path,):
        return ""  # the node itself says what that meant
    due = [naming.title_at(history, path) for path in tick.causes if root is None or path != root.path]
    return f"The time of {listed(due)} has come." if due else "The deadline of the run has come."


def _delivered(history: History, key: str, value: object) -> str:
    forced = forced_path(key)
    if forced is not None:
        return f"An operator forces the result of {naming.title_at(history, forced)}: {clipped(str(value))}."
    if key == "answers" and isinstance(value, dict):
        return answers_sentence(value)
    return "A cancel was requested." if key == "cancel_requested" else f"{key} {value_of(value)} was delivered."


def _errors(history: History, tick: TickFacts) -> list[str]:
    if not tick.errors:
        return []
    path, error = tick.errors[-1]
    what = f"{naming.title_at(history, path)} raised an error, which counts as no: {clipped(error, 200).rstrip('.')}."
    return [what] if len(tick.errors) == 1 else [f"{counted(len(tick.errors), 'error')} of nodes; the last one: {what}"]


def _decided(history: History, tick: TickFacts) -> str:
    """The sentence of the deciding node, and the condition behind it.

    Where that node only passes on what others say, the one on the way that goes on by itself says more.
    """
    paths = naming.visit_tree(history, tick)
    path = paths.to(tick.decision)
    if not path or path[-1].errors:  # these are said already
        return ""
    last = path[-1]
    node = naming.node_of(history, last.node)
    if node is not None and node.category in ("composite", "decorator"):
        last = next((visit for visit in reversed(path) if visit.status == "RUNNING"), last)
        return f"{naming.title_of(history, last.node)}: {naming.lowered(naming.sentence_of(history, last))}"
    return naming.with_because(naming.sentence_of(history, last), "" if last.evaluations else paths.because(path))
