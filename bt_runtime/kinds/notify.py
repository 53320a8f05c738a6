"""The `notify` kind."""

from typing import Literal

from pydantic import Field

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.flow import Case, leaf
from bt_runtime.language.kind import NOTIFIES, Facts, NodeSettings, TemplateText
from bt_runtime.language.templates import filled, keys_in
from bt_runtime.nodes.base import Node
from bt_runtime.nodes.registration import node
from bt_runtime.record.status import SUCCESS, Status
from bt_runtime.text.phrases import clipped


class NotifySettings(NodeSettings):
    """Settings of `notify`.

    Args:
        message: what the user reads; `{key}` stands for a blackboard value.
        topic: the topic, in the host's terms.
        severity: `info`, `warning` or `error`.
    """

    message: TemplateText = Field(min_length=1, max_length=2000)
    topic: str = "fallback"
    severity: Literal["info", "warning", "error"] = "info"


@node(
    "notify",
    settings=NotifySettings,
    shorthand="message",
    facts=Facts(roles=(NOTIFIES,), shows=True),
    flow=leaf(Case("success"), Case("failure", fault=True)),
)
class Notify(Node[NotifySettings]):
    """Sends the user a message that is not part of the answer, through the host's `notify`.

    SUCCESS, unless the host raises. Values of the blackboard can be shown: `{turn}`.

    ```yaml
    notify: {message: "Still looking after {turn} turns.", severity: info}
    ```
    """

    def update(self) -> Status:
        settings, board = self.settings, self.board
        values = {key: board[key] for key in keys_in(settings.message)}
        message = filled(settings.message, values)
        self.run.host.notify(topic=settings.topic, message=message, severity=settings.severity, metadata=values)
        return SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        if self.status is not SUCCESS:
            return Words()
        message = filled(self.settings.message, {key: self.board[key] for key in keys_in(self.settings.message)})
        text = f'sent "{clipped(message, 120)}"'
        return Words(text, f"It {text}")
