"""Chunks are found by the log's primary key; an index of their own made every write twice as expensive."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Drop the index."""
    op.drop_index("chunk_of_run", "event")
