"""Judges turns and tool calls: what the model is asked without, and what it has called for nothing."""

from collections.abc import Iterator
from math import isfinite

from bt_runtime.checking.codes import Code
from bt_runtime.checking.flow import Flow
from bt_runtime.checking.states import State
from bt_runtime.checking.warnings import said, warning
from bt_runtime.definition import NodeDefinition
from bt_runtime.text import Mistake

CODES = (
    Code("no-prompt", "The model is asked before its system prompt is composed."),
    Code("calls-not-run", "The tool calls of a turn are dropped by the next turn."),
    Code("no-calls", "Tools are run where none can have been called."),
    Code("tools-run-twice", "The tool calls of one turn are run a second time."),
    Code("unread-results", "Tools are run, and no turn reads their results."),
    Code("thought-lost", "A turn beside the answer whose text nothing gets."),
    Code("prompt-composed-again", "The system prompt is composed where it is composed already."),
    Code("classified-late", "The question is classified behind the turns that depend on it."),
    Code("turns-without-end", "The model is granted another turn whatever it says, until a limit ends the query."),
)
_ASKS = {
    "signal": frozenset({"need_turn", "need_capability"}),
    "intent": frozenset({"need_turn", "need_capability"}),
}
_OPEN = frozenset({"open"})
_COUNTS = ("turn", "empty_turns", "turns_without_signal", "same_reason", "announcements")


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes if not flow.is_whole else flow.all_nodes.values():
        if node.kind == "llm_turn":
            yield from _turn(flow, node)
        elif node.kind == "run_tools":
            yield from _tools(flow, node)
        elif node.kind == "compose_prompt":
            yield from _prompt(flow, node)
        elif node.kind == "classify_query":
            yield from _classified(flow, node)
    if flow.is_whole:
        yield from _unread(flow)
        yield from _grants(flow)


def _turn(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    if any(is_exactly(state, "prompt", "no") for state in states):
        message = "the model is asked without its system prompt: it knows neither its tools nor the signals"
        yield warning(flow, node, "no-prompt", message, "put compose_prompt before it")
    if not getattr(node.settings, "visible", True):
        if getattr(node.settings, "into", None) is None and states:
            message = "the text of this turn is lost: it is neither shown nor written to a key"
            yield warning(flow, node, "thought-lost", message, "write 'into' and the key that gets the text")
        return
    dropped = [state for state in states if is_exactly(state, "calls", "open")]
    if dropped:
        callers = flow.named(path for state in dropped for path in state.facts.get("called by", ()))
        caller = said(flow, callers[0]) if callers else "the turn before"
        message = f"the tools that {caller} may have called are not run before this turn"
        hint = "put 'force_success: { subtree: use_tools }' between them, or write 'tools: false' at the first one"
        yield warning(flow, node, "calls-not-run", message, hint)


def _tools(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    if states and all(is_exactly(state, "calls", "none") for state in states):
        message = "no tool can have been called here"
        yield warning(flow, node, "no-calls", message, "put it behind an llm_turn that may call tools", removable=True)
    elif states and not any(
        state.facts.get("calls", _OPEN) & _OPEN or state.facts.get("unread", _OPEN) - {""} for state in states
    ):
        message = "every call has been answered before, so none is left to run"
        yield warning(flow, node, "no-calls", message, "run the tools before that", removable=True)
    are_open = any("open" in state.facts.get("calls", frozenset({"open"})) for state in states)
    before = flow.named(
        path for state in states if is_exactly(state, "calls", "done") for path in state.facts.get("unread", ())
    )
    if before and not are_open:
        message = f"the tools were run already, by {said(flow, before[0])}; a call is run once"
        yield warning(
            flow, node, "tools-run-twice", message, "remove it, or put an llm_turn between them", removable=True
        )


def _prompt(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    is_again = bool(states) and all(is_exactly(state, "prompt", "yes") for state in states)
    around = next((above for above in flow.above(node) if above.kind != "sequence"), None)
    is_in_rounds = around is not None and around.path in flow.walk.further_rounds and around.kind != "retry"
    if is_again or (is_in_rounds and any(is_exactly(state, "prompt", "yes") for state in states)):
        message = "the prompt is composed once for a query; this has no effect any more"
        yield warning(flow, node, "prompt-composed-again", message, "compose it once, at the beginning", removable=True)


def _classified(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    turns = [flow.domain(state, "turn").numbers for state in flow.states(node)]
    if turns and all(numbers is not None and numbers.least >= 1 for numbers in turns):
        message = "the model has been asked before: the tools for this type of question were not offered then"
        yield warning(flow, node, "classified-late", message, "put it at the beginning")


def _unread(flow: Flow) -> Iterator[Mistake]:
    read: set[str] = set()
    for node in flow.all_nodes.values():
        for state in flow.states(node) if node.kind == "llm_turn" else ():
            if "unread" not in state.facts:
                return
            read |= state.facts["unread"]
    for node in flow.all_nodes.values():
        if node.kind == "run_tools" and node.path not in read and _may_run_calls(flow, node):
            message = "no turn of the model reads the results of these tools"
            yield warning(flow, node, "unread-results", message, "put an llm_turn behind it, or do not run them")


def _may_run_calls(flow: Flow, node: NodeDefinition) -> bool:
    return any("open" in state.facts.get("calls", frozenset({"open"})) for state in flow.states(node))


def _grants(flow: Flow) -> Iterator[Mistake]:
    counters = _COUNTS + tuple(
        key for node in flow.all_nodes.values() if node.kind == "set" for key in getattr(node.settings, "values", {})
    )
    for node in flow.all_nodes.values():
        if node.kind != "grant_turn":
            continue
        loop = next((above for above in flow.above(node) if above.kind == "loop"), None)
        if loop is None:
            continue
        heads = flow.states(loop.children["child"][0])
        if heads and any(not _has_progress(flow, state, heads, counters) for state in flow.states(node)):
            message = "another turn is granted whatever the model says, until a limit ends the query"
            hint = (
                'grant it where the model asks for it (signal == "need_turn"), or a bounded number of times; else stop'
            )
            yield warning(flow, node, "turns-without-end", message, hint)


def _has_progress(flow: Flow, state: State, heads: tuple[State, ...], counters: tuple[str, ...]) -> bool:
    """Whether the model asks for the turn, or something counts such turns."""
    for key, wanted in _ASKS.items():
        texts = flow.domain(state, key).texts
        if texts is not None and texts.values is not None and texts.values <= wanted:
            return True
    tools = flow.domain(state, "tool_calls").numbers
    if not flow.domain(state, "cut_off").can_be_false or (tools is not None and tools.least > 0):
        return True
    return any(_is_counted(flow, state, heads, key) for key in counters)


def _is_counted(flow: Flow, state: State, heads: tuple[State, ...], key: str) -> bool:
    """Whether less of a counter is possible here than at the beginning of a round.

    What counts turns in a row grows by one, or starts anew; where it has begun and is bounded, so are the turns.
    """
    here = flow.domain(state, key).numbers
    if key in _COUNTS and here is not None and here.least >= 1 and isfinite(here.most):
        return True
    before = [flow.domain(head, key).numbers for head in heads]
    if here is None or any(numbers is None for numbers in before):
        return False
    most = max(numbers.most for numbers in before if numbers is not None)
    least = min(numbers.least for numbers in before if numbers is not None)
    return here.most < most or (key not in _COUNTS and here.least > least)


def is_exactly(state: State, fact: str, value: str) -> bool:
    """Whether a fact is known to have a value."""
    return state.facts.get(fact) == frozenset({value})
