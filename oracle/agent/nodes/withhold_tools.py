"""The `withhold_tools` kind."""

from bt_runtime import Facts, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import joined
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.tool_names import ToolNames
from oracle.agent.steps import withhold


@node("withhold_tools", settings=ToolNames, shorthand="tools", facts=Facts(), flow=leaf(Case("success")))
class WithholdTools(AgentNode[ToolNames]):
    """Does not offer some tools in this query, whatever its type: neither now nor by a later `offer_tools`.

    SUCCESS, always. A call of such a tool is answered with an error; an `action` of the tree can call it. Put it before
    `compose_prompt`. After a turn the tools stay in the requests, because their removal would void the provider's
    cache: a note asks the model not to call them, and calls are refused. `web_search`, which the provider runs, can
    only be withheld before the first turn.

    ```yaml
    withhold_tools: [search_code, read_file, list_files]
    ```
    """

    def update(self) -> Status:
        withhold(self.agent, self.settings.tools)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        names = joined(self.settings.tools)
        return Words(f"not offered: {names}", f"These tools are not offered in this query: {names}.")
