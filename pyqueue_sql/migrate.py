"""Install, upgrade and downgrade the schema: Alembic, with a version table of our own.

An application's own `alembic upgrade head` neither sees nor touches any of it. One whose autogenerate
compares the database with its models passes `include_name=pyqueue_sql.migrate.include_name` to Alembic's
`context.configure`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from pyqueue_sql import migrate_mysql, migrate_postgresql
from pyqueue_sql.connect import is_mysql
from pyqueue_sql.revision import DIALECTS, MIGRATIONS

VERSION_TABLE = "queue_version"
TABLES = frozenset(
    {
        "delayed_queue",
        "queue_bucket",
        "queue_claim",
        "queue_count",
        "queue_dedup",
        "queue_gate",
        "queue_group",
        "queue_group_member",
        "queue_group_slot",
        "queue_hint",
        "queue_history",
        "queue_hold",
        "queue_inbox",
        "queue_kind",
        "queue_log",
        "queue_log_epoch",
        "queue_log_gone",
        "queue_log_known",
        "queue_order",
        "queue_order_waiting",
        "queue_place",
        "queue_reader",
        "queue_recurring",
        "queue_semaphore",
        "queue_semaphore_slot",
        "queue_semaphore_wait",
        "queue_slot",
        "queue_stage",
        "queue_stage_done",
        "queue_stage_part",
        "queue_stream_part",
        "queue_subscription",
        "queue_term",
        "queue_use",
        "queue_worker",
        VERSION_TABLE,
    }
)
"""Of both dialects; each has some that the other has no need of."""

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
    dialect: str | None = None,
    output: TextIO | None = None,
) -> None:
    """Bring the schema to a revision, while producers and consumers go on.

    It waits for another upgrade of the same schema to end. For a lock on one of our tables it waits a moment
    at a time (PostgreSQL 0.3 s, MariaDB and MySQL 1 s), so that the queue goes on in between, and it gives up
    after 30 tries.

    On PostgreSQL a first installation is one transaction. From one revision to another each revision is one,
    and before the next one begins the calls that were going on have ended: what gives up in between is at the
    last revision that was reached, and goes on from there when it is called again.

    On MariaDB and MySQL each statement is a transaction; what gives up, or is killed, has done a part, and
    the next upgrade does the rest. Routines that differ are replaced while calls wait
    (pyqueue_sql.reload_mysql says what a client can see of that). What the server refuses without harm
    (functions and the trigger of the inbox; roles) is one line in the log, and each upgrade tries it again.

    Args:
        url: the database; None only with `sql`.
        schema: where to install, created if need be; None: the current schema, the first of the search path.
            On MariaDB and MySQL another database.
        revision: an id, or `head`.
        sql: print the statements, and touch no database.
        dialect: what to print with `sql`, postgresql or mysql; None: that of the URL, postgresql without one.
        output: where to; None: standard output.

    Raises:
        ConnectionFailed: no connection.
        MigrationError: not on this server, or not in that schema, or not by this user; on MariaDB and MySQL
            also a lock that stays.
        psycopg.Error, pymysql.Error: what the server says.
    """
    _go(command.upgrade, url, schema, revision, sql, dialect, output)


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
    With `sql` the statements start from the newest revision. Arguments and errors are those of `upgrade`.
    """
    revision = f"head:{revision}" if sql else revision
    _go(command.downgrade, url, schema, revision, sql, dialect, output)


def current(url: str, *, schema: str | None = None) -> str | None:
    """Return the revision that is installed, or None; arguments and errors are those of `upgrade`."""
    return _server(url).revision(url, schema, VERSION_TABLE)


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
) -> None:
    # no URL in the configuration: what Alembic has it may print
    config = Config(output_buffer=output or sys.stdout, attributes={"schema": schema})
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "newline")
    if sql:
        config.attributes["dialect"] = dialect or (_server(url).DIALECT if url else DIALECTS[0])
        with _alembic:
            what(config, revision, sql=True)
        return
    if url is None:
        raise ValueError("a URL is needed")
    server = _server(url)
    scripts = ScriptDirectory.from_config(config)
    steps: list[str] = []

    def step(connection: Connection, now: str | None) -> None:
        steps[:] = _steps(scripts, what, now, revision, server.DIALECT)
        config.attributes["connection"] = connection
        with _alembic:
            what(config, steps[0])

    server.transaction(url, schema, VERSION_TABLE, step)
    while len(steps) > 1:
        server.let_calls_end(url)
        server.transaction(url, schema, VERSION_TABLE, step)


def _steps(scripts: ScriptDirectory, what: Any, now: str | None, revision: str, dialect: str) -> list[str]:
    """Return where the steps lead, the last one to the revision; one step where nobody calls the queue.

    What does nothing in the dialect is no step of its own.
    """
    way = list(scripts.walk_revisions())
    if what is command.upgrade:
        way.reverse()
    ids = [script.revision for script in way]
    try:
        found = scripts.get_revision(revision)
    except CommandError:
        found = None  # a relative one, or none: for Alembic to say
    if found is None or now not in ids:
        return [revision]
    first, last = ids.index(now), ids.index(found.revision)
    steps: list[str] = []
    busy = False
    for at in range(first + 1, last + 1):
        # going down it is the revision behind us that does something
        does = dialect in way[at if what is command.upgrade else at - 1].module.dialects
        if not steps or (does and busy):
            steps.append(ids[at])
            busy = does
        else:
            steps[-1] = ids[at]
            busy = busy or does
    return steps or [revision]
