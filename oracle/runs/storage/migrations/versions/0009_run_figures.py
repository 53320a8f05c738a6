"""Lists of runs are filtered by indexes alone; whether nodes have raised exceptions is a column of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_FIGURES = (
    *("id", "context_id", "tree", "tree_sha", "status", "termination_reason"),
    *("created_at", "finished_at", "node_errors"),
)


def upgrade() -> None:
    """Add the column, fill it from the summaries, and replace the indexes of the order."""
    op.add_column("run", sa.Column("node_errors", sa.Integer))
    # The field is always in the JSON text, so that no database's own JSON functions are needed.
    run = sa.table("run", sa.column("summary", sa.Text), sa.column("node_errors", sa.Integer))
    errors = sa.case((run.c.summary.contains('"node_errors":0,'), 0), else_=1)
    op.execute(sa.update(run).where(run.c.summary.is_not(None)).values(node_errors=errors))
    op.drop_index("runs_in_order", "run")
    op.drop_index("run_of_user", "run")
    op.create_index("run_figures", "run", ["n", "user_id", *_FIGURES])
    op.create_index("run_of_user", "run", ["user_id", "n", *_FIGURES])
