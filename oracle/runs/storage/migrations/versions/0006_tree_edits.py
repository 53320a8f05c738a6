"""The texts of trees as they were saved or found, so that each former version can be read and taken back."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tree_text",
        sa.Column("sha", sa.String(64), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
    )
    op.create_table(
        "tree_edit",
        sa.Column("n", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("sha", sa.String(64), nullable=False),
        sa.Column("how", sa.String(16), nullable=False),
        sa.Column("user_id", sa.String(255)),
        sa.Column("note", sa.Text),
        sa.Column("at", sa.Double, nullable=False),
    )
    op.create_index("edits_of_tree", "tree_edit", ["name", "n"])
