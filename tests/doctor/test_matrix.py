"""Each role, and a login without any, and each routine, table, view and column: all cells are as declared."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pymysql
from pymysql.constants import ER

from pyqueue_sql.calls.connect import connect
from tests.doctor import rights
from tests.doctor.logins import Watched
from tools.house import LIVE, files, name

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUTINE_REFUSED = 1370
"""ER_PROCACCESS_DENIED_ERROR; comes before any look at the arguments."""
TABLE_REFUSED = {ER.TABLEACCESS_DENIED_ERROR, ER.COLUMNACCESS_DENIED_ERROR, ER.DBACCESS_DENIED_ERROR}
NOBODY_CAN = {1288, 1348, 1471, 3105, 1906}
"""A view that isn't to be written to, a column that is computed."""
ON_COLUMNS = {
    "select": "select t.{column} from {table} t limit 0",
    "insert": "insert into {table} ({column}) select null from (select 1 as one) o where o.one = 0",
    "update": "update {table} t set t.{column} = null where 1 = 0",
}
ON_TABLES = {"delete": "delete from {table} where 1 = 0", "drop": "drop table {table}_is_not_there"}
OF_POSTGRESQL = """
with c as (
    select c.oid, c.relname, c.relkind from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'v', 'm', 'p', 'f', 'S')),
l as (select l.name from unnest(%s::text[]) l (name)),
p as (
    select p.name
    from unnest('{select, insert, update, references, delete, truncate, trigger, usage}'::text[]) p (name))
select l.name, c.relname, a.attname, p.name from l, c, pg_attribute a, p
where c.relkind <> 'S' and p.name in ('select', 'insert', 'update', 'references')
    and a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    and has_column_privilege(l.name, c.oid, a.attnum, p.name)
union all
select l.name, c.relname, '', p.name from l, c, p
where c.relkind <> 'S' and p.name in ('delete', 'truncate', 'trigger')
    and has_table_privilege(l.name, c.oid, p.name)
union all
select l.name, c.relname, '', p.name from l, c, p
where c.relkind = 'S' and p.name in ('usage', 'select', 'update')
    and has_sequence_privilege(l.name, c.oid, p.name)
union all
select l.name, current_schema(), '', 'create' from l
where has_schema_privilege(l.name, current_schema(), 'create')
"""
CALLABLE = """
select l.name, p.proname from unnest(%s::text[]) l (name), pg_proc p
where p.pronamespace = current_schema()::regnamespace and has_function_privilege(l.name, p.oid, 'execute')
"""
KNOWN = {
    "postgresql": "select p.proname, null from pg_proc p"
    " where p.pronamespace = current_schema()::regnamespace",
    "innodb": "select r.routine_name, r.routine_type from information_schema.routines r"
    " where r.routine_schema = database()",
}


def there(watched: Watched, server_name: str) -> set[tuple[str, str]]:
    """All columns of all tables and views, as their owner sees them."""
    here = "current_schema()" if server_name == "postgresql" else "database()"
    text = (
        f"select c.table_name, c.column_name from information_schema.columns c where c.table_schema = {here}"
    )
    return {(str(table), str(column)) for table, column in watched.execute(text)}


def names(watched: Watched) -> dict[str, str]:
    """The logins' names, and the role of each."""
    return {unquote(urlsplit(url).username or ""): role for role, url in watched.logins.items()}


class OnInnodb:
    """What a login may do, found out by trying: no catalogue says what its roles come to.

    Args:
        url: of the login.
    """

    def __init__(self, url: str) -> None:
        self._schema = urlsplit(url).path[1:]
        # who has no right at all may not even choose the database
        self._connection = connect(urlsplit(url)._replace(path="").geturl())

    def _refused(self, text: str, by: set[int]) -> bool:
        with self._connection.cursor() as cursor:
            try:
                cursor.execute(text.encode())
            except pymysql.Error as error:
                return error.args[0] in by
        return False

    def calls(self, found: list[tuple[str, str]]) -> Iterator[str]:
        """Yield the routines that it may call, by a call that has too many arguments for any."""
        arguments = ", ".join(["null"] * 60)
        for routine, kind in found:
            how = "call" if kind == "PROCEDURE" else "select"
            if not self._refused(f"{how} {self._schema}.{routine}({arguments})", {ROUTINE_REFUSED}):
                yield routine

    def rights(self, found: set[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Yield table, column and right of all that it has."""
        places = [
            *((table, column, ON_COLUMNS) for table, column in found),
            *((table, "", ON_TABLES) for table in {table for table, _ in found}),
        ]
        for table, column, texts in places:
            for right, text in texts.items():
                whole = text.format(table=f"{self._schema}.{table}", column=column)
                if not self._refused(whole, TABLE_REFUSED | NOBODY_CAN):
                    yield table, column, right

    def close(self) -> None:
        """Leave."""
        self._connection.close()


def test_who_may_call_what(watched: Watched, server_name: str) -> None:
    found: set[tuple[str, str]] = set()
    known = watched.execute(KNOWN["postgresql" if server_name == "postgresql" else "innodb"])
    if server_name == "postgresql":
        of = names(watched)
        with watched.queue.connection.cursor() as cursor:
            cursor.execute(CALLABLE, [list(of)])
            found = {(of[login], one) for login, one in cursor.fetchall()}
    else:
        for role, url in watched.logins.items():
            tried = OnInnodb(url)
            found |= {(role, one) for one in tried.calls([(f"{one}", f"{kind}") for one, kind in known])}
            tried.close()
    expected = rights.calls(server_name)
    assert found == expected
    # nothing was left out of the question: all routines are there, and each public one is somebody's
    live = LIVE / ("postgresql" if server_name == "postgresql" else "mysql")
    assert {name(path) for path in files(live, "routine", "function")} == {one for one, _ in known}
    assert {one for one, _ in known if not one.startswith("_")} <= {one for _, one in expected}


def test_who_reads_and_writes_what(watched: Watched, server_name: str) -> None:
    columns = there(watched, server_name)
    found: set[tuple[str, ...]] = set()
    if server_name == "postgresql":
        of = names(watched)
        with watched.queue.connection.cursor() as cursor:
            cursor.execute(OF_POSTGRESQL, [list(of)])
            found = {(of[login], *cell) for login, *cell in cursor.fetchall()}
    else:
        for role, url in watched.logins.items():
            tried = OnInnodb(url)
            found |= {(role, *cell) for cell in tried.rights(columns)}
            tried.close()
    assert found == rights.columns(columns)
    declared = {*rights.OBSERVED, *rights.OBSERVED_COLUMNS, *rights.OPERATED, *rights.LANDED}
    assert declared <= {table for table, _ in columns}
    named = {(table, column) for table, text in rights.OPERATED_COLUMNS.items() for column in text.split()}
    assert named - columns <= {("delayed_queue", "ready_kind")}
    assert {("delayed_queue", "secret"), ("queue_version", "version_num")} <= columns
