"""Install, upgrade and downgrade the schema: Alembic, with a version table of our own.

An application's own `alembic upgrade head` neither sees nor touches any of it. One whose autogenerate
compares the database with its models passes `include_name=pyqueue_sql.migrate.include_name` to Alembic's
`context.configure`.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
import zlib
from collections.abc import Callable, Generator
from typing import Any, TextIO

import psycopg
import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pyqueue_sql.connect import connect
from pyqueue_sql.errors import MigrationError
from pyqueue_sql.revision import MIGRATIONS, quote

VERSION_TABLE = "queue_version"
TABLES = frozenset(
    {
        "delayed_queue",
        "queue_count",
        "queue_dedup",
        "queue_hint",
        "queue_history",
        "queue_hold",
        "queue_inbox",
        "queue_kind",
        VERSION_TABLE,
    }
)
OLDEST_SERVER = 140000
LOCK_TIMEOUT_MS = 300
TRIES = 30
CALLS_END_S = 10
UPGRADES = 1_366_977_393
"""The first number of our advisory locks, drawn once."""

OPEN = """
select l.virtualxid from pg_catalog.pg_locks l join pg_catalog.pg_stat_activity a on a.pid = l.pid
where l.locktype = 'virtualxid' and a.datname = pg_catalog.current_database()
and a.pid <> pg_catalog.pg_backend_pid()
"""
"""Transactions of this database, each by a name that never comes again; everybody may see them."""

_alembic = threading.Lock()
"""Alembic's `context` and `op` are one for the process."""


def include_name(name: str | None, type_: str, parent_names: Any) -> bool:  # noqa: ARG001
    """Tell Alembic's autogenerate which tables are the application's: all but ours."""
    return type_ != "table" or name not in TABLES


def upgrade(
    url: str | None,
    *,
    schema: str | None = None,
    revision: str = "head",
    sql: bool = False,
    output: TextIO | None = None,
) -> None:
    """Bring the schema to a revision, while producers and consumers go on.

    A first installation is one transaction. From one revision to another each revision is one, and before the
    next one begins the calls that were going on have ended: what gives up in between is at the last revision
    that was reached, and goes on from there when it is called again.

    It waits for another upgrade of the same schema to end. For a lock on one of our tables it waits 0.3 s at
    a time, so that the queue goes on in between, and it gives up after 30 tries.

    Args:
        url: the database; None only with `sql`.
        schema: where to install, created if need be; None: the current schema, the first of the search path.
        revision: an id, or `head`.
        sql: print the statements, and touch no database.
        output: where to; None: standard output.

    Raises:
        ConnectionFailed: no connection.
        MigrationError: not on this server, or not in that schema.
        psycopg.Error: what the server says.
    """
    _go(command.upgrade, url, schema, revision, sql, output)


def downgrade(
    url: str | None,
    *,
    schema: str | None = None,
    revision: str = "base",
    sql: bool = False,
    output: TextIO | None = None,
) -> None:
    """Bring the schema back to a revision, by default to before the first: then nothing of ours is left.

    A schema that `upgrade` created stays. With `sql` the statements start from the newest revision. Arguments
    and errors are those of `upgrade`.
    """
    _go(command.downgrade, url, schema, f"head:{revision}" if sql else revision, sql, output)


def current(url: str, *, schema: str | None = None) -> str | None:
    """Return the revision that is installed, or None; arguments and errors are those of `upgrade`."""
    with _transaction(url) as connection:
        return _revision(connection, schema or _current_schema(connection))


def check_server(version: int) -> None:
    """Refuse a server that is too old.

    Args:
        version: as libpq has it, 140000 for 14.0.

    Raises:
        MigrationError: it is.
    """
    if version < OLDEST_SERVER:
        raise MigrationError(
            f"PostgreSQL {OLDEST_SERVER // 10000} or later is needed, and this is {version // 10000}"
        )


def _go(
    what: Callable[..., None],
    url: str | None,
    schema: str | None,
    revision: str,
    sql: bool,
    output: TextIO | None,
) -> None:
    # no URL in the configuration: what Alembic has it may print
    config = Config(output_buffer=output or sys.stdout, attributes={"schema": schema})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    if sql:
        with _alembic:
            what(config, revision, sql=True)
        return
    if url is None:
        raise ValueError("a URL is needed")
    while _step(what, config, url, schema, revision):
        _let_calls_end(url)


def _step(what: Callable[..., None], config: Config, url: str, schema: str | None, revision: str) -> bool:
    """Do what can be done in one transaction; returns whether more is left."""
    for tries_left in reversed(range(TRIES)):
        try:
            with _transaction(url) as connection:
                _prepare(connection, schema)
                config.attributes["connection"] = connection
                with _alembic:
                    way = _way(what, config, _revision(connection), revision)
                    what(config, way[0])
            return len(way) > 1
        except psycopg.errors.LockNotAvailable:
            if not tries_left:
                raise
        time.sleep(random.uniform(0.2, 1))
    raise AssertionError("the last try returns or raises")


def _way(what: Callable[..., None], config: Config, now: str | None, revision: str) -> list[str]:
    """Return where the steps lead, the last one to the revision; one step where nobody calls the queue."""
    scripts = ScriptDirectory.from_config(config)
    ids = [script.revision for script in scripts.walk_revisions()]
    if what is command.upgrade:
        ids.reverse()
    try:
        found = scripts.get_revision(revision)
    except CommandError:
        found = None  # a relative one, or none: for Alembic to say
    if found is None or now not in ids:
        return [revision]
    return ids[ids.index(now) + 1 : ids.index(found.revision) + 1] or [revision]


def _let_calls_end(url: str) -> None:
    """Wait for the transactions that are open now, though not for ever.

    A call ends in the routines that it began in, and those may need what the next step drops.
    """
    with connect(url) as connection:
        began = set(connection.execute(OPEN).fetchall())
        deadline = time.monotonic() + CALLS_END_S
        while began and time.monotonic() < deadline:
            time.sleep(0.05)
            began &= set(connection.execute(OPEN).fetchall())


@contextlib.contextmanager
def _transaction(url: str) -> Generator[sqlalchemy.Connection]:
    """Give a SQLAlchemy connection in a transaction; what the driver raises comes out as it was."""
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=lambda: connect(url, autocommit=False),
        poolclass=NullPool,
        # the version is read after waiting for another upgrade to end, so that wants a new snapshot
        isolation_level="READ COMMITTED",
    )
    try:
        with engine.begin() as connection:
            yield connection
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise error.orig from None
        raise


def _revision(connection: sqlalchemy.Connection, schema: str | None = None) -> str | None:
    options = {"version_table": VERSION_TABLE, "version_table_schema": schema}
    return MigrationContext.configure(connection, opts=options).get_current_revision()


def _current_schema(connection: sqlalchemy.Connection) -> str:
    found = connection.scalar(sqlalchemy.text("select current_schema()"))
    if found is None:
        raise MigrationError("there is no current schema: the search path names none that exists; name one")
    return found


def _prepare(connection: sqlalchemy.Connection, schema: str | None) -> None:
    """Wait for our turn, and make the schema the current one for this transaction."""
    info: psycopg.ConnectionInfo = connection.connection.driver_connection.info  # pyright: ignore
    check_server(info.server_version)
    name = schema or _current_schema(connection)
    run = connection.execution_options(no_parameters=True).exec_driver_sql
    run("set local lock_timeout = 0")
    # schemas whose numbers collide only wait for each other
    run(f"select pg_catalog.pg_advisory_xact_lock({UPGRADES}, {zlib.crc32(name.encode()) >> 1})")
    run(f"set local lock_timeout = {LOCK_TIMEOUT_MS}")
    # IF NOT EXISTS wants the right to create schemas even where this one exists
    there = sqlalchemy.text("select true from pg_catalog.pg_namespace where nspname = :name")
    if not connection.scalar(there, {"name": name}):
        run(f"create schema {quote(name)}")
    run(f"set local search_path to {quote(name)}, pg_temp")
