"""The `classify_query` kind."""

from bt_runtime import Facts, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import counted, value_of
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import CLASSIFIES_QUERY
from oracle.agent.steps import classify
from oracle.classify.types import QUERY_TYPES


@node(
    "classify_query",
    facts=Facts(roles=(CLASSIFIES_QUERY,)),
    flow=leaf(Case("success", writes={**LAGGING, "query_type": QUERY_TYPES}, facts={"tools": None, "added": ""})),
)
class ClassifyQuery(AgentNode[NoSettings]):
    """Finds out what kind of question it is, and offers the tools that such questions need.

    SUCCESS, always. Writes `query_type`. A bare follow-up inherits the kind of the question before.

    ```yaml
    classify_query:
    ```
    """

    def update(self) -> Status:
        classify(self.agent)
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        found, offered = self.agent.classification, counted(len(self.agent.offered), "tool")
        kind = value_of(found.query_type if found else "")
        return Words(f"query_type {kind} · {offered}", f"The question is of type {kind}; {offered} are offered.")
