"""Runs that shadow another one, and the figures of such pairs."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_FIGURES = (
    *("id", "context_id", "tree", "tree_sha", "status", "termination_reason"),
    *("created_at", "finished_at", "node_errors", "shadow_of"),
)
_IS_SHADOW = sa.text("shadow_of IS NOT NULL")


def upgrade() -> None:
    """Add the column, with it the indexes that decide lists of runs alone, and the table of pairs."""
    op.add_column("run", sa.Column("shadow_of", sa.String(64)))
    op.drop_index("run_figures", "run")
    op.drop_index("run_of_user", "run")
    op.create_index("run_figures", "run", ["n", "user_id", *_FIGURES])
    op.create_index("run_of_user", "run", ["user_id", "n", *_FIGURES])
    op.create_index("shadows_of_runs", "run", ["shadow_of"], sqlite_where=_IS_SHADOW, postgresql_where=_IS_SHADOW)
    op.create_table(
        "shadow_pair",
        sa.Column("primary_id", sa.String(64), primary_key=True),
        sa.Column("shadow_id", sa.String(64)),
        sa.Column("tree", sa.String(255), nullable=False),
        sa.Column("primary_control", sa.String(255), nullable=False),
        sa.Column("shadow_control", sa.String(255), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("why", sa.String(32)),
        sa.Column("disagreement", sa.Double),
        sa.Column("data", sa.Text),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_index("shadow_pairs_by_time", "shadow_pair", ["at", "primary_id"])
    op.create_index("shadow_pairs_by_disagreement", "shadow_pair", ["disagreement", "primary_id"])
