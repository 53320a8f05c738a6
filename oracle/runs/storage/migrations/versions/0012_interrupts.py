"""What runs ask of people, and what is granted for a conversation."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_PENDING = sa.text("status = 'pending'")


def upgrade() -> None:
    """Add the tables, and the time at which a run was parked."""
    op.add_column("run", sa.Column("parked_at", sa.Double))
    op.create_table(
        "interrupt",
        sa.Column("run_id", sa.String(64), primary_key=True),
        sa.Column("id", sa.String(255), primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("context_id", sa.String(64), nullable=False),
        sa.Column("reason", sa.String(32), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("answer", sa.Text),
        sa.Column("answered_by", sa.String(255)),
        sa.Column("answered_at", sa.Double),
    )
    for name, columns in (("pending_of_user", ["user_id", "expires_at"]), ("pending_by_expiry", ["expires_at"])):
        op.create_index(name, "interrupt", columns, sqlite_where=_PENDING, postgresql_where=_PENDING)
    op.create_table(
        "grant_",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False),
        sa.Column("context_id", sa.String(64), nullable=False),
        sa.Column("action", sa.String(255), nullable=False),
        sa.Column("by", sa.String(255), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_index("grants_of_user", "grant_", ["user_id", "at"])
    op.create_index("one_grant_of_an_action", "grant_", ["context_id", "action"], unique=True)
