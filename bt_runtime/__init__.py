"""An event-driven behavior-tree runtime on py_trees: trees are YAML files, runs are recorded tick by tick.

    definition = bt_runtime.load("trees/demo.yaml")
    tree = bt_runtime.build(definition)
    result = await bt_runtime.run(tree)

It knows no model, no HTTP and no prompt. Node kinds and blackboard keys come from a `Registry`; `BUILTIN_KINDS` are the
kinds that every tree has, and `@node` makes more.

The public names are those of `bt_runtime.public`, which is loaded on first use; so importing `bt_runtime.text` loads
nothing else, and a name of `_LIGHT` its own module alone. A module must not have a public name's name: it would hide
that name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from bt_runtime.public import *  # noqa: F403
    from bt_runtime.public import __all__  # noqa: F401

_LIGHT = {
    "CauseKind": "bt_runtime.record.recording",
    "Clock": "bt_runtime.nodes.clock",
    "PausableClock": "bt_runtime.nodes.clock",
    "SystemClock": "bt_runtime.nodes.clock",
}
"""What is used where no tree is: loading all takes a quarter of a second."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    if name in _LIGHT:
        return getattr(import_module(_LIGHT[name]), name)
    public = import_module("bt_runtime.public")
    if name != "__all__" and name not in public.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(public, name)


def __dir__() -> list[str]:
    return sorted(import_module("bt_runtime.public").__all__)
