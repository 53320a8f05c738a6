"""The last results of trials of trees."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "tree_trial",
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("subject", sa.String(64), primary_key=True),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_index("tree_trials_by_time", "tree_trial", ["at"])
