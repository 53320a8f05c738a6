"""What chat products have used for themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

_FIGURES = ("requests", "input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")


def upgrade() -> None:
    """Add the table; what was used before is not known."""
    op.create_table(
        "auxiliary_usage",
        sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("user_id", sa.String(255), primary_key=True),
        sa.Column("model", sa.String(255), primary_key=True),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _FIGURES),
    )
