"""Runs that came through a client's protocol."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "client_run",
        sa.Column("run_id", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("said", sa.String(64), nullable=False),
    )
    op.create_index("client_runs_in_order", "client_run", ["key", "n"], unique=True)
    op.create_index("client_runs_by_text", "client_run", ["key", "said"])
