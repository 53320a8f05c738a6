"""The `compose_prompt` kind."""

from bt_runtime import Facts, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import counted, listed
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import COMPOSES_PROMPT
from oracle.agent.steps import compose


@node(
    "compose_prompt",
    facts=Facts(roles=(COMPOSES_PROMPT,)),
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

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the query says it
        prompt = self.agent.prompt
        if prompt is None or self.status is not Status.SUCCESS:
            return Words()
        text = f"{counted(len(prompt.included), 'segment')} · {counted(prompt.tokens, 'token')}"
        dropped = f"; without {listed(prompt.dropped)}, which did not fit" if prompt.dropped else ""
        return Words(f"{text}{dropped}", f"The system prompt is composed: {text}{dropped}.")
