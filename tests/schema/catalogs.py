"""The catalog of a database as values to compare, and our newest revision."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import psycopg
from alembic.script import ScriptDirectory
from psycopg import sql

from pyqueue_sql.calls import connect as connecting
from pyqueue_sql.schema import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

CATALOGS = """
select c.relkind::text, n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname !~ '^(pg_|information_schema)'
union all select 'function', n.nspname, p.oid::regprocedure::text from pg_proc p
join pg_namespace n on n.oid = p.pronamespace where n.nspname !~ '^(pg_|information_schema)'
union all select 'type', n.nspname, t.typname from pg_type t join pg_namespace n on n.oid = t.typnamespace
where n.nspname !~ '^(pg_|information_schema)'
union all select 'schema', null, n.nspname from pg_namespace n where n.nspname !~ '^pg_(temp|toast_temp)'
union all select 'trigger', null, t.tgname from pg_trigger t
union all select 'rights', null, n.nspacl::text from pg_namespace n where n.nspname = 'public'
order by 1, 2, 3
"""
DEFINITIONS = """
with ours as (
    select c.* from pg_class c where c.relnamespace = quote_ident(current_schema())::regnamespace
    and c.relname !~ '^queue_version')
select 'function' as what, pg_get_functiondef(p.oid) as text,
    array(select unnest(p.proacl::text[]) order by 1)::text as rights,
    obj_description(p.oid, 'pg_proc') as comment
from pg_proc p where p.pronamespace = quote_ident(current_schema())::regnamespace
union all select 'relation',
    concat_ws(' ', c.relkind, c.relname, c.relpersistence, c.relreplident, c.reloptions, c.relrowsecurity,
        pg_get_viewdef(c.oid)),
    array(select unnest(c.relacl::text[]) order by 1)::text, obj_description(c.oid, 'pg_class')
from ours c where c.relkind in ('r', 'v')
union all select 'column',
    concat_ws(' ', c.relname, a.attname, row_number() over (partition by c.oid order by a.attnum),
        format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull, a.attidentity,
        a.attstorage, pg_get_expr(d.adbin, d.adrelid)),
    a.attacl::text, col_description(c.oid, a.attnum)
from ours c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum where c.relkind in ('r', 'v')
union all select 'index', pg_get_indexdef(c.oid), null, null from ours c where c.relkind = 'i'
union all select 'constraint', concat_ws(' ', c.relname, o.conname, pg_get_constraintdef(o.oid)), null, null
from ours c join pg_constraint o on o.conrelid = c.oid
union all select 'trigger', pg_get_triggerdef(t.oid), null, obj_description(t.oid, 'pg_trigger')
from ours c join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
order by 1, 2
"""
HEAD = ScriptDirectory(str(frozen.MIGRATIONS)).get_current_head() or ""
Rows = list[tuple[Any, ...]]


def connect(url: str, *, autocommit: bool = True, schema: str | None = None) -> psycopg.Connection[Any]:
    """Return a connection to PostgreSQL."""
    connection = connecting.connect(url, autocommit=autocommit, schema=schema)
    assert isinstance(connection, psycopg.Connection)
    return connection


def rows(url: str, text: str, schema: str | None = None) -> Rows:
    """Return what a query finds; nothing where the text is none."""
    with connect(url, schema=schema) as connection:
        cursor = connection.execute(text.encode())
        return cursor.fetchall() if cursor.description else []


def printed(what: Any, **options: Any) -> str:
    """Return the statements that an upgrade or a downgrade prints."""
    output = io.StringIO()
    what(None, sql=True, output=output, **options)
    return output.getvalue()


@contextlib.contextmanager
def empty_database(url: str, name: str, template: str = "template0") -> Iterator[str]:
    """Give the URL of a database of PostgreSQL with nothing in it, dropped afterwards.

    Args:
        url: of one of its superuser's.
        name: of the new one.
        template: what it is a copy of.
    """
    with connect(url) as connection:
        create = sql.SQL("create database {} template {}")
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
    there = f"{url.rpartition('/')[0]}/{name}"
    with connect(there) as connection:
        connection.execute("revoke create on schema public from public")  # as it is from PostgreSQL 15 on
    try:
        yield there
    finally:
        with connect(url) as connection:
            connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
