"""The `compose_prompt` kind."""

from bt_runtime import NoSettings, Status, node
from bt_runtime.checking.effects import Case, leaf
from oracle.agent.steps import compose
from oracle.nodes.base import AgentNode


@node(
    "compose_prompt",
    category="action",
    flow=leaf(Case("success", facts={"prompt": "yes"}), Case("failure", fault=True)),
)
class ComposePrompt(AgentNode[NoSettings]):
    """Composes the system prompt from segments, for this kind of question and the tools that are offered.

    SUCCESS, unless the segments do not fit. Once per query, so that the provider's cache holds.

    ```yaml
    compose_prompt:
    ```
    """

    def update(self) -> Status:
        compose(self.agent)
        return Status.SUCCESS
