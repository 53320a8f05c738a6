"""Conversations have titles: those that are there get one from their first question."""

import sqlalchemy as sa
from alembic import op

from oracle.agent.conversations.titles import title_of
from oracle.core.encoding import from_json, to_json

revision = "0004"
down_revision = "0003"

_PORTION = 500
_UNTITLED = sa.text(
    "SELECT conversation_id, content FROM message"
    " WHERE n = 1 AND role = 'user' AND conversation_id > :after ORDER BY conversation_id LIMIT :portion"
)
_SET = sa.text("UPDATE conversation SET title = :title WHERE id = :id")


def upgrade() -> None:
    """Add the column, and fill it a portion at a time."""
    op.add_column("conversation", sa.Column("title", sa.Text))
    connection, after = op.get_bind(), ""
    while rows := connection.execute(_UNTITLED, {"after": after, "portion": _PORTION}).all():
        after = rows[-1].conversation_id
        titles = [{"id": name, "title": to_json(title_of(from_json(text))).decode()} for name, text in rows]
        connection.execute(_SET, titles)
