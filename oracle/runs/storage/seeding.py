"""Conversations that begin with earlier messages from a client.

Rules:

- The newest texts are kept, bounded in number and in characters; one that is longer than its bound loses its end.
- Each question with what follows it has a name in the place of a run's (`told-1`, …), so that the conversation can be
  shown and forked like any other. There is no such run.
- Answers from the client are neutralised like other outside text, so that no signal can begin in them.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, insert

from oracle.agent.conversations.protocol import Role
from oracle.runs.storage.schema import conversation, message
from oracle.runs.storage.titles import title_of
from signals import as_plain_text

MOST_MESSAGES: Final = 200
MOST_CHARS: Final = 400_000
"""Of all texts together; what the model gets of a history is a part of that."""
LONGEST_TEXT: Final = 40_000


class Told(NamedTuple):
    """An earlier message from a client."""

    role: Role
    text: str


def begin_told(
    connection: Connection, user_id: str, context_id: str, told: Sequence[Told], *, at: float, at_iso: str, number: int
) -> None:
    """Create a conversation with these messages; texts that are blank are left out.

    Args:
        connection: a connection with an open transaction.
        user_id: its owner.
        context_id: its id.
        told: oldest first.
        at: seconds since the epoch.
        at_iso: the same, as messages have it.
        number: its position in the order of conversations.
    """
    kept = _kept(told)
    first = next((each.text for each in kept if each.role == "user"), "")
    row: dict[str, Any] = {
        "id": context_id,
        "user_id": user_id,
        "title": title_of(first) or None,
        "state": {},
        "created_at": at,
        "updated_at": at,
        "n": number,
    }
    connection.execute(insert(conversation), row)
    rows, exchange = [], 0
    for n, each in enumerate(kept, start=1):
        exchange += each.role == "user" or n == 1
        rows.append(
            {
                "conversation_id": context_id,
                "n": n,
                "role": each.role,
                "content": each.text,
                "metadata": {},
                "run_id": f"told-{exchange}",
                "at": at_iso,
            }
        )
    if rows:
        connection.execute(insert(message), rows)


def _kept(told: Sequence[Told]) -> list[Told]:
    kept: list[Told] = []
    chars = 0
    for role, text in reversed(told):
        clean = text[:LONGEST_TEXT].replace("\0", "")
        if not clean.strip():
            continue
        chars += len(clean)
        if chars > MOST_CHARS or len(kept) == MOST_MESSAGES:
            break
        kept.append(Told(role, clean if role == "user" else as_plain_text(clean)))
    return kept[::-1]
