"""Nodes and expressions of a tree, with their places in the files."""

from collections.abc import Mapping

from bt_runtime import Evaluation, ExpressionUse, NodeDefinition, Registry, TreeDefinition
from bt_runtime.rendering.labels import children_of, label_of
from oracle.encoding import from_json, to_json
from oracle.histories.layout import source_rows
from oracle.histories.model import (
    ClauseFacts,
    EvaluationFacts,
    KeyFacts,
    NodeFacts,
    OperandFacts,
    TreeFacts,
)
from oracle.histories.view import with_verdict
from oracle.storage import TreeVersion


def tree_facts(definition: TreeDefinition, *, registry: Registry) -> TreeFacts:
    """A version of a tree, with a row for each node."""
    nodes = definition.nodes()
    indices = {id(node): index for index, node in enumerate(nodes)}
    above: dict[int, tuple[int, str]] = {}
    for index, node in enumerate(nodes):
        for slot, child in children_of(node):
            above[indices[id(child)]] = (index, slot)
    rows: list[NodeFacts] = []
    for index, node in enumerate(nodes):
        parent, slot = above.get(index, (None, ""))
        kind = registry.kinds[node.kind]
        rows.append(
            NodeFacts(
                index,
                node.path,
                node.kind,
                kind.category,
                node.name,
                parent,
                slot,
                label_of(node).line,
                node.place.file,
                node.place.line,
                node.place.column,
                kind.summary,
                node.title,
            )
        )
    layout = source_rows(rows, definition.texts)
    return TreeFacts(definition.name, definition.sha, definition.file, dict(definition.texts), tuple(rows), layout)


def stored_tree_facts(version: TreeVersion) -> TreeFacts:
    """A version of a tree that cannot be read any more: the paths of its nodes and its texts, as they were stored."""
    indices = {path: index for index, path in enumerate(version.nodes)}
    rows = []
    for index, path in enumerate(version.nodes):
        above, _, label = path.rpartition("/")
        rows.append(NodeFacts(index, path, "", "", None, indices.get(above), "", label, "", 0, 0))
    return TreeFacts(
        version.name, version.sha, "", {f"{name}.yaml": text for name, text in version.source.items()}, tuple(rows)
    )


def key_facts(definition: TreeDefinition, values: Mapping[str, object]) -> list[KeyFacts]:
    """The keys of a tree, with the values that they have."""
    return [
        KeyFacts(key.name, key.type, key.description, key.read_only, _copied(values.get(key.name, key.default)))
        for key in definition.keys.values()
    ]


def _copied(value: object) -> object:
    """A value as JSON data; its text, if it is something else."""
    try:
        return from_json(to_json(value))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def as_json(value: object) -> object:
    """A blackboard value as a record has it: a list, where the agent's own keys have a tuple."""
    return list(value) if isinstance(value, tuple) else value


def evaluation_facts(node: NodeDefinition, evaluation: Evaluation) -> EvaluationFacts:
    """An evaluation, with the place of its text."""
    placed = next(
        (each for each in node.uses if isinstance(each.use, ExpressionUse) and each.use.text == evaluation.text),
        None,
    )
    setting = ".".join(map(str, placed.use.at)) if placed and isinstance(placed.use, ExpressionUse) else ""
    place = placed.place if placed else node.place
    facts = EvaluationFacts(
        evaluation.text,
        setting,
        place.line,
        place.column if placed and placed.is_verbatim else None,
        as_json(evaluation.value),
        evaluation.error,
        tuple(ClauseFacts(*clause) for clause in evaluation.clauses),
        tuple(OperandFacts(name, as_json(value), at) for name, value, at in evaluation.operands),
    )
    return with_verdict(facts)
