"""The tokens of runs by kind, and what is added up of them."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_KINDS = ("input_tokens", "cache_creation_tokens", "cache_read_tokens", "output_tokens")
_USAGE = ("user_id", "model_used", "turns", "tokens_used", "tokens_estimated", *_KINDS)
_IS_USAGE = sa.text("status = 'finished' AND shadow_of IS NULL")


def upgrade() -> None:
    """Add the columns and the index; of runs that have ended before, the kinds are not known."""
    for name in _KINDS:
        op.add_column("run", sa.Column(name, sa.BigInteger))
    columns = ["finished_at", *_USAGE]
    op.create_index("usage_of_runs", "run", columns, sqlite_where=_IS_USAGE, postgresql_where=_IS_USAGE)
