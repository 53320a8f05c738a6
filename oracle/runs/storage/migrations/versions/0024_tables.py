"""The tables of `oracle.runs.storage`, as they are today.

Before the first release a change of the tables makes no second migration. It gives this file the next number, and
databases with an earlier one are refused. The release writes the tables out here; from then on migrations follow.
"""

from alembic import op

from oracle.runs.storage import features  # noqa: F401  defines their tables
from oracle.runs.storage.schema import metadata

revision = "0024"
down_revision = None


def upgrade() -> None:
    """Make them; a table of another program is an error."""
    metadata.create_all(op.get_bind(), checkfirst=False)
