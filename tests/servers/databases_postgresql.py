"""Databases on a PostgreSQL server: warm ones with the queue in them that tests use in turn, and copies."""

from __future__ import annotations

import itertools
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql
from pytest_postgresql.janitor import DatabaseJanitor

from pyqueue_sql.schema import migrate
from pyqueue_sql.testing.clock_postgresql import Clock
from tests.servers import kept

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = 512 * 1024
"""Bytes; a table that has more is truncated, for deleting would leave the next test to pass over its rows."""
END_SECONDS = 20

END_SESSIONS = """
select pg_terminate_backend(a.pid) from pg_stat_activity a
where a.datname = current_database() and a.pid <> all (%s) and a.backend_type = 'client backend'
"""

SIZES = """
select c.relname, pg_relation_size(c.oid) from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> 'queue_version'
    and pg_relation_size(c.oid) > 0
"""

# numbers go on from test to test, which finds more; these keep a time
FORGET = """
select setval(c.oid, 1, false) from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind = 'S' and c.relname like 'queue\\_event\\_%'
    and pg_sequence_last_value(c.oid) is not null
"""

# what TRUNCATE changes of pg_class isn't in it, nor what a session's own tables leave behind
INSTALLATION = """
select concat_ws(' ',
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_proc c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_attribute c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_constraint c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_trigger c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_rewrite c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_sequence c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_description c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_extension c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_default_acl c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_publication c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_publication_rel c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_policy c),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_namespace c
        where c.nspname not like 'pg\\_%temp\\_%'),
    (select concat_ws(',', count(*), max(c.xmin::text::bigint)) from pg_db_role_setting c
        where c.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))),
    (select d.xmin::text from pg_database d where d.datname = current_database()),
    (select concat_ws(',', count(*), sum(hashtextextended(concat_ws(' ', c.oid, c.relname, c.relkind,
        c.relowner, c.relpersistence, c.relacl::text, c.reloptions::text, c.relrowsecurity), 0)))
        from pg_class c where c.relnamespace = 'public'::regnamespace))
"""


@dataclass(frozen=True)
class Server:
    """A running server, and who uses it."""

    host: str
    port: int
    user: str
    password: str | None
    maintenance: str
    """The database from which others are created."""

    def url(self, dbname: str) -> str:
        """Return the URL of a database of this server, with the password in it."""
        login = quote(self.user, safe="") + (f":{quote(self.password, safe='')}" if self.password else "")
        return f"postgresql://{login}@{quote(self.host, safe='')}:{self.port}/{quote(dbname, safe='')}"


class Warm:
    """A database with the queue, for one test after another.

    Args:
        url: of a new copy of the template.
        clocked: whether its time is a `Clock`'s; else it is the real one.
    """

    def __init__(self, url: str, clocked: bool) -> None:
        self.url = url
        self._admin = psycopg.connect(url, autocommit=True, prepare_threshold=0, application_name="tests")
        if clocked:
            Clock(self._admin)
        self._installed = self._installation()

    def clean(self, keep: bool) -> bool:
        """End the sessions of the test before and remove what it left.

        Args:
            keep: whether the sessions that are kept for the next test stay.

        Returns:
            Whether the database is as it was; where not, the test has changed what is installed in it.
        """
        if not keep:
            kept.leave(self.url)
        stay = [self._admin.info.backend_pid, *kept.numbers(self.url)]
        try:
            deadline = time.monotonic() + END_SECONDS
            while self._admin.execute(END_SESSIONS, [stay]).fetchall():
                assert time.monotonic() < deadline, "a session of the test before doesn't end"
                time.sleep(0.001)
            if self._installation() != self._installed:
                return False
            sizes = dict(self._all(SIZES))
        except psycopg.OperationalError:  # the test has ended this session, too
            return False
        large = [sql.Identifier(name) for name, size in sizes.items() if size > LARGE]
        if large:
            self._admin.execute(sql.SQL("truncate {}").format(sql.SQL(", ").join(large)))
        small = [sql.Identifier(name) for name, size in sizes.items() if size <= LARGE]
        texts: list[sql.Composable] = [sql.SQL("delete from {}").format(name) for name in small]
        if self._admin.info.server_version >= 150000:
            # else what is deleted here may be counted in the course of the test, up to ten seconds later
            texts.append(sql.SQL("select pg_stat_force_next_flush()"))
        self._admin.execute(sql.SQL("; ").join([*texts, sql.SQL(FORGET)]), prepare=False)
        return True

    def close(self) -> None:
        """Leave it."""
        kept.leave(self.url)
        self._admin.close()

    def _installation(self) -> Any:
        """Return what changes with whatever is installed in the database."""
        return self._all(INSTALLATION)

    def _all(self, text: LiteralString) -> list[Any]:
        return self._admin.execute(text).fetchall()


class Databases:
    """The databases of this run on one server.

    Args:
        server: it.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self._prefix = f"pyqueue_test_{os.getpid()}"  # keeps two runs on one server apart
        self._numbers = itertools.count(1)
        self._template: str | None = None
        self._warm: dict[bool, Warm] = {}

    @property
    def template(self) -> str:
        """The name of the database with the queue in it that others are copies of."""
        if self._template is None:
            self._template = f"{self._prefix}_template"
            self._janitor(self._template).init()
            url = self.server.url(self._template)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("revoke create on schema public from public")  # so from PostgreSQL 15 on
                migrate.upgrade(url)
                if self.superuser():  # then each test says whether what is written can be replicated
                    connection.execute("create publication everything for all tables")
        return self._template

    def superuser(self) -> bool:
        """Return whether the tests may do all on the server."""
        with psycopg.connect(self.server.url(self.server.maintenance)) as connection:
            may = connection.execute("select rolsuper from pg_roles where rolname = current_user")
            return may.fetchone() == (True,)

    def clean(self, clocked: bool, keep: bool = False) -> str:
        """Return the URL of a database with the queue and no message in it, for one test at a time.

        What a test changes of the installation, no other sees: the next one gets a new database.

        Args:
            clocked: whether its time is a `Clock`'s; else it is the real one.
            keep: whether the sessions that are kept for the next test stay.
        """
        warm = self._warm.get(clocked)
        if warm is None or not warm.clean(keep):
            if warm is not None:
                warm.close()
                self._janitor(warm.url.rpartition("/")[2]).drop()
            self._warm[clocked] = warm = Warm(self._copy(), clocked)
        return warm.url

    @contextmanager
    def own(self, original: str | None = None) -> Iterator[str]:
        """Give the URL of a database with the queue that no other test had or will have.

        Args:
            original: the name of the one that it is a copy of; None: one with no message in it.
        """
        url = self._copy(original)
        try:
            yield url
        finally:
            self._janitor(url.rpartition("/")[2]).drop()

    def close(self) -> None:
        """Drop them all."""
        for warm in self._warm.values():
            warm.close()
            self._janitor(warm.url.rpartition("/")[2]).drop()
        if self._template is not None:
            self._janitor(self._template).drop()

    def _copy(self, original: str | None = None) -> str:
        name = f"{self._prefix}_{next(self._numbers)}"
        self._janitor(name, original or self.template).init()
        return self.server.url(name)

    def _janitor(self, name: str, template: str = "template1") -> DatabaseJanitor:
        server = self.server
        return DatabaseJanitor(
            user=server.user,
            host=server.host,
            port=server.port,
            password=server.password,
            dbname=name,
            template_dbname=template,
            maintenance_dbname=server.maintenance,
        )
