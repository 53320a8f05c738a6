"""Judges how a query ends: on every path with a reason and an answer, and with nothing behind the end."""

from collections.abc import Iterable, Iterator

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, said, warning
from bt_runtime.analysis.reaching import is_inverted_guard
from bt_runtime.analysis.states import BLAME, FAULT, LAST, REASON, STOPPED_BY, EndStates, State, names_in
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_PERSON, EXPLAINS_STOP, GRANTS_TURN, LIMITS_TIME, LIMITS_TURNS, STOPS, WORK
from oracle.authoring.checks.turns import is_exactly

CODES = (
    Code(
        "no-answer",
        "The run can end without any text for the user.",
        "Add a turn or a `say` on that path.",
    ),
    Code(
        "no-reason",
        "The run can end without a `termination_reason`.",
        "The service then guesses one. Add a `stop` with the reason you mean.",
    ),
    Code(
        "guard-without-reason",
        "A `condition` in `guards` ends the loop, but nothing writes a reason.",
        "The run is then often reported as `stuck`. Add a `stop` after the loop.",
    ),
    Code(
        "unhandled-failure",
        "A node can fail in normal operation, and the whole run fails with it as `error`.",
        "A subtree fails when it does not apply, a `timeout` when time is up. Add an alternative in a `selector`, "
        "or `force_success`.",
    ),
    Code(
        "guard-as-step",
        "A guard is used as a step.",
        "It is ticked only once, interrupts nothing, and fails the run when it trips. Move it to the `guards` of a "
        "loop.",
    ),
    Code(
        "after-stop",
        "The work is reached only after the run has stopped.",
        "No turn and no tool call starts once there is a reason. To try another way, use `timeout` or a `condition` "
        "in place of the guard.",
    ),
    Code(
        "stop-ignored",
        "A reason is written when there already is one.",
        "Only the first reason counts. Remove the second one.",
    ),
    Code(
        "after-finish",
        "A node runs after `finish`.",
        "The stream has ended, so the user sees nothing of it. Move it before `finish`.",
    ),
)
_WORK = (*WORK, GRANTS_TURN)
_PASSING = frozenset({"sequence", "finally", "force_success", "subtree"})


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        yield from _too_late(flow, node)
        yield from _rounds(flow, node)
    if flow.is_whole:
        yield from _failures(flow)
        if not any(is_inverted_guard(flow, node) for node in flow.nodes):  # it ends the query without all of that
            yield from _without_reason(flow)
            yield from _without_answer(flow)


def _too_late(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    states = flow.states(node)
    if not states:
        return
    closed = [is_exactly(state, "closed", "yes") for state in states]
    if flow.registry.kinds[node.kind].acts and (all(closed) or (node.has(*_WORK) and any(closed))):
        message = f"{node.kind!r} comes after the end of the stream: the user sees nothing of it"
        yield warning(flow, node, "after-finish", message, "put 'finish' last", removable=True)
    elif node.kind == "wait" and all(_has_reason(flow, state) for state in states):
        message = "the run has stopped before this wait, which only delays its end"
        yield warning(flow, node, "after-stop", message, "remove it, or put it before the end", removable=True)
    elif node.has(*_WORK, STOPS, ASKS_PERSON) and all(_has_reason(flow, state) for state in states):
        writers = flow.noted(states, STOPPED_BY)
        cause = f" by {said(flow, writers[0])}" if writers else ""
        if node.has(STOPS):
            message = f"this reason never counts: one was written before{cause}"
            yield warning(flow, node, "stop-ignored", message, "the first reason counts: remove one", removable=True)
        else:
            message = f"{node.kind!r} never starts: the run has stopped before{cause}"
            yield warning(flow, node, "after-stop", message, "put it before the end", removable=True)
    elif node.has(*_WORK):
        yield from _instead(flow, node)


def _instead(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Another way for when a guard with a limit of its own has tripped, which has stopped the query."""
    stopped = [state for state in flow.states(node) if _has_reason(flow, state)]
    limiting = [each for each in flow.noted(stopped, STOPPED_BY) if each.has(LIMITS_TIME, LIMITS_TURNS)]
    tripped = [guard for guard in limiting if any(value is not None for _, value in guard.settings)]
    around = {above.path for above in flow.above(node) if above.kind == "selector"}
    guard = next((each for each in tripped if any(above.path in around for above in flow.above(each))), None)
    if guard is None:
        return
    going_on = [state for state in flow.states(_way(flow, guard, node)) if not _has_reason(flow, state)]
    if all(path.startswith(FAULT) for state in going_on for path in state.facts.get(BLAME, ("",))):
        message = f"{node.kind!r} does not start when {said(flow, guard)} has tripped, which stops the run"
        hint = "limit the first way by 'timeout' or a condition, which fail without a reason"
        yield warning(flow, node, "after-stop", message, hint)


def _way(flow: Flow, earlier: NodeDefinition, node: NodeDefinition) -> NodeDefinition:
    """The child of the selector around two nodes that has the later one."""
    around = {above.path for above in flow.above(earlier)}
    way = node
    for above in flow.above(node):
        if above.kind == "selector" and above.path in around:
            break
        way = above
    return way


def _rounds(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Repetitions whose later rounds come after the end of the query."""
    states = flow.walk.further_rounds.get(node.path, ())
    if not states or not all(_has_reason(flow, state) for state in states):
        return
    if any(below.has(*_WORK) and flow.is_reached(below) for below in node.walk()):
        writers = flow.noted(states, STOPPED_BY)
        cause = f": {said(flow, writers[0])} stops the run in it" if writers else ""
        message = f"only the first round of {node.kind!r} does anything{cause}"
        stop = next((each for each in writers if each.has(STOPS) and each.place.file == flow.file), node)
        yield warning(flow, stop, "after-stop", message, f"put 'stop' after the {node.kind!r}")


def _has_reason(flow: Flow, state: State) -> bool:
    return not flow.domain(state, REASON).can_be_false


def _failures(flow: Flow) -> Iterator[Mistake]:
    """Who fails the query, other than by a fault."""
    places: set[str] = set()
    for state in (*(state for ends in _before_end(flow) for state in ends.failure), *flow.exits.failure):
        has_reason = _has_reason(flow, state)
        for node in flow.named(path for path in state.facts.get(BLAME, ()) if not path.startswith(FAULT)):
            is_guard = flow.registry.kinds[node.kind].category == "guard"
            at = _failing(flow, node)
            if _repeats_cause(node, at):
                continue
            if at.path in places or (has_reason and (not is_guard or _is_below_guards(flow, node))):
                continue
            places.add(at.path)
            if is_guard:
                kind = node.kind
                message = f"the guard {kind!r} is a step here: it is ticked once, interrupts nothing, and fails the run"
                hint = f"put it below 'guards:' of a loop: guards: [{kind}]"
                yield warning(flow, at, "guard-as-step", message, hint)
            else:
                yield _unhandled(flow, node, at)


def _repeats_cause(node: NodeDefinition, at: NodeDefinition) -> bool:
    """Whether a condition asks for what has ended an earlier way: it fails only where that ended by something else.

    `not failed` asks for it in general, and fails only where the turn has.
    """
    if node.kind != "condition" or at.kind != "selector":
        return False
    when = getattr(node.settings, "when", "true")
    if when.strip() == "not failed":
        return True
    names = set(names_in(when))
    for way in at.children["children"]:
        if node.path == way.path or node.path.startswith(way.path + "/"):
            return False
        for below in way.walk():
            asked = below.children.get("guards") or ()
            if not vars(below.settings).get("memory", True):
                asked = below.children["children"][:-1]
            when = [getattr(each.settings, "when", "true") for guard in asked for each in guard.walk()]
            if any(names & set(names_in(text)) for text in when if isinstance(text, str)):
                return True
    return False


def _is_below_guards(flow: Flow, node: NodeDefinition) -> bool:
    """Whether a node is asked at every tick, as a guard of something."""
    below = node
    for above in flow.above(node):
        if below in above.children.get("guards", ()):
            return True
        below = above
    return False


def _unhandled(flow: Flow, node: NodeDefinition, at: NodeDefinition) -> Mistake:
    if node.kind == "timeout":
        message = "when this time is over, the whole run fails: nothing handles the failure"
    elif node is at:
        message = f"when {node.kind!r} fails, the whole run fails: nothing handles it"
    else:
        message = f"{at.kind!r} also fails when nothing is wrong ({said(flow, node)}), and then the run fails"
    hint = "put it into a 'selector' with another way, or 'force_success' around it"
    return warning(flow, at, "unhandled-failure", message, hint)


def _failing(flow: Flow, node: NodeDefinition) -> NodeDefinition:
    """The node whose failure an author would handle: a selector whose last way fails, or the node itself."""
    at = flow.in_file(node)
    for above in flow.above(at):
        if above.place.file == flow.file and above.kind in {"selector", "switch", "parallel"}:
            return above
        if above.kind in {"loop", "repeat", "retry"}:
            break
    return at


def _before_end(flow: Flow) -> Iterator[EndStates]:
    """The ends of the work of a tree whose root is a `finally`, before its last steps."""
    node = flow.root
    while node.kind == "finally":
        yield from flow.walk.before_finally.get(node.path, ())
        node = node.children["child"][0]


def _without_reason(flow: Flow) -> Iterator[Mistake]:
    states = [state for state in flow.exits.success if flow.domain(state, REASON).can_be_false]
    work = [state for ends in _before_end(flow) for state in ends.success if flow.domain(state, REASON).can_be_false]
    is_explained = any(node.has(EXPLAINS_STOP) for node in flow.noted(flow.exits.success, STOPPED_BY))
    tripped = flow.noted(work if is_explained else states, BLAME)
    guards = [node for node in tripped if node.kind == "condition" and _is_below_guards(flow, node)]
    for guard in guards:
        message = "when this is false, the run ends without a reason: it is one of the guards, and writes none"
        hint = (
            "write 'stop: completed' after the loop, or a guard with a reason, which a condition may switch on: "
            "'if: { when: CONDITION, then: { turn_budget: 5 } }'"
        )
        yield warning(flow, guard, "guard-without-reason", message, hint)
    if states and not guards:
        at = _end(flow, work or states)
        message = "the run can end here without a reason"
        yield warning(flow, at, "no-reason", message, "write 'stop: completed' after it")


def _without_answer(flow: Flow) -> Iterator[Mistake]:
    for state in flow.exits.success:
        if not is_exactly(state, "answer", "no"):
            continue
        writers = flow.noted([state], STOPPED_BY)
        stops = [
            node
            for node in writers
            if node.has(EXPLAINS_STOP) or (node.has(STOPS) and getattr(node.settings, "reason", "") == "completed")
        ]
        if stops or not writers:
            at = stops[0] if stops else _end(flow, [state])
            message = (
                "the run can end here without a text for the user: there was neither a turn of the model nor a 'say'"
            )
            yield warning(flow, at, "no-answer", message, "ask the model before it (llm_turn), or add a 'say'")
            return


def _end(flow: Flow, states: Iterable[State]) -> NodeDefinition:
    """The last step of the tree on the way of these states."""
    leaves = flow.noted(states, LAST)
    node = flow.root
    while leaves and node.kind in _PASSING:
        children = [child for nodes in node.children.values() for child in nodes if child.place.file == flow.file]
        found = [child for child in children if any(f"{leaf.path}/".startswith(f"{child.path}/") for leaf in leaves)]
        if not found:
            break
        node = found[-1]
    return node
