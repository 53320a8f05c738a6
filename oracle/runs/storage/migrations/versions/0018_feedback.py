"""What users think of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_IS_RATED = sa.text("feedback IS NOT NULL")


def upgrade() -> None:
    """Add the column, and an index for lists of the runs that have one."""
    op.add_column("run", sa.Column("feedback", sa.Text))
    op.create_index("rated_runs", "run", ["n"], sqlite_where=_IS_RATED, postgresql_where=_IS_RATED)
