"""Runs keep a summary of their figures, may lose their texts before their figures, and name their prompts."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns, make the tables."""
    op.add_column("run", sa.Column("summary", sa.Text))
    op.add_column("run", sa.Column("texts_dropped_at", sa.Double))
    may_go = sa.text("status = 'finished' AND forgotten_at IS NULL AND texts_dropped_at IS NULL")
    op.create_index("texts_that_may_go", "run", ["finished_at", "id"], sqlite_where=may_go, postgresql_where=may_go)
    half = sa.text("texts_dropped_at IS NOT NULL AND answer IS NOT NULL AND forgotten_at IS NULL")
    op.create_index("half_dropped_runs", "run", ["id"], sqlite_where=half, postgresql_where=half)
    op.create_table(
        "prompt",
        sa.Column("sha", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "prompt_use",
        sa.Column("run_id", sa.String(64), primary_key=True),
        sa.Column("sha", sa.String(64), primary_key=True, index=True),
    )
