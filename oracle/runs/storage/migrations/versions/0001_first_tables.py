"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    running = sa.text("status = 'running'")
    may_go = sa.text("status = 'finished' AND forgotten_at IS NULL")
    is_chunk = sa.text("chunk_n IS NOT NULL")
    op.create_table(
        "run",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("context_id", sa.String(64), nullable=False),
        sa.Column("worker", sa.String(64), nullable=False),
        sa.Column("heartbeat_at", sa.Double, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("tree", sa.String(255), nullable=False),
        sa.Column("tree_sha", sa.String(64)),
        sa.Column("input", sa.Text, nullable=False),
        sa.Column("limits", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("termination_reason", sa.String(32)),
        sa.Column("answer", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("turns", sa.Integer),
        sa.Column("tokens_used", sa.BigInteger),
        sa.Column("tokens_estimated", sa.Boolean),
        sa.Column("model_used", sa.String(255)),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("deadline_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("forgotten_at", sa.Double),
    )
    op.create_index("run_of_user", "run", ["user_id", "created_at"])
    op.create_index("run_of_conversation", "run", ["context_id"])
    op.create_index(
        "one_run_of_a_conversation_at_a_time",
        "run",
        ["context_id"],
        unique=True,
        sqlite_where=running,
        postgresql_where=running,
    )
    op.create_index("runs_by_time", "run", ["created_at", "id"])
    op.create_index("running_runs_of_user", "run", ["user_id"], sqlite_where=running, postgresql_where=running)
    op.create_index("runs_that_may_go", "run", ["finished_at", "id"], sqlite_where=may_go, postgresql_where=may_go)
    op.create_index("running_runs", "run", ["heartbeat_at"], sqlite_where=running, postgresql_where=running)
    op.create_table(
        "event",
        sa.Column("run_id", sa.String(64), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("chunk_n", sa.Integer),
        sa.Column("step_key", sa.String(512)),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_index(
        "chunk_of_run", "event", ["run_id", "chunk_n"], unique=True, sqlite_where=is_chunk, postgresql_where=is_chunk
    )
    op.create_table(
        "command",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("run_id", sa.String(64), nullable=False, index=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "tree_version",
        sa.Column("sha", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("nodes", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_table(
        "conversation",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("project_id", sa.Text),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("updated_at", sa.Double, nullable=False),
    )
    op.create_index("conversation_of_user", "conversation", ["user_id", "updated_at"])
    op.create_table(
        "message",
        sa.Column("conversation_id", sa.String(64), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("run_id", sa.String(64), nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
    )
    op.create_table(
        "user_settings",
        sa.Column("user_id", sa.String(255), primary_key=True),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
