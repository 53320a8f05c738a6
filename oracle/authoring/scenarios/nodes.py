"""How scenarios name nodes: by a path, or by some of its labels in order, the last one last.

A `subtree` without a name of its own is also named by its tree: `fallback/give_up`.
"""

from bt_runtime import NodeDefinition, TreeDefinition


def find_nodes(name: str, tree: TreeDefinition) -> tuple[str, ...]:
    """The paths that a name stands for: `fallback/give_up` for every `give_up` below something named `fallback`."""
    if name in tree.paths:
        return (name,)
    wanted = name.split("/")
    return tuple(path for path, labels in _labelled(tree.root, ()) if _has(labels, wanted))


def names_of(tree: TreeDefinition) -> set[str]:
    """The labels that names are made of."""
    return {label for _, labels in _labelled(tree.root, ()) for each in labels for label in each}


def short_name(node: NodeDefinition) -> str:
    """The last label of a node; of a `subtree`, its tree."""
    return str(getattr(node.settings, "tree", node.label)) if node.kind == "subtree" else node.label


def _labelled(node: NodeDefinition, above: tuple[frozenset[str], ...]) -> list[tuple[str, tuple[frozenset[str], ...]]]:
    labels = (*above, frozenset({node.label, short_name(node)}))
    found = [(node.path, labels)]
    for children in node.children.values():
        for child in children:
            found += _labelled(child, labels)
    return found


def _has(labels: tuple[frozenset[str], ...], wanted: list[str]) -> bool:
    if wanted[-1] not in labels[-1]:
        return False
    rest = iter(labels)
    return all(any(label in each for each in rest) for label in wanted)
