"""Checks what is reached: nodes that are never ticked, conditions without effect, repetitions that do not repeat."""

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from bt_runtime.analysis.accesses import may_change, whole_name
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.expressions.domains import Domain
from bt_runtime.analysis.flow import Flow, said, warning
from bt_runtime.analysis.states import BLAME, FAULT, REASON, STOPPED_BY, State, names_in
from bt_runtime.analysis.transfers import child_of, decided_by
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake

CODES = (
    Code(
        "unreachable",
        "The node is never ticked.",
        "A node before it always succeeds, always fails or never ends. Remove one of the two, or change their order.",
    ),
    Code(
        "condition-always-false",
        "The condition is always false at this point.",
        "The nodes that depend on it never run. Test another key or value, or remove the branch.",
    ),
    Code(
        "condition-always-true",
        "The condition is always true at this point.",
        "It decides nothing. Test another key or value, or remove the condition.",
    ),
    Code(
        "subtree-always-fails",
        "The subtree fails whenever it is ticked here.",
        "It works elsewhere, but something that it needs cannot be true here. Add what it needs before it, or "
        "remove it.",
    ),
    Code(
        "loop-never-runs",
        "`until` is already true when the loop starts, the first time or every later time.",
        "Reset the keys of `until` before the loop.",
    ),
    Code(
        "until-never-true",
        "`until` of the loop is never true.",
        "Only a guard or a failure ends the loop. Compare with a value that the child can write.",
    ),
    Code(
        "wait-over-at-once",
        "The value that `wait` waits for is always there already.",
        "An earlier answer also ends this wait. Set the key to `null` first to wait for a new value.",
    ),
    Code(
        "wait-begins-again",
        "A `wait` in a node with `memory: false` restarts at every tick and interrupts the work after it.",
        "Use `memory: true`, or move the `wait` out of the node.",
    ),
    Code(
        "repetition-of-one",
        "The `retry` or `repeat` runs its child only once, or gets the same result each time.",
        "`attempts` includes the first attempt. Raise the number, or remove the node.",
    ),
    Code(
        "once-around-if",
        "`once` contains an `if` without `else`.",
        "If the condition is false the first time, `once` keeps that result and never tests it again. Put `once` "
        "inside `then`.",
    ),
    Code(
        "cooldown-without-repetition",
        "The `cooldown` is reached only once.",
        "It only has an effect inside a loop or a repetition. Move it there, or remove it.",
    ),
    Code(
        "retry-without-failure",
        "The child of `retry` cannot fail, or fails the same way at every attempt.",
        "Remove the `retry`, or put the step that can change the result inside it. `run_tools` succeeds even if a "
        "tool fails.",
    ),
    Code(
        "timeout-without-waiting",
        "The child of `timeout` takes no time.",
        "The timeout never expires. Put it around the work that takes time, or remove it.",
    ),
    Code(
        "parallel-decided-at-once",
        "A child that takes no time decides the `parallel`, so the other children are halted in their first tick.",
        "Move that child out of the `parallel`, or require more successes.",
    ),
    Code(
        "race-never-won",
        "A child of a race for the first success never succeeds.",
        "Remove the child, or correct it so that it can succeed.",
    ),
    Code(
        "parallel-of-one",
        "The `parallel` has only one child.",
        "Use the child alone, or add the children that are missing.",
    ),
)


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    explained = {mistake.path: mistake for mistake in (*_conditions(flow), *_loops(flow), *_subtrees(flow))}
    yield from explained.values()
    dull = {path for path in explained if path}
    dull |= {node.path for node in flow.nodes if is_inverted_guard(flow, node) or _always_raises(flow, node)}
    yield from _unreached(flow, frozenset(dull))
    yield from _untils(flow)
    for node in flow.nodes:
        if flow.is_reached(node):
            yield from _repetition(flow, node)
            yield from _parallel(flow, node)
            yield from _begun_again(flow, node)


def _unreached(flow: Flow, explained: frozenset[str]) -> Iterator[Mistake]:
    """The topmost nodes that are not reached, unless another warning explains them."""
    for node in flow.nodes:
        parent = flow.parents.get(node.path)
        if flow.is_reached(node) or parent is None or not flow.is_reached(parent) or parent.path in explained:
            continue
        guards = parent.children.get("guards", ())
        tripped = next((guard for guard in guards if flow.results(guard) == {"failure"}), None)
        before = _before(parent, node) or tripped
        if before is not None and (not flow.is_reached(before) or _decisive(flow, before).path in explained):
            continue
        if before is not None and parent.kind == "selector" and _is_if_without_else(before):
            message = f"an 'if' without 'else' always succeeds, so {said(flow, node)} is never reached"
            yield warning(flow, before, "unreachable", message, "write a 'sequence' that begins with the 'condition'")
            continue
        why = _why(flow, parent, before)
        found = warning(
            flow, node, "unreachable", f"{node.kind!r} is never reached: {why}", _hint(parent), removable=True
        )
        yield _at_case(flow, node, found) if parent.kind == "switch" else found


def _at_case(flow: Flow, node: NodeDefinition, found: Mistake) -> Mistake:
    """A warning about a case of a `switch` at its value, where that stands on the line before."""
    lines = flow.tree.texts.get(flow.file, "").splitlines()
    before = lines[node.place.line - 2] if 2 <= node.place.line <= len(lines) else ""
    own = lines[node.place.line - 1][: node.place.column - 1] if before else "-"
    if own.strip() or not before.strip().endswith(":"):
        return found
    place = replace(node.place, line=node.place.line - 1, column=len(before) - len(before.lstrip()) + 1)
    return replace(found, place=place, end=None)


def _is_if_without_else(node: NodeDefinition) -> bool:
    return node.kind == "if" and not node.children.get("else")


def is_inverted_guard(flow: Flow, node: NodeDefinition) -> bool:
    """Whether a node turns the result of a guard around."""
    return node.kind in {"inverter", "force_failure"} and any(
        flow.registry.kinds[child.kind].category == "guard" for child in node.children["child"]
    )


def _always_raises(flow: Flow, node: NodeDefinition) -> bool:
    """Whether an expression of a node fails it each time; that is a warning about the expression."""
    when = vars(node.settings).get("when")
    if node.kind == "set":
        return flow.results(node) == {"failure"}
    if not isinstance(when, str) or flow.results(node) != {"failure"}:
        return False
    true, false, _ = flow.walk.split(node, when, flow.states(node))
    return not true and not false


def _subtrees(flow: Flow) -> Iterator[Mistake]:
    """Subtrees that fail wherever they are included here, although by themselves they can succeed."""
    for node in flow.nodes:
        if node.kind != "subtree" or flow.results(node) != {"failure"}:
            continue
        false = [
            below
            for below in node.walk()
            if isinstance(getattr(below.settings, "when", None), str) and flow.results(below) == {"failure"}
        ]
        why = f": {getattr(false[0].settings, 'when', '')!r} is false here, at {said(flow, false[0])}" if false else ""
        tree = getattr(node.settings, "tree", "")
        message = f"{tree!r} always fails here{why}"
        found = warning(
            flow,
            node,
            "subtree-always-fails",
            message,
            "remove it, or correct the nodes before it or its arguments",
            removable=True,
        )
        yield _at_argument(flow, node, found, false[0]) if false else found


def _at_argument(flow: Flow, node: NodeDefinition, found: Mistake, false: NodeDefinition) -> Mistake:
    """A warning about a subtree at the last argument that decides it."""
    names = [name for name in names_in(getattr(false.settings, "when", "true")) if name in false.constants]
    given = [name for name in names if name in getattr(node.settings, "arguments", {})]
    lines = flow.tree.texts.get(flow.file, "").splitlines()
    start = node.place.line
    indent = len(lines[start - 1]) - len(lines[start - 1].lstrip()) if start <= len(lines) else 0
    for number, line in reversed(list(enumerate(lines[start : start + _FARTHEST_ARGUMENT], start + 1))):
        own = len(line) - len(line.lstrip())
        name, colon, _ = line.strip().partition(":")
        ends = any(each.strip() and len(each) - len(each.lstrip()) <= indent for each in lines[start : number - 1])
        if colon and own > indent and name in given and not ends:
            return replace(found, place=replace(found.place, line=number, column=own + 1), end=None)
    return found


_FARTHEST_ARGUMENT = 30  # lines below the subtree


def _before(parent: NodeDefinition, node: NodeDefinition) -> NodeDefinition | None:
    """The sibling in front of a node."""
    siblings = next(nodes for nodes in parent.children.values() if node in nodes)
    position = siblings.index(node)
    return siblings[position - 1] if position else None


def _decisive(flow: Flow, node: NodeDefinition) -> NodeDefinition:
    """The node that decides the result of a node which has one result alone: the condition in a sequence, say."""
    results = flow.results(node) - {"waiting"}
    while True:
        children = [child for nodes in node.children.values() for child in nodes if flow.is_reached(child)]
        own = [child for child in children if child.place.file == flow.file]
        if node.kind not in {"sequence", "selector"} or not own or flow.results(own[-1]) - {"waiting"} != results:
            return node
        node = own[-1]


def _why(flow: Flow, parent: NodeDefinition, before: NodeDefinition | None) -> str:
    if before is None:
        return f"{said(flow, parent)} never ticks it"
    decisive = _decisive(flow, before)
    results = flow.results(before) - {"waiting"}
    if not results:
        return f"{said(flow, decisive)} never ends"
    always = "always succeeds" if results == {"success"} else "never succeeds"
    return f"{said(flow, decisive)} {always}"


def _hint(parent: NodeDefinition) -> str | None:
    return {
        "selector": "a selector ends with the first child that succeeds; put what always succeeds last",
        "sequence": "a sequence ends with the first child that fails, and waits for one that does not end",
    }.get(parent.kind)


def _conditions(flow: Flow) -> Iterator[Mistake]:
    for node in flow.nodes:
        when = vars(node.settings).get("when")
        if not isinstance(when, str) or not names_in(when) or not flow.is_reached(node):
            continue
        true, false, _ = flow.walk.split(node, when, flow.states(node))
        if bool(true) is bool(false):
            continue
        truth, hint = (
            ("true", "remove it, or correct it") if true else ("false", "the nodes that depend on it never run")
        )
        message = f"this is always {truth} here: {_known(flow, node, when, flow.states(node))}"
        yield at_its_line(node, warning(flow, node, f"condition-always-{truth}", message, hint))


def at_its_line(node: NodeDefinition, mistake: Mistake) -> Mistake:
    """A warning about a condition at the condition, where that stands on another line than its node."""
    placed = next((each for each in node.uses if each.use.at in {("when",), ("until",)}), None)
    if placed is None or placed.place.file != mistake.place.file or placed.place.line == mistake.place.line:
        return mistake
    return replace(mistake, place=placed.place, end=None)


def _known(flow: Flow, node: NodeDefinition, text: str, states: tuple[State, ...]) -> str:
    """What is known of the names of an expression in these states, in an author's words."""
    scope = flow.walk.scope(node)
    domains = {name: [flow.domain(state, scope.key(name)) for state in states] for name in names_in(text)}
    return "; ".join(f"{name!r} is {reduce(Domain.union, found)}" for name, found in domains.items())


def _loops(flow: Flow) -> Iterator[Mistake]:
    for node in flow.nodes:
        entries = flow.walk.entries.get(node.path)
        if entries is None:
            continue
        if entries.first_over and not entries.first_runs and not entries.again_runs:
            message = "the loop never runs: its 'until' is true before the first round"
        elif entries.again_over and not entries.again_runs:
            message = "the loop runs in the first repetition only: its 'until' stays true"
        else:
            continue
        writers = flow.noted(flow.states(node), STOPPED_BY)
        hint = f"the reason is written by {said(flow, writers[0])}" if writers else None
        found = warning(flow, node, "loop-never-runs", message, hint)
        # At the `until`, but where that is as it should be, and a reason was written before.
        yield found if getattr(node.settings, "until", None) == REASON else at_its_line(node, found)


def _untils(flow: Flow) -> Iterator[Mistake]:
    """Loops whose `until` is never true, and waits for a value that is already there."""
    for node in flow.nodes:
        placed = next((each for each in node.uses if each.use.at in {("until",), ("for",)}), None)
        results = flow.walk.until_results.get(node.path)
        if placed is not None and node.path in flow.walk.old_values and results != {True}:
            message = "an earlier value ends this wait at once when it is reached again"
            hint = "set the key to null first, to wait for a new value"
            yield replace(warning(flow, node, "wait-over-at-once", message, hint), place=placed.place, end=None)
        if placed is None or not results or len(results) > 1:
            continue
        text = getattr(node.settings, "until", None) or ""
        if node.kind == "wait" and True in results:
            message = "this ends as soon as it begins: what it waits for is already there"
            hint = "set the key to null first, to wait for a new value" if not text else "remove it, or correct it"
            yield replace(warning(flow, node, "wait-over-at-once", message, hint), place=placed.place, end=None)
        elif node.children and False in results and REASON not in names_in(text):
            states = (*flow.states(node), *flow.walk.further_rounds.get(node.path, ()))
            message = f"this is never true here: {_known(flow, node, text, states)}"
            hint = "only its guards or a failure end the loop: correct it"
            yield replace(warning(flow, node, "until-never-true", message, hint), place=placed.place, end=None)


def _begun_again(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """Waits in a node without memory, which begin again while what comes after them is running."""
    if vars(node.settings).get("memory", True):
        return
    children = node.children["children"]
    for position, child in enumerate(children[:-1]):
        later = [other for other in children[position + 1 :] if "waiting" in flow.results(other)]
        for wait in child.walk() if later and "waiting" in flow.results(child) else ():
            if wait.kind == "wait":
                message = f"this wait begins again at every tick, and then interrupts {said(flow, later[0])}"
                hint = f"remove 'memory: false' of the {node.kind}, or put the wait before it"
                yield warning(flow, wait, "wait-begins-again", message, hint)


def _repetition(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    if node.kind not in {"retry", "repeat", "cooldown", "once", "timeout"}:
        return
    child = child_of(node)
    results = flow.results(child)
    times = vars(node.settings).get("attempts" if node.kind == "retry" else "times")
    if node.kind == "retry" and "failure" not in results and "success" in results:
        message = f"{child.kind!r} cannot fail, so it is never tried again"
        is_forced = child.kind == "force_success" and child.place.file == flow.file
        hint = "remove 'retry', or test the result inside it"
        hint = "put 'force_success' around 'retry'" if is_forced else hint
        yield warning(flow, child if is_forced else node, "retry-without-failure", message, hint)
    if node.kind == "retry":
        yield from _same_failures(flow, node)
    if node.kind in {"retry", "repeat"} and isinstance(times, int) and times == 1:
        message = f"{node.kind!r} runs its child once, so it has no effect"
        yield warning(flow, node, "repetition-of-one", message, "write a higher number, or remove it")
    elif node.kind == "repeat" and all(below.kind == "condition" or below.children for below in child.walk()):
        message = "each repetition is like the first: nothing in it has an effect"
        yield warning(flow, node, "repetition-of-one", message, "remove it, or put the steps to repeat into it")
    elif node.kind == "cooldown" and flow.is_whole and not any(map(_repeats, flow.above(node))):
        message = "this is visited once, so the cooldown never has an effect"
        yield warning(flow, node, "cooldown-without-repetition", message, "put it into a loop, or remove it")
    elif node.kind == "once" and _is_if_without_else(child):
        message = "if the condition is false the first time, 'once' keeps that result, and never tests it again"
        hint = "put 'once' below 'then': if: { when: …, then: { once: … } }"
        yield warning(flow, node, "once-around-if", message, hint)
    elif node.kind == "timeout" and "waiting" not in results and flow.is_reached(child):
        message = f"{child.kind!r} takes no time, so the timeout never trips"
        yield warning(flow, node, "timeout-without-waiting", message, "remove 'timeout'")


def _same_failures(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A `retry` of conditions whose values do not change between the attempts."""
    states = flow.walk.further_rounds.get(node.path, ())
    blamed = {path for state in states for path in state.facts.get(BLAME, (FAULT,))}
    changing = may_change(flow, node)
    if not blamed or changing is None or any(path.startswith(FAULT) for path in blamed):
        return
    conditions = flow.named(blamed)
    read = {whole_name(each, name) for each in conditions for name in names_in(getattr(each.settings, "when", "true"))}
    if read and not read & changing and all(each.kind == "condition" for each in conditions):
        words = ", ".join(map(repr, sorted(read)))
        message = f"{said(flow, conditions[0])} fails the same way at each attempt: no retried step changes {words}"
        yield warning(flow, node, "retry-without-failure", message, "put what changes it into the child of 'retry'")


def _repeats(node: NodeDefinition) -> bool:
    """Whether a node may tick its child again after its end."""
    return node.kind in {"loop", "repeat", "retry", "for_each"} or not getattr(node.settings, "memory", True)


def _parallel(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    if node.kind != "parallel":
        return
    children = node.children["children"]
    if len(children) == 1:
        message = "a parallel with one child is the same as that child"
        yield warning(flow, node, "parallel-of-one", message, "remove 'parallel', or add the other children")
        return
    if getattr(node.settings, "until", None) == "first_success":
        for child in children:
            if "failure" in flow.results(child) and "success" not in flow.results(child):
                message = f"{child.kind!r} never succeeds, so it never wins this race"
                yield warning(flow, child, "race-never-won", message, "remove it, or correct it", removable=True)
    needed, ends_at_failure = decided_by(node)
    instant = [child for child in children if "waiting" not in flow.results(child)]
    deciding = [child for child in instant if "success" in flow.results(child) or ends_at_failure]
    if len(deciding) >= needed and len(instant) < len(children):
        halted = next(child for child in children if child not in instant)
        message = (
            f"{said(flow, deciding[0])} takes no time and decides the parallel, so {said(flow, halted)} is halted in "
            "its first tick"
        )
        yield warning(
            flow, deciding[0], "parallel-decided-at-once", message, "put it into a sequence with the parallel"
        )
