"""The `note` kind."""

from collections.abc import Iterator

from pydantic import Field

from bt_runtime import Facts, NodeSettings, Status, Stepped, Use, Words, node
from bt_runtime.analysis.effects import HERE, Case, leaf
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.hints import filled_hint, hint_uses


class NoteSettings(NodeSettings):
    """Settings of `note`.

    Args:
        text: what the model reads with its next turn; `{key}` stands for a blackboard value.
    """

    text: str = Field(min_length=1, max_length=2000)

    def uses(self) -> Iterator[Use]:
        yield from hint_uses(text=self.text)


@node(
    "note",
    settings=NoteSettings,
    shorthand="text",
    facts=Facts(shows=True),
    flow=leaf(Case("success", facts={"noted": HERE})),
)
class AddNote(AgentNode[NoteSettings]):
    """Adds a note of the control to the model's next turn, beside those that are there.

    SUCCESS, always. The note is not part of the conversation that is kept.

    ```yaml
    note: "You have looked at {groups_found}. Answer if that is enough."
    ```
    """

    def update(self) -> Status:
        self.agent.notes.append(filled_hint(self.settings.text, self.board))
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        text = clipped(filled_hint(self.settings.text, self.board), 120)
        return Words(f'noted "{text}"', f'The model reads: "{text}"')
