"""Judges turns and tool calls: what the model is asked without, calls for nothing, and what a later turn must find."""

import ast
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.expressions.domains import NOTHING
from bt_runtime.analysis.flow import Flow, said, warning
from bt_runtime.analysis.states import REASON, State, names_in
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import HERE, ExpressionUse, LeafFlow
from bt_runtime.text import Mistake
from oracle.agent.nodes import roles
from oracle.agent.nodes.roles import ASKS_MODEL

CODES = (
    Code(
        "no-prompt",
        "A turn runs before `compose_prompt`.",
        "Without a system prompt the model knows neither its tools nor the signals. Compose the prompt first.",
    ),
    Code(
        "calls-not-run",
        "The tool calls of a turn are never run.",
        "The next turn discards them, or the run ends first. Run them with `run_tools`, or use `tools: false`.",
    ),
    Code(
        "no-calls",
        "A node handles tool calls, but there can be none.",
        "No turn with tools comes before it, or the calls have already run. Add the turn, or change the order.",
    ),
    Code(
        "tools-run-twice",
        "The tool calls of one turn are run a second time.",
        "A call runs once, so the second node has no effect. Remove it.",
    ),
    Code(
        "unread-results",
        "Tools run, but no turn reads their results.",
        "The answer does not use them. Add a turn after `run_tools`.",
    ),
    Code(
        "thought-lost",
        "A turn with `visible: false` has no `into`.",
        "Its text is neither shown nor saved. Add `into: KEY`, or make the turn visible.",
    ),
    Code(
        "prompt-composed-again",
        "The system prompt is composed a second time.",
        "It is composed once per run, so that the provider's cache stays valid. Remove the second `compose_prompt`.",
    ),
    Code(
        "classified-late",
        "`classify_query` runs after a turn or after `compose_prompt`.",
        "The type of question decides which tools the model gets. Move `classify_query` to the start.",
    ),
    Code(
        "same-strategy",
        "Two `try_strategy` nodes have the same name.",
        "Each name is tried once, so the second node always fails. Give each one a `name`.",
    ),
    Code(
        "hidden-retry",
        "When a turn fails, the same model is asked again in the same way.",
        "If its provider is down, it is still down. Use another model, or a `retry` with a wait.",
    ),
    Code(
        "turns-without-end",
        "The loop grants another turn whatever the model says.",
        "Only a limit ends the run. Add a branch that stops when the model is done or stuck.",
    ),
    Code(
        "no-turn-follows",
        "A turn is granted, or a note is written, but no turn follows that could use it.",
        "Move it before a turn, or remove it. If two notes meet, only one is sent.",
    ),
)
_ASKS = {
    "signal": frozenset({"need_turn", "need_capability"}),
    "intent": frozenset({"need_turn", "need_capability"}),
}
_OPEN = frozenset({"open"})
_WRITING = frozenset({"vault_write", "thread_push"})
"""The built-in tools that change something."""
_COUNTS = ("turn", "empty_turns", "turns_without_signal", "same_reason", "announcements")


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes if not flow.is_whole else flow.all_nodes.values():
        for role in node.facts.roles:
            if role in _BY_ROLE:
                yield from _BY_ROLE[role](flow, node)
    if flow.is_whole:
        yield from _unread(flow)
        yield from _grants(flow)
        yield from _one_turn(flow)
    yield from _strategies(flow)
    yield from _left_over(flow)


def _turn(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    yield from _hidden_retry(flow, node)
    states = flow.states(node)
    if any(is_exactly(state, "prompt", "no") for state in states):
        message = "the model is asked without its system prompt: it knows neither its tools nor the signals"
        yield warning(flow, node, "no-prompt", message, "put compose_prompt before it")
    if not getattr(node.settings, "visible", True):
        if "into" in type(node.settings).model_fields and node.settings.into is None and states:  # type: ignore[attr-defined]
            message = "the text of this turn is lost: it is neither shown nor written to a key"
            yield warning(flow, node, "thought-lost", message, "write 'into' and the key that gets the text")
        return
    dropped = [state for state in states if is_exactly(state, "calls", "open")]
    if dropped:
        callers = flow.noted(dropped, "called by")
        caller = said(flow, callers[0]) if callers else "the turn before"
        message = f"the tools that {caller} may have called are not run before this turn"
        hint = "put 'force_success: { subtree: use_tools }' between them, or write 'tools: false' at the first one"
        onces = (each for each in flow.nodes if each.kind == "once")  # one that runs the calls of the first turn alone
        at = next((each for each in onces if any(below.has(roles.RUNS_CALLS) for below in each.walk())), node)
        yield warning(flow, at, "calls-not-run", message, hint)


def _hidden_retry(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """The same turn once more, behind the one that failed, in a selector; conditions alone stand between them."""
    below = node
    for above in flow.above(node):
        children = above.children.get("children", ())
        before = children[: children.index(below)] if below in children else ()
        if above.kind == "selector" and before and before[-1].has(roles.ASKS_MODEL):
            if _asked(before[-1]) == _asked(node):
                message = f"if {said(flow, before[-1])} fails, this asks the same model in the same way"
                hint = "name another 'model', or use 'retry' around a single turn, which shows what is meant"
                yield warning(flow, node, "hidden-retry", message, hint)
            return
        if above.kind != "sequence" or any(each.kind != "condition" for each in before):
            return
        below = above


def _asked(node: NodeDefinition) -> Mapping[str, object]:
    """What the request of a turn depends on."""
    return node.settings.model_dump(exclude={"timeout_s", "into"})


def _tools(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    if states and all(is_exactly(state, "calls", "none") for state in states):
        message = "no tool can have been called here"
        yield warning(flow, node, "no-calls", message, "put it after an llm_turn that may call tools", removable=True)
    elif states and not any(
        state.facts.get("calls", _OPEN) & _OPEN or state.facts.get("unread", _OPEN) - {""} for state in states
    ):
        message = "every call has been answered before, so none is left to run"
        yield warning(flow, node, "no-calls", message, "run the tools before that", removable=True)
    before = flow.noted((state for state in states if is_exactly(state, "calls", "done")), "unread")
    if before and not _may_be_open(states):
        message = f"the tools have already been run, by {said(flow, before[0])}"
        yield warning(
            flow, node, "tools-run-twice", message, "remove it, or put an llm_turn between them", removable=True
        )


def _answering(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    if states and not _may_be_open(states):
        ran = flow.noted(states, "unread")
        cause = f": {said(flow, ran[0])} has run them" if ran else ""
        message = f"no tool call is left here that {node.kind!r} could act on{cause}"
        yield warning(flow, node, "no-calls", message, "put it between the llm_turn and run_tools", removable=True)
        return
    is_own = bool(states) and node.has(roles.HOLDS_BACK_CALLS) and node.place.file == flow.file
    if is_own and not any(flow.domain(state, "sufficient").can_be_true for state in states):
        message = "no call is refused here: no 'judge_context' before this can have found that the context suffices"
        yield warning(flow, node, "no-calls", message, "put judge_context after the run_tools of each round")


def _leaving(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """The end of a query, or another turn, before the way on which the same calls would be run."""
    if getattr(node.settings, "reason", "completed") != "completed":
        return
    open_ = [state for state in flow.states(node) if is_exactly(state, "calls", "open")]
    states = [state for state in open_ if flow.domain(state, "signal").can_be_false]  # no signal says how to go on
    if states and _is_before_tools(flow, node) and not _is_of_turn_without_tools(flow, node):
        callers = flow.noted(states, "called by")
        caller = said(flow, callers[0]) if callers else "the last turn"
        message = f"the tools that {caller} may have called are never run: {node.kind!r} comes before"
        hint = "run them before, test 'tool_calls == 0', or write 'tools: false' at the turn"
        yield warning(flow, node, "calls-not-run", message, hint)


def _is_of_turn_without_tools(flow: Flow, node: NodeDefinition) -> bool:
    """Whether the same keys have been compared where a turn without tools was chosen, in a way that is not followed."""
    compared = {pair for names in _asked_before(flow, node) if len(pair := frozenset(names)) > 1}
    without = (
        each
        for each in flow.all_nodes.values()
        if each.has(roles.REQUIRES_ANSWER) or (each.has(roles.ASKS_MODEL) and not getattr(each.settings, "tools", True))
    )
    return bool(compared) and any(
        compared & {frozenset(names) for names in _asked_before(flow, each)} for each in without
    )


def _asked_before(flow: Flow, node: NodeDefinition) -> Iterator[set[str]]:
    """The keys of each comparison on which it depends whether a node is reached."""
    below = node
    for above in (node, *flow.above(node)):
        siblings = next((nodes for nodes in above.children.values() if below in nodes), ())
        before = siblings[: siblings.index(below)] if below in siblings else ()
        whens = [getattr(each.settings, "when", None) for each in (above, *before)]
        for text in whens:
            if isinstance(text, str):
                yield from (names for part in ast.walk(parse(text)) if len(names := _compared(part)) > 1)
        below = above


def _compared(part: ast.AST) -> set[str]:
    if not isinstance(part, ast.Compare):
        return set()
    return {name.id for name in ast.walk(part) if isinstance(name, ast.Name)}


def _is_before_tools(flow: Flow, node: NodeDefinition) -> bool:
    """Whether a later child of a selector around a node runs tools."""
    below = node
    for above in flow.above(node):
        if above.kind == "selector":
            children = above.children["children"]
            later = children[children.index(below) + 1 :]
            if any(each.has(roles.RUNS_CALLS) for child in later for each in child.walk()):
                return True
        elif above.kind == "loop":
            return False
        below = above
    return False


def _prompt(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    is_again = bool(states) and all(is_exactly(state, "prompt", "yes") for state in states)
    around = next((above for above in flow.above(node) if above.kind != "sequence"), None)
    is_in_rounds = around is not None and around.path in flow.walk.further_rounds and around.kind != "retry"
    if is_again or (is_in_rounds and any(is_exactly(state, "prompt", "yes") for state in states)):
        message = "the prompt is composed once per run; this has no effect"
        yield warning(flow, node, "prompt-composed-again", message, "compose it once, at the beginning", removable=True)


def _classified(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    turns = [flow.domain(state, "turn").numbers for state in states]
    behind = [numbers is not None and numbers.least >= 1 for numbers in turns]
    added = flow.noted(states, "added")
    own = node.place.file == flow.file
    if added:
        message = f"the tools are selected again here, so those that {said(flow, added[0])} offered are lost"
    elif behind and (all(behind) or (own and any(behind))):
        message = "the model has been asked before: the tools for this type of question were not offered then"
    elif own and states and all(is_exactly(state, "prompt", "yes") for state in states):
        message = "the prompt, which depends on the type of the question, is composed before this"
    else:
        return
    yield warning(flow, node, "classified-late", message, "put it at the beginning")


def _unread(flow: Flow) -> Iterator[Mistake]:
    read: set[str] = set()
    offering = (node for node in flow.all_nodes.values() if node.has(roles.OFFERS_TOOLS))
    # A tool that writes has done its work when it has run.
    writes = any(_WRITING.intersection(getattr(node.settings, "tools", None) or ()) for node in offering)
    for node in flow.all_nodes.values():
        for state in flow.states(node) if node.has(roles.ASKS_MODEL) else ():
            if "unread" not in state.facts:
                return
            read |= state.facts["unread"]
    for node in flow.all_nodes.values():
        if node.has(roles.RUNS_CALLS) and node.path not in read and _may_be_open(flow.states(node)) and not writes:
            message = "no turn of the model reads the results of these tools"
            yield warning(flow, node, "unread-results", message, "put an llm_turn after it, or do not run them")


def _grants(flow: Flow) -> Iterator[Mistake]:
    counters = _COUNTS + tuple(
        key
        for node in flow.all_nodes.values()
        if node.kind == "set"
        for key in getattr(node.settings, "values", {})
        if key != "hint"
    )
    for node in flow.all_nodes.values():
        if not node.has(roles.GRANTS_TURN):
            continue
        around = next((above for above in flow.above(node) if above.kind in {"loop", "once"}), None)
        if (
            around is None
            or around.kind == "once"
            or not any(
                node.path in state.facts.get("granted", {node.path})
                for state in flow.walk.further_rounds.get(around.path, ())  # else the turn is taken in the same round
            )
        ):
            continue
        heads = flow.states(around.children["child"][0])
        if heads and any(not _has_progress(flow, state, heads, counters) for state in flow.states(node)):
            message = "another turn is granted whatever the model says, until a limit ends the run"
            hint = 'grant it only if the model asks for it (signal == "need_turn"), or a limited number of times'
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
    """Whether less of a counter, or one value of a mark, is possible here than at the beginning of a round."""
    here, before = flow.domain(state, key), NOTHING
    for head in heads:
        before = before.union(flow.domain(head, key))
    if key in _COUNTS and key != "turn":
        return here.numbers is not None and math.isfinite(here.numbers.most)
    if here.numbers is None or before.numbers is None:
        return here.is_single and not before.is_single
    return here.numbers.most < before.numbers.most or (key != "turn" and here.numbers.least > before.numbers.least)


def _one_turn(flow: Flow) -> Iterator[Mistake]:
    """Tools of a query that has one turn: its last, whose calls are not run."""
    bound = flow.walk.partition.known.bounds.get("turn")
    declared = next((each for each in flow.tree.declarations if each.key.name == "max_turns"), None)
    if bound is None or bound.numbers is None or bound.numbers.most > 1 or declared is None:
        return
    turns = [node for node in flow.all_nodes.values() if node.has(roles.ASKS_MODEL) and flow.is_reached(node)]
    runs = any(node.has(roles.RUNS_CALLS) for node in flow.all_nodes.values())
    if runs and any(getattr(turn.settings, "tools", False) for turn in turns):
        message = "with one turn, the tools that the model calls in it are never run: no turn is left for their results"
        hint = "allow two turns at least, or write 'tools: false' at the turn"
        yield Mistake(declared.place, message, hint, None, "calls-not-run", "warning")


def _strategies(flow: Flow) -> Iterator[Mistake]:
    """Strategies of one name, of which a query tries the first alone."""
    known: dict[str, NodeDefinition] = {}
    for node in flow.nodes:
        if not node.has(roles.TRIES_STRATEGY):
            continue
        first = known.setdefault(node.title, node)
        around = {above.path for above in flow.above(first)}
        both = next((above for above in flow.above(node) if above.path in around), node)
        if first is not node and first.place != node.place and both.kind not in {"if", "switch"}:
            message = f"a run tries the strategy {node.title!r} once, and {said(flow, first)} has the same name"
            yield _at_name(flow, node, warning(flow, node, "same-strategy", message, "give it a 'name' of its own"))


def _at_name(flow: Flow, node: NodeDefinition, mistake: Mistake) -> Mistake:
    """A warning about a node at its `name`, if that stands in the next line."""
    lines = flow.tree.texts.get(flow.file, "").splitlines()
    line = lines[node.place.line] if node.place.line < len(lines) else ""
    if line.strip() != f"name: {node.title}":
        return mistake
    place = replace(node.place, line=node.place.line + 1, column=len(line) - len(line.lstrip()) + 1)
    return replace(mistake, place=place, end=None)


def _may_be_open(states: tuple[State, ...]) -> bool:
    """Whether calls without a result may be left."""
    return any("open" in state.facts.get("calls", _OPEN) for state in states)


def is_exactly(state: State, fact: str, value: str) -> bool:
    """Whether a fact is known to have a value."""
    return state.facts.get(fact) == frozenset({value})


_BY_ROLE: Mapping[str, Callable[[Flow, NodeDefinition], Iterator[Mistake]]] = {
    roles.ASKS_MODEL: _turn,
    roles.RUNS_CALLS: _tools,
    **dict.fromkeys((roles.HOLDS_BACK_CALLS, roles.REFUSES_CALLS), _answering),
    **dict.fromkeys((roles.STOPS, roles.GRANTS_TURN, roles.TRIES_STRATEGY), _leaving),
    roles.COMPOSES_PROMPT: _prompt,
    roles.CLASSIFIES_QUERY: _classified,
}


_FACTS = ("granted", "noted", "offered")
_SAID: Mapping[str, tuple[str, str]] = {
    "granted": ("no turn of the model follows this", "put it into a loop with an 'llm_turn', or remove it"),
    "noted": (
        "no turn gets this note: none follows, or another note replaces it before",
        "write it before an 'llm_turn', or remove it",
    ),
    "offered": (
        "no turn that may call tools follows this",
        "put it before an 'llm_turn' with tools, or remove it",
    ),
}


def _left_over(flow: Flow) -> Iterator[Mistake]:
    """What is left for a later turn of the model, and none follows: a granted turn, a note, further tools."""
    if not flow.is_whole or any(node.has(ASKS_MODEL) and not flow.is_reached(node) for node in flow.nodes):
        return  # a turn that is never reached is said, and explains it
    taken = _taken(flow)
    if taken is None:
        return
    for node in flow.nodes:
        fact = _left(flow, node)
        if (
            fact is not None
            and "success" in flow.results(node)
            and any(flow.domain(state, REASON).can_be_false for state in flow.states(node))
            and node.path not in taken[fact]
        ):
            message, hint = _SAID[fact]
            yield warning(flow, node, "no-turn-follows", message, hint)


def _taken(flow: Flow) -> Mapping[str, set[str]] | None:
    """The nodes that have left something for a turn, by the fact that says so; `None` if they are not known."""
    found: dict[str, set[str]] = {fact: set() for fact in _FACTS}
    takers = [node for node in flow.all_nodes.values() if node.has(ASKS_MODEL) or _reads_note(node)]
    for node in takers:
        facts = _FACTS if getattr(node.settings, "tools", True) else _FACTS[:2]
        for state in flow.states(node):
            if not found.keys() <= state.facts.keys():
                return None
            for fact in facts:
                found[fact] |= state.facts[fact]
    return found


def _left(flow: Flow, node: NodeDefinition) -> str | None:
    """The fact that says what a node leaves for a turn; `None` for other nodes."""
    of_kind = flow.registry.kinds[node.kind].flow
    cases = of_kind.cases(node.settings) if isinstance(of_kind, LeafFlow) else ()
    left = {fact for case in cases for fact, value in case.facts.items() if value == HERE}
    if left:
        return next((fact for fact in _FACTS if fact in left), None)
    note = getattr(node.settings, "values", {}).get("hint") if node.kind == "set" else None
    return "noted" if note not in (None, "''", '""') and "hint" not in node.private else None


def _reads_note(node: NodeDefinition) -> bool:
    texts = [placed.use.text for placed in node.uses if isinstance(placed.use, ExpressionUse)]
    return any("hint" in names_in(text) for text in texts)
