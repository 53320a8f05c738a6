"""The `offer_tools` kind."""

from bt_runtime import Facts, Status, Stepped, Words, node
from bt_runtime.language.flow import HERE, Case, leaf
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.offer_words import offer_words
from oracle.agent.nodes.roles import OFFERS_TOOLS
from oracle.agent.nodes.tool_names import ToolNames
from oracle.agent.steps import offer


@node(
    "offer_tools",
    settings=ToolNames,
    shorthand="tools",
    facts=Facts(roles=(OFFERS_TOOLS,)),
    flow=leaf(Case("success", facts={"added": HERE, "offered": HERE}), Case("failure")),
)
class OfferTools(AgentNode[ToolNames]):
    """Offers further tools by name, for the rest of the query, and tells the model which ones are new.

    SUCCESS if that adds a tool. FAILURE if all of them are offered already, or calls of the next turn will not be run.
    Tools are only added, never taken away.
    Use it after `classify_query`, which selects the tools of the question's type anew. `web_search` is left out where
    the model's provider has none.

    ```yaml
    offer_tools: [vault_write, thread_push]
    ```
    """

    def update(self) -> Status:
        return Status.SUCCESS if offer(self.agent, self.settings.tools) else Status.FAILURE

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        return offer_words(self)
