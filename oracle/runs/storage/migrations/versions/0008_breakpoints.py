"""Where runs are to be paused, as operators have said; kept over restarts, and for runs that have not begun."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "breakpoint",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("tree", sa.String(255)),
        sa.Column("run_id", sa.String(64)),
        sa.Column("user_id", sa.String(255)),
        sa.Column("path", sa.Text),
        sa.Column("expression", sa.Text),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("created_by", sa.String(255), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
