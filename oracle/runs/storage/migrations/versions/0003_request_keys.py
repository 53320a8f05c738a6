"""The keys by which a client names a request, so that one that is sent again starts no second run."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "request_key",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("run_id", sa.String(64), nullable=False, index=True),
        sa.Column("body", sa.String(64), nullable=False),
        sa.Column("at", sa.Double, nullable=False, index=True),
    )
