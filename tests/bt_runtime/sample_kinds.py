"""Node kinds for tests of the reading half; like the built-in ones in shape, without any behaviour."""

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from bt_runtime.language.kind import ExpressionUse, Key, KeyUse, Kind, NodeSettings, Slot, TreeUse, Use
from bt_runtime.language.registry import Registry


class NoSettings(NodeSettings):
    """None."""


class MemorySettings(NodeSettings):
    memory: bool = True


class ParallelSettings(NodeSettings):
    success: Literal["all", "one"] | int = "all"
    max_concurrent: int | None = Field(default=None, ge=1)


class RetrySettings(NodeSettings):
    attempts: int = Field(ge=1, le=100)
    backoff_s: float = Field(default=0.0, ge=0)


class LoopSettings(NodeSettings):
    until: str | None = None

    def uses(self) -> Iterator[Use]:
        if self.until is not None:
            yield ExpressionUse(("until",), self.until)


class ConditionSettings(NodeSettings):
    when: str

    def uses(self) -> Iterator[Use]:
        yield ExpressionUse(("when",), self.when)


class SetSettings(NodeSettings):
    values: dict[str, str | int | float | bool | None] = Field(min_length=1)

    def uses(self) -> Iterator[Use]:
        for key, value in self.values.items():
            yield KeyUse(("values", key), key, "write")
            if isinstance(value, str):
                yield ExpressionUse(("values", key), value)


class SubtreeSettings(NodeSettings):
    tree: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")

    def uses(self) -> Iterator[Use]:
        yield TreeUse(("tree",), self.tree, self.arguments)


class Header(NodeSettings):
    title: str = Field(min_length=2, max_length=20, pattern="^[a-z]+$")
    level: int = Field(default=1, gt=0, lt=7)


class TurnSettings(NodeSettings):
    timeout_s: float = Field(default=120.0, gt=0)
    model: str | None = None
    tools: tuple[str, ...] = ()
    stream: bool = True
    header: Header | None = None
    effort: Literal["low", "medium", "high"] = "medium"

    @model_validator(mode="after")
    def _no_tools_without_stream(self) -> "TurnSettings":
        if self.tools and not self.stream:
            raise ValueError("tools need stream")
        return self


class NotifySettings(NodeSettings):
    message: str


CHILD = (Slot("child", many=False),)
CHILDREN = (Slot("children", many=True),)

KINDS = (
    Kind("sequence", "composite", MemorySettings, CHILDREN, "children", doc="Children in order.\n\nMore."),
    Kind("selector", "composite", MemorySettings, CHILDREN, "children", doc="The first child that succeeds."),
    Kind("parallel", "composite", ParallelSettings, CHILDREN, "children", doc="Children side by side."),
    Kind("inverter", "decorator", NoSettings, CHILD, "child", doc="Turns the answer around."),
    Kind("force_success", "decorator", NoSettings, CHILD, "child", doc="Always succeeds."),
    Kind("retry", "decorator", RetrySettings, CHILD, waits=True, doc="Tries again."),
    Kind(
        "loop",
        "decorator",
        LoopSettings,
        (Slot("guards", many=True, required=False), Slot("child", many=False)),
        waits=True,
        doc="Again and again.",
    ),
    Kind("finally", "decorator", NoSettings, (Slot("child", many=False), Slot("then", many=False)), doc="Cleans up."),
    Kind("subtree", "decorator", SubtreeSettings, shorthand="tree", doc="Another tree."),
    Kind("condition", "condition", ConditionSettings, shorthand="when", doc="Asks the blackboard."),
    Kind("has_tool_calls", "condition", NoSettings, doc="The model called tools."),
    Kind("turn_budget", "guard", NoSettings, doc="Turns are left."),
    Kind("set", "action", SetSettings, shorthand="values", acts=True, doc="Writes keys."),
    Kind("notify", "action", NotifySettings, shorthand="message", acts=True, doc="Tells the user."),
    Kind("llm_turn", "action", TurnSettings, waits=True, acts=True, doc="One turn of the model."),
    Kind("finish", "action", NoSettings, waits=True, acts=True, doc="Ends the run."),
)

KEYS = (
    Key("turn", "int", 0, "Finished turns.", read_only=True),
    Key("max_turns", "int", 30, "The tree's own limit.", read_only=True),
    Key("sources", "list", (), "What was found."),
    Key("signal", "map", None, "The last signal."),
    Key("hint", "str", "", "For the model."),
)

REGISTRY = Registry(KINDS, KEYS)

ORACLE = """\
# yaml-language-server: $schema=./tree.schema.json
tree: oracle
description: Answer one query under the user's limits.
blackboard:
  max_turns: {type: int, default: 20}
  tries: {type: int, default: 0, description: How often.}
  note: str
root:
  sequence:
    - set: {note: "'begin'", tries: 0}
    - loop:
        until: tries > 3
        guards: [turn_budget, {condition: "turn < max_turns"}]
        child:
          sequence:
            - llm_turn: {timeout_s: 120, tools: [search_code], header: {title: abc}}
            - selector:
                - sequence: [has_tool_calls, {set: {tries: tries + 1}}]
                - inverter: {condition: "signal is not null and signal.confidence < 0.3"}
                - retry: {name: again, attempts: 3, child: {notify: x}}
    - finally:
        child: finish
        then: {notify: The end.}
"""
