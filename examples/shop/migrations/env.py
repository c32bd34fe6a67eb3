"""How Alembic runs the migrations of the shop, with the queue as a branch or without."""

import os

import sqlalchemy
from alembic import context
from models import Base

from pyqueue_sql.alembic import include_object

url = sqlalchemy.make_url(os.environ["DATABASE_URL"]).set(drivername="postgresql+psycopg")
# autogenerate leaves the queue's tables alone
settings = {"target_metadata": Base.metadata, "include_object": include_object}

if context.is_offline_mode():
    context.configure(url=url, literal_binds=True, **settings)
    with context.begin_transaction():
        context.run_migrations()
else:
    with sqlalchemy.create_engine(url, poolclass=sqlalchemy.NullPool).connect() as connection:
        context.configure(connection=connection, transaction_per_migration=True, **settings)
        with context.begin_transaction():
            context.run_migrations()
