"""The `say` kind."""

from pydantic import Field

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.language.kind import TemplateText
from bt_runtime.language.templates import filled
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import SPEAKS
from oracle.agent.notices import quoted


class SaySettings(NodeSettings):
    """Settings of `say`.

    Args:
        text: a sentence of the answer; `{key}` stands for a blackboard value.
    """

    text: TemplateText = Field(min_length=1, max_length=2000)


@node(
    "say",
    settings=SaySettings,
    shorthand="text",
    facts=Facts(roles=(SPEAKS,), shows=True),
    flow=leaf(Case("success", facts={"answer": "yes"})),
)
class Say(AgentNode[SaySettings]):
    """Adds a sentence of its own to the answer, in a paragraph of its own.

    SUCCESS, always. Values of the blackboard can be shown: `{capability}`. After the sentence of `explain_stop`, which
    is the last of an answer, it adds nothing.

    ```yaml
    say: "I would need {capability} for that, which I do not have here."
    ```
    """

    def update(self) -> Status:
        text = filled(self.settings.text, self.board, show=lambda value: quoted(str(value)))
        self.agent.output.say_sentence(text)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        text = clipped(filled(self.settings.text, self.board, show=lambda value: quoted(str(value))), 120)
        if self.agent.output.is_closed:
            return Words("adds nothing", "It adds nothing: the answer ends with the sentence that says why it stopped.")
        return Words(f'said "{text}"', f'It adds to the answer: "{text}"')
