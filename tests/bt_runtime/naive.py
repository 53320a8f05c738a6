"""A naive reading of a tick: which node decided it, from what was ticked and the statuses at its end alone.

It walks the definition, and knows the kinds by their contracts, not by their code.
"""

from collections.abc import Collection, Mapping, Sequence

from bt_runtime import NodeDefinition, Status, TickRecord, TreeDefinition

S, F, R, INVALID = Status.SUCCESS, Status.FAILURE, Status.RUNNING, Status.INVALID

PASSING_ON = {"subtree", "if", "switch", "inverter", "once", "cooldown", "repeat"}
LAST = {"sequence", "selector"}


def statuses_of(definition: TreeDefinition, records: Sequence[TickRecord]) -> Mapping[int, Status]:
    """The statuses after these ticks, by index."""
    statuses = dict.fromkeys(range(len(definition.paths)), INVALID)
    for record in records:
        statuses.update(record.changes)
    return statuses


def decided(definition: TreeDefinition, visited: Collection[int], statuses: Mapping[int, Status]) -> str:
    """The path of the node that decided a tick."""
    indices = {path: index for index, path in enumerate(definition.paths)}
    node = definition.root
    while (child := decider(node, visited, statuses, indices)) is not None:
        node = child
    return node.path


def decider(  # noqa: C901, PLR0911  a table of the kinds
    node: NodeDefinition, visited: Collection[int], statuses: Mapping[int, Status], indices: Mapping[str, int]
) -> NodeDefinition | None:
    """The child that decided a node; `None`: the node itself."""

    def status(each: NodeDefinition) -> Status:
        return statuses[indices[each.path]]

    children = {
        slot: [each for each in nodes if indices[each.path] in visited] for slot, nodes in node.children.items()
    }
    ticked = [each for nodes in children.values() for each in nodes]
    own = status(node)
    match node.kind:
        case kind if kind in LAST or kind in PASSING_ON:
            return ticked[-1] if ticked else None
        case "loop" | "guarded":
            tripped = [each for each in children["guards"] if status(each) is F] if "guards" in children else []
            return next(iter([*tripped, *children["child"]]), None)
        case "parallel":
            ended = [each for each in ticked if status(each) in (S, F)]
            alike = [each for each in ended if status(each) is own]
            return next(reversed(alike or ended or ticked), None)
        case "finally":
            child, then = children["child"], children["then"]
            if then and status(then[0]) is F:
                return then[0]
            return next(iter([*child, *then]), None)
        case "on_halt":
            return next(iter(children["child"]), None)
        case "force_success" | "force_failure":
            return ticked[0] if status(ticked[0]) is own else None
        case "retry" if own is R:
            return next((each for each in ticked if status(each) is R), None)
        case "retry":
            return next(iter(ticked), None)
        case "timeout" | "for_each" if own is F:
            return next((each for each in ticked if status(each) is F), None)
        case "timeout" | "for_each":
            return next(iter(ticked), None)
    assert not ticked, f"{node.kind} has children and is not known here"
    return None
