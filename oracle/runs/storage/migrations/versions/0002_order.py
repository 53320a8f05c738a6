"""Runs and conversations are ordered by a number that the database gives, not by clocks that may step back."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NUMBER_RUNS = """
    UPDATE run SET n = ranked.n
    FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS n FROM run) AS ranked
    WHERE ranked.id = run.id
"""
_NUMBER_CONVERSATIONS = """
    UPDATE conversation SET n = (SELECT coalesce(max(run.n), 0) FROM run WHERE run.context_id = conversation.id)
"""


def upgrade() -> None:
    """Number what is there by its times."""
    for table in ("run", "conversation"):
        op.add_column(table, sa.Column("n", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(_NUMBER_RUNS)
    op.execute(_NUMBER_CONVERSATIONS)
    op.drop_index("run_of_user", "run")
    op.create_index("run_of_user", "run", ["user_id", "n"])
    op.drop_index("runs_by_time", "run")
    op.create_index("runs_in_order", "run", ["n"])
    op.drop_index("conversation_of_user", "conversation")
    op.create_index("conversation_of_user", "conversation", ["user_id", "n"])
    op.create_index("conversations_in_order", "conversation", ["n"])
    if op.get_bind().dialect.name == "postgresql":  # SQLite has one writer, which counts on from the greatest
        op.execute("CREATE SEQUENCE order_of_use")
        op.execute("SELECT setval('order_of_use', (SELECT coalesce(max(n), 0) + 1 FROM run))")
