"""Run by alembic; `oracle.runs.storage.setup` gives the connection."""

from alembic import context

from oracle.runs.storage.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=False,  # the transaction is the caller's
    render_as_batch=True,
)
context.run_migrations()
