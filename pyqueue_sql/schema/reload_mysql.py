"""Routines are reloaded on MariaDB and MySQL while they are being called.

Nothing there is undone when it fails: every statement commits by itself. So each can be run again, and what
is installed as it should be is left alone. A routine is replaced behind `queue_gate`: every call reads that
table first, and waits there while a second connection holds it under LOCK TABLES. No call that is past the
gate is going on then, and those that wait go on in the new routines.

What a client can still see, on MySQL, which has no CREATE OR REPLACE PROCEDURE: error 1305 for the moment
between DROP and CREATE of a routine that a call meets before the gate, which are the public ones,
_queue_begin, and where that fails _queue_undo. A right to execute one routine that was granted to somebody by
name goes with its DROP, but for those of our roles.
"""

from __future__ import annotations

import contextlib
import logging
import random
import re
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from pyqueue_sql.errors import MigrationError
from pyqueue_sql.schema.rights_mysql import rights, take_back
from pyqueue_sql.schema.routine_mysql import Routine, evaluated, parse
from pyqueue_sql.schema.server_mysql import NOT_ALLOWED, check, errno, said, version

if TYPE_CHECKING:
    from pyqueue_sql.schema.release import Release

LOCK_TIMEOUT_S = 1
TRIES = 30
LOCK_TIMED_OUT = 1205
NEEDS_TRUST = {1418, 1419}
DONE_BEFORE = {1060, 1061, 1091}
"""A column or an index that is there already, or gone already: what was broken off is run again."""
GONE_BEFORE = DONE_BEFORE | {1054, 1146}
"""Going down also a column or a table that a statement wants and a later one has dropped."""
NO_TRUST = "the binary log is on and log_bin_trust_function_creators is off"
NO_SUCH_TABLE = 1146
NO_ROLE = {1133, 1410, 1698, 1959, 3523}
DROP = re.compile(r"(?mi)^drop (procedure|function|trigger) if exists ")
VIEW = re.compile(r"(?m)^create or replace view (\w+)")
PROBE = "_queue_probe_view"
ON_FUNCTION = re.compile(r"(?mi)^grant .* on function (\w+)")
SQL_MODE = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO"
THERE = """
select r.routine_type, r.routine_name from information_schema.routines r where r.routine_schema = database()
union all
select 'trigger', t.trigger_name from information_schema.triggers t where t.trigger_schema = database()
"""
RELATIONS = "select t.table_name from information_schema.tables t where t.table_schema = database()"
ORPHANS = """
select concat(o.kind, ' ', o.name) from (
    select lower(r.routine_type) as kind, r.routine_name as name, r.definer
    from information_schema.routines r where r.routine_schema = database()
    union all select 'trigger', t.trigger_name, t.definer
    from information_schema.triggers t where t.trigger_schema = database()
    union all select 'view', v.table_name, v.definer
    from information_schema.views v where v.table_schema = database()) o
where binary o.definer not in (select binary concat(u.user, '@', u.host) from mysql.user u)
"""
"""What is run by a user that the server doesn't know, as after a restore elsewhere."""
HIDDEN = """
select r.definer from information_schema.routines r
where r.routine_schema = database() and r.routine_definition is null
    and (r.routine_name like 'queue\\_%' or r.routine_name like '\\_queue\\_%')
limit 1
"""
"""Whose routines this user may not see the texts of."""
SETTINGS = ["set names utf8mb4", f"set session sql_mode = '{SQL_MODE}'"]
"""Routines keep these; a client that prints or sends another character set would garble their comments."""

log = logging.getLogger("pyqueue_sql")


def run(connection: Connection, parts: Mapping[str, list[str]]) -> None:
    """Run the parts of a revision.

    Args:
        connection: to the database that the queue is in; open work on it is committed, as by any DDL.
        parts: statements by part; those of `optional` may be refused, which is logged in one line.

    Raises:
        MigrationError: not on this server or not by this user, or somebody holds a lock for too long.
        sqlalchemy.exc.DBAPIError: what the server says.
    """
    with _settings(connection):
        if any(part in parts for part in ("up", "routines")):
            check(connection)
            _check_texts(connection)
        for part, texts in parts.items():
            if part == "routines":
                reload(connection, texts)
            elif part == "optional":
                _optional(connection, texts)
            else:
                for text in texts:
                    _change(connection, text, GONE_BEFORE if part == "down" else DONE_BEFORE)


def settle(connection: Connection, release: Release, table: str, *, loaded: bool) -> list[str]:  # noqa: ARG001
    """Bring all that can be made again to what the release has, and return what wasn't so.

    Args:
        connection: to the database that the queue is in; open work on it is committed, as by any DDL.
        release: what is to be there.
        table: the version table, of which nothing is needed here.
        loaded: all but what a server may refuse has been loaded just now.

    Raises:
        MigrationError: not on this server or not by this user, or somebody holds a lock for too long.
        sqlalchemy.exc.DBAPIError: what the server says.
    """
    with _settings(connection):
        check(connection)
        _check_texts(connection)
        before = rights(connection, release)
        found = [] if loaded else reload(connection, release.routines)
        found += _optional(connection, release.optional)
        after = rights(connection, release)
        if before is not None and after is not None:
            take_back(connection, release, after)
            after = rights(connection, release) or set()
            found += [f"rights: {one}" for one in sorted(before ^ after)]
        return found


def differing(connection: Connection, release: Release, table: str) -> list[str]:  # noqa: ARG001
    """Return what is missing or differs, of tables and views only what is missing; change nothing.

    Args:
        connection: to the database that the queue is in.
        release: what is to be there.
        table: the version table, of which nothing is needed here.

    Raises:
        MigrationError: this user may not see the texts of the routines.
    """
    _check_texts(connection)
    server = version(connection)
    there = {(kind.lower(), name) for kind, name in _execute(connection, THERE)}
    tables = {name for (name,) in _execute(connection, RELATIONS)}
    found = [f"missing: {name}" for name in sorted(release.relations - tables)]
    for wanted in filter(None, map(parse, release.routines)):
        name = f"{wanted.kind} {wanted.name}"
        if (wanted.kind, wanted.name) not in there:
            found.append(f"missing: {name}")
            continue
        if _installed(connection, wanted) != parse(evaluated(wanted.text, *server)):
            found.append(name)
    return found


def left_out(connection: Connection, release: Release) -> list[str]:
    """Return the functions and triggers that the server refused when the queue was installed.

    Args:
        connection: to the database that the queue is in.
        release: what may be there.
    """
    there = {(kind.lower(), name) for kind, name in _execute(connection, THERE)}
    wanted = filter(None, map(parse, release.optional))
    return [f"{one.kind} {one.name}" for one in wanted if (one.kind, one.name) not in there]


def _change(connection: Connection, text: str, before: set[int]) -> None:
    """Change a table, unless that has been done before: then it says one of these errors."""
    try:
        execute(connection, text)
    except DBAPIError as error:
        if errno(error) not in before:
            raise


def execute(connection: Connection, text: str) -> Any:
    """Execute a statement as it stands, again where somebody holds a lock.

    Args:
        connection: with a short lock_wait_timeout.
        text: one statement; colons and percent signs mean nothing in it.

    Raises:
        MigrationError: the lock stays.
        sqlalchemy.exc.DBAPIError: what the server says.
    """
    return _patiently(lambda: _execute(connection, text), text)


def reload(connection: Connection, texts: Iterable[str]) -> list[str]:
    """Bring routines, triggers and views to these texts; any other statement is just executed.

    Args:
        connection: with SETTINGS and a short lock_wait_timeout.
        texts: statements; a DROP … IF EXISTS before what creates the same anew does nothing here.

    Returns:
        What was missing or differed.

    Raises:
        MigrationError: the gate can't be closed.
        sqlalchemy.exc.DBAPIError: what the server says.
    """
    server = version(connection)
    there = {(kind.lower(), name) for kind, name in _execute(connection, THERE)}
    gone = _without_definer(connection)
    replaced: list[Routine] = []
    found: list[str] = []
    for text in texts:
        wanted = parse(text)
        if wanted is None:
            if view := VIEW.search(text):
                found += _view(connection, view[1], text, f"view {view[1]}" in gone)
            elif not DROP.search(text):
                execute(connection, text)
            continue
        name = f"{wanted.kind} {wanted.name}"
        if (wanted.kind, wanted.name) not in there:
            # nobody can be in it
            execute(connection, wanted.text)
            found.append(name)
        elif name in gone or _installed(connection, wanted) != parse(evaluated(wanted.text, *server)):
            replaced.append(wanted)
            found.append(name)
    if replaced:
        _patiently(lambda: _replace(connection, replaced, mariadb=server[1]), "queue_gate")
    return found


def _view(connection: Connection, name: str, text: str, anew: bool) -> list[str]:
    """Create or replace a view that isn't what it should be, or all the same, and return its name.

    The server keeps another text than it was given, so that of a view made for this is compared.
    """
    there = _shown(connection, name)
    if there is not None and not anew:
        _execute(connection, f"drop view if exists {PROBE}")
        _execute(connection, text.replace(f"view {name} ", f"view {PROBE} ", 1))
        wanted = _shown(connection, PROBE)
        _execute(connection, f"drop view {PROBE}")
        if there == wanted:
            return []
    execute(connection, text)
    return [f"view {name}"]


def _shown(connection: Connection, name: str) -> str | None:
    """Return what the server says about a view, without its name and definer; None where there is none."""
    try:
        text = str(_row(connection, f"show create view {name}")[1])
    except DBAPIError as error:
        if errno(error) == NO_SUCH_TABLE:
            return None
        raise
    return re.sub(r" DEFINER=`[^`]*`@`[^`]*`", "", text, count=1).replace(f"`{name}`", "", 1)


def _check_texts(connection: Connection) -> None:
    """Refuse a user who may not see what is installed: all of it would differ, and become that user's own.

    Raises:
        MigrationError: says whose it is.
    """
    owner = _execute(connection, HIDDEN).scalar()
    if owner is not None:
        raise MigrationError(
            f"this user may not see the texts of the routines, which run as {owner}: upgrade as that user, or"
            " as one who has SHOW_ROUTINE (MySQL) or SHOW CREATE ROUTINE (MariaDB 11.3), or may SELECT from"
            " mysql.proc (MariaDB)"
        )


def _without_definer(connection: Connection) -> set[str]:
    """Return what is run by nobody, as far as this user may see that."""
    try:
        return set(connection.exec_driver_sql(ORPHANS).scalars())
    except DBAPIError as error:
        if errno(error) in NOT_ALLOWED:
            return set()
        raise


def _replace(connection: Connection, routines: list[Routine], *, mariadb: bool) -> None:
    """Replace the routines while no call is going on, and take them from the list."""
    with _closed(connection):
        while routines:
            one = routines[0]
            if mariadb:
                _execute(connection, re.sub(r"\bcreate\b", "create or replace", one.text, count=1))
            else:
                _execute(connection, f"drop {one.kind} if exists {one.name}")
                _execute(connection, one.text)
            del routines[0]


@contextlib.contextmanager
def _closed(connection: Connection) -> Generator[None]:
    """Hold the gate closed, on a second connection: under LOCK TABLES no routine can be created."""
    # what is open here would hold the gate open
    connection.exec_driver_sql("commit")
    database = _row(connection, "select database(), connection_id()")
    with connection.engine.connect() as gate:
        if _row(gate, "select connection_id()")[0] == database[1]:
            raise MigrationError("a second connection is needed, and the engine has only one")
        # it is closed at the end, not kept in a pool: whatever happens, its lock goes with it
        gate.detach()
        gate.exec_driver_sql(f"set session lock_wait_timeout = {LOCK_TIMEOUT_S}")
        name = database[0].replace("`", "``")
        _execute(gate, f"lock tables `{name}`.queue_gate write")
        yield


def _installed(connection: Connection, wanted: Routine) -> Routine | None:
    """Return what is installed by that name, or None where it can't be what is wanted."""
    _, mode, text, *_ = _row(connection, f"show create {wanted.kind} {wanted.name}")
    return parse(text) if set(mode.split(",")) == set(SQL_MODE.split(",")) else None


def _optional(connection: Connection, texts: list[str]) -> list[str]:
    """Run what the server may refuse; that is a line in the log for routines and one for roles.

    Returns:
        The routines that were missing or differed.
    """
    refused: dict[str, str] = {}
    roles = ""
    found: list[str] = []
    for text in texts:
        granted = ON_FUNCTION.search(text)
        if granted and f"function {granted[1]}" in refused:
            continue
        wanted = parse(text)
        try:
            if wanted:
                found += reload(connection, [text])
            elif not DROP.search(text):
                execute(connection, text)
        except DBAPIError as error:
            if wanted and errno(error) in NEEDS_TRUST | NOT_ALLOWED:
                refused[f"{wanted.kind} {wanted.name}"] = (
                    NO_TRUST if errno(error) in NEEDS_TRUST else said(error)
                )
            elif not wanted and errno(error) in NO_ROLE | NOT_ALLOWED:
                # where somebody else has made them, they get their rights all the same
                roles = roles or said(error)
            else:
                raise
    if refused:
        log.warning("left out: %s: %s", ", ".join(refused), next(iter(refused.values())))
    if roles:
        log.warning("left out: roles, or some of their rights: %s", roles)
    return found


@contextlib.contextmanager
def _settings(connection: Connection) -> Generator[None]:
    """Set what routines keep, and short waits for locks; afterwards all is as it was."""
    mode, wait, charset, collation = _row(
        connection,
        "select @@session.sql_mode, @@session.lock_wait_timeout, @@session.character_set_client,"
        " @@session.collation_connection",
    )
    if charset != "utf8mb4":
        raise MigrationError(f"the connection must speak utf8mb4, and it speaks {charset}")
    for text in SETTINGS:
        connection.exec_driver_sql(text)
    connection.exec_driver_sql(f"set session lock_wait_timeout = {LOCK_TIMEOUT_S}")
    try:
        yield
    finally:
        # a connection that is lost has nothing to restore, and the error to be seen is the first
        if not connection.invalidated:
            connection.exec_driver_sql(
                f"set session sql_mode = '{mode}', lock_wait_timeout = {wait},"
                f" collation_connection = {collation}"
            )


def _patiently(what: Callable[[], Any], name: str) -> Any:
    for tries_left in reversed(range(TRIES)):
        try:
            return what()
        except DBAPIError as error:
            if errno(error) != LOCK_TIMED_OUT:
                raise
            if not tries_left:
                raise MigrationError(
                    f"somebody holds a lock for too long (a transaction that stays open?): {name[:60]}"
                ) from error
        # calls go on meanwhile
        time.sleep(random.uniform(0.2, 1))
    raise AssertionError("the last try returns or raises")


def _execute(connection: Connection, text: str) -> Any:
    return connection.exec_driver_sql(text, execution_options={"no_parameters": True})


def _row(connection: Connection, text: str) -> Any:
    return _execute(connection, text).one()
