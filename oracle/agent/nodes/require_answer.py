"""The `require_answer` kind."""

from pydantic import Field

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import HERE, Case, leaf
from bt_runtime.language.kind import TemplateText
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.hints import filled_hint
from oracle.agent.nodes.roles import REQUIRES_ANSWER
from oracle.agent.notes import WRAP_UP


class RequireAnswerSettings(NodeSettings):
    """Settings of `require_answer`.

    Args:
        hint: what the model reads with that turn; `{key}` stands for a blackboard value.
    """

    hint: TemplateText = Field(
        default=WRAP_UP,
        min_length=1,
        max_length=2000,
    )


@node(
    "require_answer",
    settings=RequireAnswerSettings,
    shorthand="hint",
    facts=Facts(roles=(REQUIRES_ANSWER,), shows=True),
    flow=leaf(Case("success", facts={"noted": HERE})),
)
class RequireAnswer(AgentNode[RequireAnswerSettings]):
    """Has the next turn of the answer without tools, so that the model can only answer.

    SUCCESS, always. The turn after that has tools again. The provider finds nothing in its cache for a turn without
    tools, so this is for a model that goes on gathering although a note has said that it has enough.

    ```yaml
    require_answer: "Answer now from what you have."
    ```
    """

    def update(self) -> Status:
        self.agent.gathering.answer_due = True
        self.agent.add_note(filled_hint(self.settings.hint, self.board), "last_turn")
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  nothing else is to be said
        return Words("the next turn is without tools", "The next turn is without tools: the model is to answer.")
