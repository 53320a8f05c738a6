"""The outbox of webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_TO_BE_SENT = sa.text("given_up_at IS NULL")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "webhook",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("given_up_at", sa.Double),
        sa.Column("problem", sa.Text),
    )
    op.create_index(
        "webhooks_to_be_sent", "webhook", ["due_at"], sqlite_where=_TO_BE_SENT, postgresql_where=_TO_BE_SENT
    )
