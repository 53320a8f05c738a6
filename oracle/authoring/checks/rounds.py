"""Judges what comes again in each later round of a loop: notices, extra turns, and ways that never end it."""

import ast
from collections.abc import Iterator

from bt_runtime.analysis.accesses import may_change
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, said, steps_of, warning
from bt_runtime.analysis.reaching import at_its_line
from bt_runtime.analysis.states import REASON, names_in
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.syntax import parse
from bt_runtime.language.kind import NOTIFIES
from bt_runtime.text import Mistake
from bt_runtime.text.data import dataclass
from oracle.agent.nodes.roles import ASKS_MODEL, SPEAKS, WORK

CODES = (
    Code(
        "said-again",
        "A notice is repeated in every later round, because its condition stays true.",
        "Put `once` around the notice, or test the round in which the condition becomes true.",
    ),
    Code(
        "once-around-round",
        "`once` contains all the work of a loop's rounds.",
        "Later rounds repeat the first result and do nothing. Put `once` around a single step, or remove it.",
    ),
    Code(
        "flag-never-reset",
        "A key that requests an extra turn is never reset.",
        "Every later round has the extra turn too. Set the key to `false` after use.",
    ),
)
_GROWING = frozenset(
    {"turn", "tokens_used", "sources", "tools_tried", "groups_tried", "groups_found", "strategies_tried"}
)
"""Keys that only become more, or longer, in a query."""
_SPOKEN = (NOTIFIES, SPEAKS)
_QUIET = frozenset({"condition", "set", "note", "sequence", "selector", "if", "force_success"})
_FAILING = frozenset({"condition", "force_failure", "inverter", "cooldown", "guarded", "timeout", "wait"})
_ONCE = frozenset({"once", "cooldown", "on_halt", "for_each", "repeat", "retry", "parallel", "switch", "subtree"})
_STUCK = frozenset({"stuck", "context_sufficient", "delegate"})


@dataclass(frozen=True, slots=True)
class _Governed:
    """A node in the round of a loop, which it reaches where some conditions are true.

    Args:
        way: the outermost node that the conditions decide about.
        whens: the conditions.
    """

    loop: NodeDefinition
    way: NodeDefinition
    whens: tuple[str, ...]


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        if not flow.is_reached(node):
            continue
        if node.has(*_SPOKEN):
            yield from _said_again(flow, node)
        elif node.has(ASKS_MODEL):
            yield from _further_turn(flow, node)
        elif node.kind == "loop" and flow.walk.further_rounds.get(node.path):
            yield from _endless(flow, node)
            yield from _idle(flow, node)


# --- notices and marks


def _said_again(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    text = str(getattr(node.settings, "message", None) or getattr(node.settings, "text", ""))
    found = _governed(flow, node)
    if found is None or "{" in text:
        return
    if any(below.kind not in _QUIET and not below.has(*_SPOKEN) for below in found.way.walk()):
        return
    parts = {when: _parts(parse(when)) for when in found.whens}
    growing = [when for when in found.whens if not all(_is_constant(flow, found.loop, part) for part in parts[when])]
    if growing and all(_lasts(flow, found.loop, when) for when in found.whens) and _comes_again(flow, found):
        message = f"{growing[0]!r} stays true, so this is said again in each later round"
        yield warning(flow, node, "said-again", message, "put 'once' around it")


def _further_turn(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    found = _governed(flow, node)
    if found is None or found.way.children.get("else"):
        return
    marks = [when for when in found.whens if _is_mark(flow, found.loop, when)]
    others = [each for each in found.loop.walk() if each.has(ASKS_MODEL) and not each.path.startswith(found.way.path)]
    if marks and others and all(_lasts(flow, found.loop, when) for when in found.whens) and _comes_again(flow, found):
        message = f"nothing sets {marks[0]!r} to false again, so this turn comes in each later round"
        hint = f"write 'set: {{ {marks[0]}: false }}' after it"
        yield at_its_line(found.way, warning(flow, found.way, "flag-never-reset", message, hint))


def _governed(flow: Flow, node: NodeDefinition) -> _Governed | None:
    """The loop that repeats a node, and what it asks before; `None` if something else bounds how often it comes."""
    whens: list[str] = []
    way, below = node, node
    for above in flow.above(node):
        if above.kind == "loop":
            return _Governed(above, way, tuple(whens)) if whens else None
        if above.kind in _ONCE or below in above.children.get("else", ()):
            return None
        before: tuple[NodeDefinition, ...] = ()
        if above.kind in {"sequence", "selector"}:
            children = above.children["children"]
            before = children[: children.index(below)]
        if above.kind == "selector" and before:
            return None
        if above.kind == "if":
            whens.append(str(getattr(above.settings, "when", "true")))
            way = above
        conditions = [str(getattr(each.settings, "when", "true")) for each in before if each.kind == "condition"]
        if conditions:
            whens += conditions
            way = above
        below = above
    return None


def _comes_again(flow: Flow, found: _Governed) -> bool:
    """Whether the loop goes on behind the way, in rounds in which all conditions may still be true."""
    written = flow.walk.written(found.way)
    names = {name for when in found.whens for name in names_in(when)}
    until = getattr(found.loop.settings, "until", None)
    if written.everything or REASON in written.keys or names & written.keys:
        return False
    if isinstance(until, str) and set(names_in(until)) & (names | written.keys):
        return False
    states = flow.walk.further_rounds.get(found.loop.path, ())
    return bool(states) and all(flow.walk.split(found.way, when, states)[0] for when in found.whens)


def _lasts(flow: Flow, loop: NodeDefinition, when: str) -> bool:
    """Whether a condition stays true once it is."""
    return all(_is_lasting(flow, loop, part) for part in _parts(parse(when)))


def _parts(node: ast.expr) -> list[ast.expr]:
    """The parts of a condition that must all be true."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in _parts(value)]
    return [node]


def _is_lasting(flow: Flow, loop: NodeDefinition, part: ast.expr) -> bool:
    if _is_constant(flow, loop, part):
        return True
    match part:
        case ast.Name(id=name):
            return _is_mark(flow, loop, name)
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
            return _grows(flow, left) and _is_fixed(flow, loop, left, right)
        case ast.Compare(left=right, ops=[ast.Lt() | ast.LtE()], comparators=[left]) if _grows(flow, left):
            return _is_fixed(flow, loop, left, right)
        case ast.Compare(left=ast.Name(id="seconds_left"), ops=[ast.Lt() | ast.LtE()], comparators=[right]):
            return isinstance(right, ast.Constant)
    return False


def _grows(flow: Flow, part: ast.expr) -> bool:
    match part:
        case ast.Name(id=name):
            return name in _GROWING or _only_counts(flow, name)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name in _GROWING
        case ast.BinOp(op=ast.Div(), left=ast.Name(id=name), right=ast.Name(id="token_budget" | "turn_limit")):
            return name in _GROWING
    return False


def _is_fixed(flow: Flow, loop: NodeDefinition, grown: ast.expr, right: ast.expr) -> bool:
    """Whether the bound of what grows stays as it is, and leaves several rounds."""
    match right:
        case ast.Constant(value=int() | float() as value):
            bound = flow.walk.partition.known.bounds.get("turn")
            most = bound.numbers.most if bound is not None and bound.numbers is not None else None
            return not (isinstance(grown, ast.Name) and grown.id == "turn" and most is not None and value + 2 > most)
        case ast.BinOp(op=ast.Mult(), left=left, right=other):
            return {type(left), type(other)} == {ast.Constant, ast.Name} and _is_constant(flow, loop, right)
    return False


def _only_counts(flow: Flow, name: str) -> bool:
    """Whether an own key is only added to."""
    values = _written(flow, name)
    return bool(values) and all(value == f"{name} + 1" for value in values)


def _is_mark(flow: Flow, loop: NodeDefinition, name: str) -> bool:
    """Whether an own key is false at first and only ever set to true, in the loop."""
    key = flow.tree.keys.get(name)
    if key is None or key.type != "bool" or key.default is not False or key.deliverable or key.private:
        return False
    values = _written(flow, name)
    return (
        bool(values)
        and all(value in {True, "true"} for value in values)
        and name in flow.walk.written(loop).keys
        and not any(
            name in flow.walk.written(node).keys
            for node in flow.all_nodes.values()
            if not node.children and node.kind != "set"
        )
    )


def _written(flow: Flow, name: str) -> list[object]:
    """What the `set` nodes of the tree write to a key."""
    return [
        node.settings.values[name]  # type: ignore[attr-defined]
        for node in flow.all_nodes.values()
        if node.kind == "set" and name in getattr(node.settings, "values", {})
    ]


def _is_constant(flow: Flow, loop: NodeDefinition, part: ast.expr) -> bool:
    changing = may_change(flow, loop)
    return changing is not None and not changing & set(names_in(ast.unparse(part)))


def _idle(flow: Flow, loop: NodeDefinition) -> Iterator[Mistake]:
    """Rounds that do nothing, because all work is below a `once`."""
    work = [below for below in loop.walk() if below.kind == "wait" or below.has(*WORK)]
    around = [
        next((above for above in flow.above(each) if above is loop or above.kind == "once"), loop) for each in work
    ]
    if work and loop not in around:
        message = f"the later rounds of {said(flow, loop)} do nothing: only the first one does this"
        yield warning(flow, around[0], "once-around-round", message, "put 'once' around what is to be done once")


# --- ways that never end a loop


def _endless(flow: Flow, loop: NodeDefinition) -> Iterator[Mistake]:
    changing = may_change(flow, loop)
    if changing is None:
        return
    steps = tuple(steps_of(loop.children["child"][0]))
    for at, step in enumerate(steps):
        others = (*steps[:at], *steps[at + 1 :])
        for way, names in _ways(step):
            turn = next((each for each in way.walk() if each.has(ASKS_MODEL) and flow.is_reached(each)), None)
            is_chosen_for_good = bool(names) and not names & changing
            if turn is not None and is_chosen_for_good and not _may_end(flow, loop, (*others, *steps_of(way))):
                message = (
                    f"on this path nothing ends {said(flow, loop)}: the model is asked again until a limit stops it"
                )
                yield warning(flow, turn, "turns-without-end", message, "write 'stop: completed' after it")
        if step.kind == "selector" and any(each.has(ASKS_MODEL) for each in steps[:at]):
            yield from _swallowed(flow, loop, step)


def _ways(node: NodeDefinition) -> Iterator[tuple[NodeDefinition, set[str]]]:
    """The ways between which a node chooses, each with the keys that decide."""
    if node.kind in {"if", "switch"}:
        text = getattr(node.settings, "when", None) or getattr(node.settings, "value", None)
        for children in node.children.values():
            for child in children:
                yield child, set(names_in(text)) if isinstance(text, str) else set()
    elif node.kind == "selector":
        for child in node.children["children"]:
            first, *others = steps_of(child)
            if first.kind == "condition" and others and not any(each.kind in _FAILING for each in others):
                yield child, set(names_in(str(getattr(first.settings, "when", "true"))))


def _may_end(flow: Flow, loop: NodeDefinition, steps: tuple[NodeDefinition, ...]) -> bool:
    """Whether one of the steps of a round may end the loop, other than a guard on the whole query."""
    until = getattr(loop.settings, "until", None)
    wanted = set(names_in(until)) if isinstance(until, str) else set()
    for position, step in enumerate(steps):
        written = flow.walk.written(step)
        if written.everything or written.keys & (wanted | {REASON}):
            return True
        has_chosen_way = all(each.kind != "condition" for each in steps[:position])
        if step.kind in _FAILING and not (step.kind == "condition" and has_chosen_way):
            return True
    return False


def _swallowed(flow: Flow, loop: NodeDefinition, selector: NodeDefinition) -> Iterator[Mistake]:
    """A way for a signal that neither stops nor asks for anything, and so keeps the signal from its other ways."""
    if getattr(loop.settings, "until", None) != REASON:
        return
    for way in selector.children["children"]:
        first, *others = steps_of(way)
        when = str(getattr(first.settings, "when", "")) if first.kind == "condition" else ""
        if others and all(each.has(*_SPOKEN) for each in others) and any(map(_is_end, _parts(parse(when)))):
            message = f"after this, nothing ends {said(flow, loop)}, and the model is asked again as before"
            yield warning(flow, others[-1], "turns-without-end", message, "write 'stop' after it, or grant a turn")


def _is_end(part: ast.expr) -> bool:
    match part:
        case ast.Compare(left=ast.Name(id="signal"), ops=[ast.Eq()], comparators=[ast.Constant(value=value)]):
            return value in _STUCK
    return False
