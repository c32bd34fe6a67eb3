"""How Alembic runs our revisions alone: `pyqueue_sql.migrate` opens the transaction and says where."""

from alembic import context

from pyqueue_sql.migrate import VERSION_TABLE
from pyqueue_sql.revision import execute, quote

schema = context.config.attributes["schema"]
to_base = context.get_revision_argument() is None

if context.is_offline_mode():
    context.configure(dialect_name="postgresql", version_table=VERSION_TABLE)
else:
    context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)

with context.begin_transaction():
    if context.is_offline_mode() and schema:
        execute(context.get_context(), f"create schema if not exists {quote(schema)}")
        execute(context.get_context(), f"set local search_path to {quote(schema)}, pg_temp")
    context.run_migrations()
    if to_base:
        execute(context.get_context(), f"drop table if exists {VERSION_TABLE}")
