"""The `notify` kind."""

import re
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from bt_runtime.kind import KeyUse, NodeSettings, Use
from bt_runtime.node import Node
from bt_runtime.registration import node
from bt_runtime.scope import lookup_in_scope
from bt_runtime.status import SUCCESS, Status

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class NotifySettings(NodeSettings):
    """Settings of `notify`.

    Args:
        message: what the user reads; `{key}` stands for a blackboard value.
        topic: what it is about, in the host's words.
        severity: `info`, `warning` or `error`.
    """

    message: str = Field(min_length=1, max_length=2000)
    topic: str = "fallback"
    severity: Literal["info", "warning", "error"] = "info"

    def uses(self) -> Iterator[Use]:
        """The keys in the message."""
        for key in _PLACEHOLDER.findall(self.message):
            yield KeyUse(("message",), key, "read")


@node("notify", category="action", settings=NotifySettings, shorthand="message", acts=True)
class Notify(Node[NotifySettings]):
    """Tells the user something beside the answer, by the host's `notify`.

    SUCCESS, unless the host raises. Values of the blackboard can be shown: `{turn}`.

    ```yaml
    notify: {message: "Still looking after {turn} turns.", severity: info}
    ```
    """

    def update(self) -> Status:
        """Fill in the values and tell."""
        lookup = lookup_in_scope(self)
        values = {key: lookup[key] for key in _PLACEHOLDER.findall(self.settings.message)}
        message = _PLACEHOLDER.sub(lambda match: str(values[match[1]]), self.settings.message)
        self.run.host.notify(
            topic=self.settings.topic, message=message, severity=self.settings.severity, metadata=values
        )
        return SUCCESS
