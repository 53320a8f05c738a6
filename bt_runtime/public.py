"""The public names of the runtime, which `bt_runtime` loads on first use."""

from bt_runtime.changes.differences import Change, Difference, difference
from bt_runtime.changes.reloading import ReloadingTrees, TreeState
from bt_runtime.drawing.rendering import render
from bt_runtime.drawing.schema import tree_schema
from bt_runtime.drawing.visiting import Visiting
from bt_runtime.kinds import BUILTIN_KEYS, BUILTIN_KINDS
from bt_runtime.kinds.standard import STANDARD, load
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.errors import (
    BlackboardError,
    BTError,
    ExpressionError,
    HotLoopError,
    KindError,
    RunError,
    StalledError,
    TreeError,
    TreeFileError,
    TreeNotFoundError,
)
from bt_runtime.language.explanation import Clause, Evaluation, Figure, Operand, Stepped, Words, Write
from bt_runtime.language.kind import (
    ActionUse,
    CallUse,
    DeliveryUse,
    ExpressionUse,
    Facts,
    HostAction,
    Key,
    KeyUse,
    Kind,
    NodeSettings,
    Slot,
    TreeUse,
    Use,
)
from bt_runtime.language.registry import Registry
from bt_runtime.language.rule import Event, EventPattern, EventType, Rule
from bt_runtime.library.named import TreeLibrary
from bt_runtime.nodes.base import Action, Condition, Decorator, Guard, Node
from bt_runtime.nodes.blackboard import Blackboard
from bt_runtime.nodes.clock import Clock, ContinuedClock, PausableClock, SystemClock
from bt_runtime.nodes.context import Host, Request, RunContext, working_node
from bt_runtime.nodes.registration import NoSettings, action_kind, condition_kind, node
from bt_runtime.record.recording import (
    CauseKind,
    ForcedResult,
    Journal,
    NodeError,
    Observer,
    Outcome,
    Recording,
    TickRecord,
    forced_path,
)
from bt_runtime.record.status import Status
from bt_runtime.replays.replaying import Replay, Replaying, Retrace, Retraced, did_the_same, event_ticks, replay
from bt_runtime.replays.tracing import Trace, Visit, deciding, path_to
from bt_runtime.rules.monitors import Monitor, Monitors
from bt_runtime.runtime.builder import LiveTree, build
from bt_runtime.runtime.run_loop import ResumedWork, RunLoop, run
from bt_runtime.runtime.stepper import Pacer, RunResult, Standing, Stepper, Supervisor
from bt_runtime.text import Edit, Fix, Mistake, Place, format_mistakes

__all__ = [
    "BUILTIN_KEYS",
    "BUILTIN_KINDS",
    "STANDARD",
    "Action",
    "ActionUse",
    "BTError",
    "Blackboard",
    "BlackboardError",
    "CallUse",
    "CauseKind",
    "Change",
    "Clause",
    "Clock",
    "Condition",
    "ContinuedClock",
    "Decorator",
    "DeliveryUse",
    "Difference",
    "Edit",
    "Evaluation",
    "Event",
    "EventPattern",
    "EventType",
    "ExpressionError",
    "ExpressionUse",
    "Facts",
    "Figure",
    "Fix",
    "ForcedResult",
    "Guard",
    "Host",
    "HostAction",
    "HotLoopError",
    "Journal",
    "Key",
    "KeyUse",
    "Kind",
    "KindError",
    "LiveTree",
    "Mistake",
    "Monitor",
    "Monitors",
    "NoSettings",
    "Node",
    "NodeDefinition",
    "NodeError",
    "NodeSettings",
    "Observer",
    "Operand",
    "Outcome",
    "Pacer",
    "PausableClock",
    "Place",
    "Recording",
    "Registry",
    "ReloadingTrees",
    "Replay",
    "Replaying",
    "Request",
    "ResumedWork",
    "Retrace",
    "Retraced",
    "Rule",
    "RunContext",
    "RunError",
    "RunLoop",
    "RunResult",
    "Slot",
    "StalledError",
    "Standing",
    "Status",
    "Stepped",
    "Stepper",
    "Supervisor",
    "SystemClock",
    "TickRecord",
    "Trace",
    "TreeDefinition",
    "TreeError",
    "TreeFileError",
    "TreeLibrary",
    "TreeNotFoundError",
    "TreeState",
    "TreeUse",
    "Use",
    "Visit",
    "Visiting",
    "Words",
    "Write",
    "action_kind",
    "build",
    "condition_kind",
    "deciding",
    "did_the_same",
    "difference",
    "event_ticks",
    "forced_path",
    "format_mistakes",
    "load",
    "node",
    "path_to",
    "render",
    "replay",
    "run",
    "tree_schema",
    "working_node",
]
