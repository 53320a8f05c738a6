"""An event-driven behavior-tree runtime on py_trees: trees are YAML files, runs are recorded tick by tick.

    definition = bt_runtime.load("trees/demo.yaml")
    tree = bt_runtime.build(definition)
    result = await bt_runtime.run(tree)

It knows no model, no HTTP and no prompt. Node kinds and blackboard keys come from a `Registry`; `BUILTIN_KINDS` are the
kinds that every tree has, and `@node` makes more.

`bt_runtime.public` lists the public names. Each is imported on first use, so importing `bt_runtime.text`, or an error
class, loads no node kinds and no drawing code. A module must not have the same name as a public name: it would hide
that name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from bt_runtime.public import *  # noqa: F403
    from bt_runtime.public import __all__  # noqa: F401

_HOMES = {
    "bt_runtime.changes.differences": "Change Difference difference",
    "bt_runtime.changes.reloading": "ReloadingTrees TreeState",
    "bt_runtime.drawing.rendering": "render",
    "bt_runtime.drawing.schema": "tree_schema",
    "bt_runtime.drawing.visiting": "Visiting",
    "bt_runtime.kinds": "BUILTIN_KEYS BUILTIN_KINDS",
    "bt_runtime.kinds.standard": "STANDARD load",
    "bt_runtime.language.definition": "NodeDefinition TreeDefinition",
    "bt_runtime.language.errors": "BTError BlackboardError ExpressionError HotLoopError KindError RunError "
    "StalledError TreeError TreeFileError TreeNotFoundError",
    "bt_runtime.language.explanation": "Clause Evaluation Figure Operand Stepped Words Write",
    "bt_runtime.language.kind": "ActionUse CallUse DeliveryUse ExpressionUse Facts HostAction Key KeyUse Kind "
    "NodeSettings Slot TreeUse Use",
    "bt_runtime.language.registry": "Registry",
    "bt_runtime.language.rule": "Event EventPattern EventType Rule",
    "bt_runtime.library.named": "TreeLibrary",
    "bt_runtime.nodes.base": "Action Condition Decorator Guard Node",
    "bt_runtime.nodes.blackboard": "Blackboard",
    "bt_runtime.nodes.clock": "Clock ContinuedClock PausableClock SystemClock",
    "bt_runtime.nodes.context": "Host Request RunContext working_node",
    "bt_runtime.nodes.registration": "NoSettings action_kind condition_kind node",
    "bt_runtime.record.recording": "CauseKind ForcedResult Journal NodeError Observer Outcome Recording TickRecord "
    "forced_path",
    "bt_runtime.record.status": "Status",
    "bt_runtime.replays.replaying": "Replay Replaying Retrace Retraced did_the_same event_ticks replay",
    "bt_runtime.replays.tracing": "Trace Visit deciding path_to",
    "bt_runtime.rules.monitors": "Monitor Monitors",
    "bt_runtime.runtime.builder": "LiveTree build",
    "bt_runtime.runtime.run_loop": "ResumedWork RunLoop run",
    "bt_runtime.runtime.stepper": "Pacer RunResult Standing Stepper Supervisor",
    "bt_runtime.text": "Edit Fix Mistake Place format_mistakes",
}
"""The public names by module, separated by spaces; a test compares them with `bt_runtime.public`."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    if name == "__all__":
        return sorted(_HOME_OF)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
