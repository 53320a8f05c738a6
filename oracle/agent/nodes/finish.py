"""The `finish` kind."""

from collections.abc import Coroutine
from typing import Any

from bt_runtime import Facts, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from oracle.agent.nodes.base import AgentAction
from oracle.agent.nodes.roles import FINISHES


@node(
    "finish",
    facts=Facts(roles=(FINISHES,)),
    flow=leaf(Case("success", facts={"closed": "yes"}), Case("failure", facts={"closed": None}, fault=True)),
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

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the status says it
        if self.status is Status.RUNNING:
            return Words("saves the answer", "The answer is being saved.")
        return Words("saved", "The answer is saved.") if self.status is Status.SUCCESS else Words()
