"""How Alembic runs our revisions alone: `pyqueue_sql.schema.migrate` opens the transaction and says where."""

from alembic import context

from pyqueue_sql.schema.revision import OURS, VERSION_TABLE, enter, execute, print_optional

schema = context.config.attributes["schema"]
to_base = context.get_revision_argument() is None

settings = {"version_table": VERSION_TABLE, OURS: True}

if context.is_offline_mode():
    context.configure(dialect_name=context.config.attributes["dialect"], **settings)
else:
    context.configure(connection=context.config.attributes["connection"], **settings)

with context.begin_transaction():
    if context.is_offline_mode() and schema:
        enter(context.get_context(), schema)
    context.run_migrations()
    if to_base:
        execute(context.get_context(), f"drop table if exists {VERSION_TABLE}")
    elif context.is_offline_mode():
        refusable = context.config.attributes["optional"]
        print_optional(context.get_context(), context.get_revision_argument(), refusable)
