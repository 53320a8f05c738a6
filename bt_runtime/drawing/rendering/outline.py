"""The tree as an outline for terminals and logs."""

from bt_runtime.drawing.rendering.labels import SYMBOLS, Statuses, children_of, label_of, status_of
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.rule import Rule
from bt_runtime.text import visible


def render_text(tree: TreeDefinition, statuses: Statuses | None = None) -> str:
    """One line per node, indented by depth; with statuses, each begins with [✓], [✗], [*] or [-]. The rules follow.

    ```
    greet: Says hello.

    sequence
    ├── condition (count < 2)
    └── loop (until=count > 9)
        ├── guards: turn_budget
        └── child: greet_user

    rules:
    polite (greet.yaml:9, refuse): Nothing is said twice.
    ```
    """
    name = f"{tree.name} (internal)" if tree.internal else tree.name
    title = f"{name}: {visible(tree.description)}" if tree.description else name
    lines = [title, ""]
    _append(lines, tree.root, statuses, slot="", first="", rest="")
    if tree.rules:
        lines += ["", "rules:", *map(_rule, tree.rules)]
    return "\n".join(lines)


def _rule(rule: Rule) -> str:
    """A rule with the file that declares it: those of subtrees hold as well."""
    file = rule.place.file.replace("\\", "/").rpartition("/")[2]
    enforced = f", {rule.enforce}" if rule.enforce else ""
    return f"{rule.name} ({visible(file)}:{rule.place.line}{enforced}): {visible(rule.text)}"


def _append(
    lines: list[str], node: NodeDefinition, statuses: Statuses | None, *, slot: str, first: str, rest: str
) -> None:
    status = status_of(node, statuses)
    mark = f"[{SYMBOLS[status]}] " if status else ""
    lines.append(f"{first}{mark}{slot + ': ' if slot else ''}{label_of(node).line}")
    children = list(children_of(node))
    for position, (name, child) in enumerate(children):
        last = position == len(children) - 1
        _append(
            lines,
            child,
            statuses,
            slot=name,
            first=rest + ("└── " if last else "├── "),
            rest=rest + ("    " if last else "│   "),
        )
