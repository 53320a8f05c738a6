"""The `classify_query` kind."""

from bt_runtime import NoSettings, Status, node
from oracle.agent.steps import classify
from oracle.nodes.base import AgentNode


@node("classify_query", category="action")
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
