"""Secrets that the service makes for itself."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "service_key",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("key", sa.String(64), nullable=False),
    )
