"""Nodes, expressions and visits as facts, with their places in the files."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from bt_runtime import (
    Evaluation,
    ExpressionUse,
    NodeDefinition,
    Registry,
    Status,
    TreeDefinition,
    TreeFileError,
    TreeNotFoundError,
    Visit,
)
from bt_runtime.drawing.labels import children_of, label_of
from bt_runtime.library.named import read_sources
from bt_runtime.text.data import dataclass
from oracle.core.encoding import from_json, to_json
from oracle.replay.histories.model import (
    ClauseFacts,
    EvaluationFacts,
    FigureFacts,
    KeyFacts,
    NodeFacts,
    OperandFacts,
    StatusName,
    TreeFacts,
    VisitFacts,
)
from oracle.replay.histories.view import source_rows, with_verdict
from oracle.runs.storage.trees import TreeVersion

STATUS_NAMES: Mapping[Status, StatusName] = {
    Status.SUCCESS: "SUCCESS",
    Status.FAILURE: "FAILURE",
    Status.RUNNING: "RUNNING",
    Status.INVALID: "INVALID",
}
_PLAIN = frozenset({bool, int, float, str, type(None)})


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


class Visits:
    """Makes facts of the visits of a trace; one that repeats what its node did before is kept once.

    Args:
        nodes: the nodes of the tree, each at its index.
    """

    def __init__(self, nodes: Sequence[NodeDefinition]) -> None:
        self._nodes = nodes
        self._last: dict[int, tuple[Visit, VisitFacts]] = {}

    def facts(self, visit: Visit) -> VisitFacts:
        """The facts of a visit: those of the last one of its node, if it is the same again."""
        known = self._last.get(visit.index)
        if known is not None and (visit is known[0] or _is_same(visit, known[0])):
            return known[1]
        words, node = visit.words, self._nodes[visit.index]
        facts = VisitFacts(
            visit.index,
            STATUS_NAMES[visit.status],
            visit.parent,
            visit.decider,
            words.text,
            words.sentence,
            tuple(FigureFacts(*figure) for figure in words.figures),
            tuple(evaluation_facts(node, each) for each in visit.evaluations),
            tuple((key, as_json(value)) for key, value in visit.writes),
            tuple(each.error for each in visit.errors),
        )
        self._last[visit.index] = (visit, facts)
        return facts


def _is_same(visit: Visit, before: Visit) -> bool:
    """Whether two visits have the same facts; 1, 1.0 and true are equal, and not the same."""
    return visit == before and all(
        one is other or (type(one) is type(other) and type(one) in _PLAIN)
        for one, other in zip(_values(visit), _values(before), strict=True)
    )


def _values(visit: Visit) -> Iterator[object]:
    for _, value in visit.writes:
        yield value
    for evaluation in visit.evaluations:
        yield evaluation.value
        for operand in evaluation.operands:
            yield operand.value


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """A version of a tree.

    Args:
        facts: what is known of it; `None`: nothing.
        definition: that can be run; `None`: it cannot.
        problem: why not; empty if it can.
    """

    facts: TreeFacts | None = None
    definition: TreeDefinition | None = None
    problem: str = ""


def read_version(version: TreeVersion | None, *, registry: Registry) -> ReadVersion:
    """Read a version with the kinds of today; never raises."""
    if version is None:
        return ReadVersion(problem="its version of the tree is not in the store any more")
    try:
        return _read(version.sha, version.name, version.nodes, tuple(version.source.items()), registry)
    except TypeError as error:  # of a damaged row
        return ReadVersion(problem=f"its version of the tree cannot be read any more: {error}")


@lru_cache(maxsize=16)
def _read(
    sha: str, name: str, nodes: tuple[str, ...], source: tuple[tuple[str, str], ...], registry: Registry
) -> ReadVersion:
    """The same; kept, because most runs that are looked at have one of few versions."""
    version = TreeVersion(sha, name, nodes, dict(source))
    try:
        definition = read_sources(version.source, name=version.name, registry=registry)
        facts = tree_facts(definition, registry=registry)
    except (TreeFileError, TreeNotFoundError) as error:
        problem = str(error).partition("\n")[0]
    except Exception as error:  # noqa: BLE001  of a damaged row
        problem = type(error).__name__
    else:
        if definition.paths == version.nodes:
            return ReadVersion(facts, definition)
        problem = "it has other nodes when it is read today"
    return ReadVersion(
        stored_tree_facts(version), problem=f"its version of the tree cannot be read any more: {problem}"
    )


def definition_of(tree: TreeFacts, *, registry: Registry) -> TreeDefinition | None:
    """A version of a tree as a history has it; `None` if it cannot be read."""
    sources = {file.removesuffix(".yaml"): text for file, text in tree.files.items()}
    return read_version(
        TreeVersion(tree.version, tree.name, tuple(node.path for node in tree.nodes), sources), registry=registry
    ).definition
