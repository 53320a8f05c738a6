"""Runs wait for a worker, or for a person; workers have heartbeats of their own, and claims are counted.

Workers of earlier versions cannot begin or take over runs beside this one: they write a column that has gone. Those
that they have under way are taken over as those of any worker that is not heard of.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_OPEN = sa.text("status <> 'finished'")
_RUNNING = sa.text("status = 'running'")
_QUEUED = sa.text("status = 'queued'")
_PARKED = sa.text("status = 'parked'")


def upgrade() -> None:
    """Add the columns and the table of workers; a run that is not finished keeps its conversation."""
    op.drop_index("running_runs", "run")
    op.drop_column("run", "heartbeat_at")
    op.add_column("run", sa.Column("attempts", sa.Integer, nullable=False, server_default="0"))
    op.add_column("run", sa.Column("progress_seq", sa.Integer, nullable=False, server_default="0"))
    op.add_column("run", sa.Column("turn", sa.Integer, nullable=False, server_default="0"))
    op.add_column("run", sa.Column("wake_at", sa.Double))
    op.drop_index("one_run_of_a_conversation_at_a_time", "run")
    op.create_index(
        "one_run_of_a_conversation_at_a_time",
        "run",
        ["context_id"],
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.create_index("runs_of_worker", "run", ["worker"], sqlite_where=_RUNNING, postgresql_where=_RUNNING)
    op.create_index("queued_runs", "run", ["turn", "n", "user_id"], sqlite_where=_QUEUED, postgresql_where=_QUEUED)
    op.create_index("parked_runs", "run", ["wake_at"], sqlite_where=_PARKED, postgresql_where=_PARKED)
    op.create_table(
        "worker",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("beat_at", sa.Double, nullable=False),
        sa.Column("has_lock", sa.Boolean, nullable=False),
    )
