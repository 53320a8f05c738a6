"""The node kinds of the runtime, by subject, and the blackboard keys that they need."""

from typing import TYPE_CHECKING, Any

from bt_runtime.language.kind import Key
from bt_runtime.language.registry import KindPlace, kind_places, load_kinds

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from bt_runtime.language.kind import Kind

    BUILTIN_KINDS: tuple[Kind, ...]

KIND_PLACES = (
    *kind_places(
        __name__,
        [
            ("composites", "sequence selector parallel"),
            ("choices", "if switch"),
            ("decorators", "inverter force_success force_failure"),
            ("rounds", "retry repeat for_each"),
            ("guarded", "loop guarded"),
            ("times", "timeout cooldown"),
            ("decorators", "once"),
            ("endings", "finally on_halt"),
            ("subtree", "subtree"),
            ("leaves", "condition set"),
            ("action", "action"),
            ("leaves", "notify"),
            ("times", "wait"),
        ],
    ),
    KindPlace("py_trees", "bt_runtime.behaviours.kind"),
)
"""In the order of the palette. A new kind is a class in a module here, and its name in this list."""

BUILTIN_KEYS: tuple[Key, ...] = (
    Key(
        "termination_reason",
        "str",
        "",
        "Why the run stops; the first reason counts. Empty while it continues.",
        read_only=True,
    ),
    Key(
        "cancel_requested",
        "bool",
        default=False,
        description="A cancel was requested.",
        read_only=True,
        deliverable=True,
    ),
)


def __getattr__(name: str) -> Any:  # noqa: ANN401  the one name
    if name != "BUILTIN_KINDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load_kinds(KIND_PLACES)
