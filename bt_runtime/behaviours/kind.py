"""The `py_trees` kind."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from py_trees.behaviour import Behaviour
from pydantic import Field, ValidationInfo, field_validator

from bt_runtime.behaviours.adapting import STOCK, Behaviours, Port, check_known, make
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts, KeyUse, Kind, NodeSettings, Use
from bt_runtime.nodes.base import Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import INVALID, RUNNING, Status
from bt_runtime.text.phrases import clipped


class PyTreesSettings(NodeSettings):
    """Settings of `py_trees`.

    Args:
        behaviour: the class, as `module.Class`: one of py_trees or of a package.
        arguments: arguments of its constructor; write a status as `SUCCESS`, `FAILURE` or `RUNNING`.
        keys: the tree's keys, by the names that the behaviour uses.
        every_s: seconds between ticks while it is RUNNING.
    """

    known: ClassVar[Behaviours] = STOCK

    behaviour: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with", validate_default=True)
    keys: dict[str, str] = Field(default_factory=dict)
    every_s: float = Field(default=0.1, ge=0.001)

    @field_validator("behaviour")
    @classmethod
    def _is_known(cls, name: str) -> str:
        check_known(name, cls.known)
        return name

    @field_validator("arguments")
    @classmethod
    def _can_be_made(cls, arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "behaviour" in info.data:
            make(cls.known[info.data["behaviour"]], arguments, name="tried", port=Port({}))
        return arguments

    def uses(self) -> Iterator[Use]:
        port = Port(self.keys)
        make(self.known[self.behaviour], self.arguments, name="tried", port=port)
        for name, access in port.used.items():
            yield KeyUse(("keys", name) if name in self.keys else ("behaviour",), port.key(name), access)


@node(
    "py_trees",
    settings=PyTreesSettings,
    shorthand="behaviour",
    waits=True,
    facts=Facts(reads=None, keeps=None, is_storable=False),
)
class PyTrees(Node[PyTreesSettings]):
    """Ticks a behaviour that was written for py_trees.

    SUCCESS, FAILURE or RUNNING as the behaviour returns; FAILURE if it raises an error. Declare the keys that its
    blackboard client registers in the tree. A halt calls `stop(INVALID)`.

    ```yaml
    py_trees: {behaviour: py_trees.behaviours.TickCounter, with: {duration: 2, completion_status: SUCCESS}}
    ```
    """

    _behaviour: Behaviour | None = None

    def initialise(self) -> None:
        if self._behaviour is None:
            settings = self.settings
            port = Port(settings.keys, self.board)
            made = make(settings.known[settings.behaviour], settings.arguments, name=self.definition.label, port=port)
            made.setup_with_descendants()
            self._behaviour = made

    def update(self) -> Status:
        behaviour = self._behaviour
        if behaviour is None:
            raise RuntimeError("the behaviour was not made")
        for _ in behaviour.tick():
            pass
        self.feedback_message = behaviour.feedback_message
        if behaviour.status is RUNNING:
            self.run.wake_at(self.index, self.run.now_s + self.settings.every_s)
        return behaviour.status

    def terminate(self, new_status: Status) -> None:
        self.run.forget_deadline(self.index)
        if self._behaviour is not None and self._behaviour.status is not new_status:
            self._behaviour.stop(INVALID)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the behaviour says it
        message = clipped(self.feedback_message, 120)
        return Words(message, f"{self.settings.behaviour} {says(self.status)}{': ' + message if message else ''}.")


def py_trees_kind(further: Mapping[str, type[Behaviour]]) -> Kind:
    """The kind with further behaviours, by `bt_runtime.behaviours.adapting.behaviour_name`."""
    known = {**STOCK, **further}
    settings = type("PyTreesSettings", (PyTreesSettings,), {"known": known, "__doc__": PyTreesSettings.__doc__})
    return replace(PyTrees.kind, settings=settings)
