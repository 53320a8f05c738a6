"""The `note` kind."""

from pydantic import Field

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import HERE, Case, leaf
from bt_runtime.language.kind import TemplateText
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.hints import filled_hint
from oracle.agent.notes import Strength


class NoteSettings(NodeSettings):
    """Settings of `note`.

    Args:
        text: what the model reads with its next turn; `{key}` stands for a blackboard value.
        strength: what it is about, which decides whether it goes or another one: `reminder`, `hint`, `near_limit`,
            `enough` (what was found suffices), `ending` (one more failure ends the query), `last_turn`.
    """

    text: TemplateText = Field(min_length=1, max_length=2000)
    strength: Strength = "hint"


@node(
    "note",
    settings=NoteSettings,
    shorthand="text",
    facts=Facts(shows=True),
    flow=leaf(Case("success", facts={"noted": HERE})),
)
class AddNote(AgentNode[NoteSettings]):
    """Has a note of the control go with the model's next turn.

    SUCCESS, always. One note goes with a turn: the strongest, and of equally strong ones the latest. It is not part of
    the conversation that is kept.

    ```yaml
    note: "You have looked at {groups_found}. Answer if that is enough."
    ```
    """

    def update(self) -> Status:
        self.agent.add_note(filled_hint(self.settings.text, self.board), self.settings.strength)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        text = clipped(filled_hint(self.settings.text, self.board), 120)
        return Words(f'noted "{text}"', f'The model reads: "{text}"')
