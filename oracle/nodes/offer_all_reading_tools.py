"""The `offer_all_reading_tools` kind."""

from bt_runtime import NoSettings, Status, node
from bt_runtime.checking.effects import HERE, Case, leaf
from oracle.agent.steps import offer_all_reading
from oracle.nodes.base import AgentNode


@node(
    "offer_all_reading_tools",
    category="action",
    flow=leaf(
        Case("success", facts={"tools": "all", "offered": HERE}, when_facts={"tools": frozenset({"some"})}),
        Case("failure", facts={"tools": "all"}),
    ),
)
class OfferAllReadingTools(AgentNode[NoSettings]):
    """Offers every tool that only reads, for any type of question, and tells the model which ones are new.

    SUCCESS if that adds a tool, FAILURE if all of them are offered already.

    ```yaml
    offer_all_reading_tools:
    ```
    """

    def update(self) -> Status:
        return Status.SUCCESS if offer_all_reading(self.agent) else Status.FAILURE
