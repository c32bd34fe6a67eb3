"""Install, upgrade and downgrade the schema: Alembic, with a version table of our own.

An application's own `alembic upgrade head` neither sees nor touches any of it. One whose autogenerate
compares the database with its models has pyqueue_sql.alembic.include_object in its env.py.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TextIO

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.errors import MigrationError
from pyqueue_sql.schema import frozen, migrate_mysql, migrate_postgresql, reload_mysql
from pyqueue_sql.schema.release import release
from pyqueue_sql.schema.revision import VERSION_TABLE

NEVER_RELEASED = frozenset(
    {
        "0001_queue",
        "0002_history",
        "0002_history_identity",
        "0002_history_tables",
        "0003_innodb",
        "0004_consumers",
        "0004_consumers_tables",
        "0005_staging",
        "0005_staging_tables",
        "0006_topics",
        "0006_topics_tables",
        "0007_groups",
        "0007_groups_tables",
        "0008_mission",
        "0008_mission_kinds",
        "0008_mission_tables",
    }
)
"""Revisions of checkouts from before the first release."""
UNRELEASED = (
    "the queue that is installed here is of revision {}, from before the first release, and no upgrade leads "
    "from there: work off its messages, remove it with what installed it (pyqueue downgrade base, in that "
    "checkout) and upgrade then; or drop the schema or database that it is in"
)
UNKNOWN = (
    "the queue that is installed here is of revision {}, which this version of pyqueue_sql doesn't know: "
    "install the version that it comes from, or a newer one"
)

ENCODING = "set client_encoding = 'UTF8';"
"""What psql begins with, whatever its locale says of the text."""
THEIRS = "alembic_version"
"""The version table of an application's own migrations."""

_alembic = threading.Lock()
"""Alembic's `context` and `op` are one for the process."""


def upgrade(
    url: str | None,
    *,
    schema: str | None = None,
    revision: str = "head",
    sql: bool = False,
    dialect: str | None = None,
    optional: bool = False,
    output: TextIO | None = None,
) -> list[str]:
    """Bring the schema to a revision, while producers and consumers go on, and put right what differs.

    Whatever routine, view, trigger, comment, role or right is missing or differs is made again, from any
    state: after a restore without routines, say, or after a rename of the schema. Rights are given by our
    roles: others than these and the owner, PUBLIC too, lose what they were granted on what is ours. A queue
    that `sql/*/install.sql` or a branch of an application's migrations installed is taken over.

    It waits for another upgrade of the same schema to end. For a lock on one of our tables it waits a moment
    at a time (PostgreSQL 0.3 s, MariaDB and MySQL 1 s), so that the queue goes on in between, and it gives up
    after 30 tries.

    On PostgreSQL a first installation is one transaction. From one revision to another each revision is one,
    and before the next one begins the calls that were going on have ended: what gives up in between is at the
    last revision that was reached, and goes on from there when it is called again.

    On MariaDB and MySQL each statement is a transaction; what gives up, or is killed, has done a part, and
    the next upgrade does the rest. Routines that differ are replaced while calls wait
    (pyqueue_sql.schema.reload_mysql says what a client can see of that). What the server refuses without harm
    (functions and the trigger of the inbox; roles) is one line in the log, and each upgrade tries it again.

    Args:
        url: the database; None only with `sql`.
        schema: where to install, created if need be; None: the current schema, the first of the search path.
            On MariaDB and MySQL another database.
        revision: an id, or `head`.
        sql: print the statements, and touch no database.
        dialect: what to print with `sql`, postgresql or mysql; None: that of the URL, postgresql without one.
        optional: print also what some MariaDB and MySQL servers refuse: functions, the trigger of the inbox.
        output: where to, in UTF-8; None: standard output.

    Returns:
        What was missing or differed, on top of the steps from one revision to another; nothing with `sql`.

    Raises:
        ConnectionFailed: no connection.
        MigrationError: not on this server, or not in that schema, or not by this user, or not from the
            revision that is there; on MariaDB and MySQL also a lock that stays.
        psycopg.Error, pymysql.Error: what the server says.
    """
    return _go(command.upgrade, url, schema, revision, sql, dialect, output, optional=optional)


def downgrade(
    url: str | None,
    *,
    schema: str | None = None,
    revision: str = "base",
    sql: bool = False,
    dialect: str | None = None,
    output: TextIO | None = None,
) -> None:
    """Bring the schema back to a revision, by default to before the first: then nothing of ours is left.

    A schema that `upgrade` created stays, and on MariaDB and MySQL the roles, which belong to all databases.
    With `sql` the statements start from the newest revision. Arguments and errors are those of `upgrade`; a
    schema that isn't there is an error, too.
    """
    revision = f"head:{revision}" if sql else revision
    _go(command.downgrade, url, schema, revision, sql, dialect, output)


def current(url: str, *, schema: str | None = None) -> str | None:
    """Return the revision that is installed, or None; arguments and errors are those of `upgrade`."""
    return _server(url).revision(url, schema, VERSION_TABLE)


def extension(url: str, *, schema: str | None = None) -> str | None:
    """Return the extension of PostgreSQL that the queue belongs to, or None; arguments as of `upgrade`."""
    if is_mysql(url):
        return None
    with migrate_postgresql.reading(url, schema) as connection:
        return migrate_postgresql.extension_of(connection)


def newest() -> str:
    """Return the newest revision that this version of the package knows."""
    [head] = ScriptDirectory(str(frozen.MIGRATIONS)).get_heads()
    return head


def is_newer(revision: str) -> bool:
    """Return whether a revision, whose number it begins with, is newer than this version of the package."""
    return revision > newest()


def differing(url: str, *, schema: str | None = None) -> list[str]:
    """Return what is missing or differs from the revision that is installed; change nothing.

    `upgrade` would make it again. Arguments and errors are those of `upgrade`.
    """
    server = _server(url)
    scripts = ScriptDirectory(str(frozen.MIGRATIONS))
    with server.reading(url, schema) as connection:
        now = _context(connection).get_current_revision()
        if now is None:
            raise MigrationError("no queue is installed here by pyqueue upgrade")
        _steps(scripts, command.upgrade, now, "head")
        return server.differing(connection, release(scripts, now, server.DIALECT), VERSION_TABLE)


def left_out(url: str, *, schema: str | None = None) -> list[str]:
    """Return the functions and triggers that a MariaDB or MySQL server refused; arguments as of `upgrade`."""
    scripts = ScriptDirectory(str(frozen.MIGRATIONS))
    with migrate_mysql.reading(url, schema) as connection:
        return reload_mysql.left_out(connection, release(scripts, newest(), migrate_mysql.DIALECT))


def _server(url: str) -> Any:
    """Return the module for the dialect of a URL."""
    return migrate_mysql if is_mysql(url) else migrate_postgresql


def _go(
    what: Callable[..., None],
    url: str | None,
    schema: str | None,
    revision: str,
    sql: bool,
    dialect: str | None,
    output: TextIO | None,
    *,
    optional: bool = False,
) -> list[str]:
    # no URL in the configuration: what Alembic has it may print
    target = output or sys.stdout
    config = Config(output_buffer=target, attributes={"schema": schema, "optional": optional})
    config.set_main_option("script_location", str(frozen.MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    if sql:
        config.attributes["dialect"] = dialect or (_server(url).DIALECT if url else frozen.DIALECTS[0])
        scripts = ScriptDirectory.from_config(config)
        for one in revision.split(":"):
            _check(scripts, ("head", "base"), one)
        if config.attributes["dialect"] == migrate_postgresql.DIALECT:
            target.write(f"{ENCODING}\n\n")
        with _alembic:
            what(config, revision, sql=True)
        return []
    if url is None:
        raise ValueError("a URL is needed")
    server = _server(url)
    scripts = ScriptDirectory.from_config(config)
    steps: list[str] = []
    taken_over: list[str] = []
    put_right: list[str] = []
    fresh = False

    def step(connection: Connection, now: str | None) -> None:
        nonlocal fresh
        if now is None and what is command.upgrade:
            now = _take_over(connection, scripts, server.DIALECT)
            taken_over[:] = [f"taken over as {now}"] if now else []
        fresh = now is None
        steps[:] = _steps(scripts, what, now, revision)
        config.attributes["connection"] = connection
        with _alembic:
            what(config, steps[0])
        if fresh:
            settle(connection, _context(connection).get_current_revision())

    def settle(connection: Connection, now: str | None) -> None:
        if what is command.upgrade and now is not None:
            given = release(scripts, now, server.DIALECT)
            # one revision from nothing has just loaded the same texts
            loaded = fresh and now in scripts.get_bases()
            put_right[:] = server.settle(connection, given, VERSION_TABLE, loaded=loaded)

    turn = partial(server.transaction, url, schema, VERSION_TABLE, creates=what is command.upgrade)
    turn(step)
    while len(steps) > 1:
        server.let_calls_end(url)
        turn(step)
    if fresh:
        return []
    # by itself, so that nobody waits for both: what was loaded is locked to the end of its transaction
    turn(settle)
    return [*taken_over, *put_right]


def _context(connection: Connection, table: str = VERSION_TABLE) -> MigrationContext:
    return MigrationContext.configure(connection, opts={"version_table": table})


def _take_over(connection: Connection, scripts: ScriptDirectory, dialect: str) -> str | None:
    """Note the revision of a queue that somebody else installed, and return it; None where there is none.

    It is the one that the application's migrations name, else the first: what sql/ has installed says itself
    which it is.
    """
    [first] = scripts.get_bases()
    current = "database()" if dialect == "mysql" else "current_schema()"
    there = sqlalchemy.inspect(connection).get_table_names(
        connection.scalar(sqlalchemy.text(f"select {current}"))
    )
    named = _context(connection, THEIRS).get_current_heads() if THEIRS in there else ()
    ours = {script.revision for script in scripts.walk_revisions()}
    found = next((one for one in named if one in ours), first)
    if not release(scripts, found, dialect).tables <= set(there):
        return None
    context = _context(connection)
    context.stamp(scripts, found)
    return found


def _steps(scripts: ScriptDirectory, what: Any, now: str | None, revision: str) -> list[str]:
    """Return where the steps lead, the last one to the revision; one step where nobody calls the queue.

    Raises:
        MigrationError: nobody here knows the revision that is there, or the one that is asked for.
    """
    _check(scripts, ("head" if what is command.upgrade else "base",), revision)
    way = [script.revision for script in scripts.walk_revisions()]
    if now is not None and now not in way:
        raise MigrationError((UNRELEASED if now in NEVER_RELEASED else UNKNOWN).format(now))
    if now is None or revision == "base":
        return [revision]
    to = way[0] if revision == "head" else revision
    first, last = way.index(now), way.index(to)
    if what is command.upgrade:
        return way[last:first][::-1] or [now]
    if last < first:
        raise MigrationError(f"the queue here is of revision {now}, which is older than {to}: upgrade")
    return way[first + 1 : last + 1] or [now]


def _check(scripts: ScriptDirectory, words: tuple[str, ...], revision: str) -> None:
    allowed = (*words, *(script.revision for script in scripts.walk_revisions()))
    if revision not in allowed:
        raise MigrationError(f"revision: there is no {revision!r} to go to; allowed are {', '.join(allowed)}")
