"""The node kind `collect`."""

from collections.abc import Iterator

from pydantic import Field

from bt_runtime import KeyUse, Node, NodeSettings, Status, Use, node

LONGEST_NOTE = 2_000
"""Characters of one note; the answer's turn gets them all."""


class CollectSettings(NodeSettings):
    """Settings of `collect`.

    Args:
        notes: the keys with the notes, in order of their importance.
        into: the key that gets them as one text.
        at_least: how many different notes there must be.
    """

    notes: list[str] = Field(min_length=1)
    into: str
    at_least: int = Field(default=1, ge=1)

    def uses(self) -> Iterator[Use]:
        """The keys, so that a misspelt name is reported before anything runs."""
        for index, key in enumerate(self.notes):
            yield KeyUse(("notes", index), key, "read")
        yield KeyUse(("into",), self.into, "write", "str")


@node("collect", category="action", settings=CollectSettings, acts=False)
class Collect(Node[CollectSettings]):
    """Joins notes to one text: empty ones and repetitions are left out, long ones are cut.

    SUCCESS if there are at least `at_least` different notes, else FAILURE; the text is written in both cases.

    ```yaml
    collect: {notes: [facts, doubts], into: findings, at_least: 2}
    ```
    """

    def update(self) -> Status:
        """Join them."""
        found = [str(self.board[key] or "").strip()[:LONGEST_NOTE] for key in self.settings.notes]
        notes = list(dict.fromkeys(filter(None, found)))
        self.board.set(self.settings.into, "\n\n".join(notes))
        return Status.SUCCESS if len(notes) >= self.settings.at_least else Status.FAILURE


KINDS = [Collect]
