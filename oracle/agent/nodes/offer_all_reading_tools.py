"""The `offer_all_reading_tools` kind."""

from bt_runtime import Facts, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import HERE, Case, leaf
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.offer_words import offer_words
from oracle.agent.steps import offer_all_reading


@node(
    "offer_all_reading_tools",
    facts=Facts(),
    flow=leaf(
        Case(
            "success",
            facts={"tools": "all", "offered": HERE, "added": HERE},
            when_facts={"tools": frozenset({"some"})},
        ),
        Case("failure"),
    ),
)
class OfferAllReadingTools(AgentNode[NoSettings]):
    """Offers every tool that only reads, for any type of question, and tells the model which ones are new.

    SUCCESS if that adds a tool. FAILURE if all of them are offered already, or calls of the next turn will not be run.

    ```yaml
    offer_all_reading_tools:
    ```
    """

    def update(self) -> Status:
        return Status.SUCCESS if offer_all_reading(self.agent) else Status.FAILURE

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        return offer_words(self)
