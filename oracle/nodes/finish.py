"""The `finish` kind."""

from collections.abc import Coroutine
from typing import Any

from bt_runtime import NoSettings, node
from bt_runtime.checking.effects import Case, leaf
from oracle.nodes.base import AgentAction


@node(
    "finish", flow=leaf(Case("success", facts={"closed": "yes"}), Case("failure", facts={"closed": None}, fault=True))
)
class Finish(AgentAction[NoSettings]):
    """Saves the exchange in the conversation, then ends the stream.

    RUNNING while it saves; then SUCCESS. A tree without it is finished by the service.

    ```yaml
    finish:
    ```
    """

    def start(self) -> Coroutine[Any, Any, None]:
        return self.host.closing.finish(self.agent, asked_at=self.host.asked_at)
