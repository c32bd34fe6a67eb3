"""What can be made again is brought to what a release has, on PostgreSQL, in the transaction that is open.

That is routines, views, triggers, comments, roles and rights. Whether something differs is for the server to
say: all of it is loaded behind a savepoint, and its own account of what is there then is compared with that
of before. Where nothing does, the savepoint takes everything back. What was found in order is remembered in
the comment of the version table, so that an upgrade that has nothing to do takes no lock.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pyqueue_sql.schema.release import Release

CREATED = re.compile(r"(?m)^create or replace (function|view) (\w+)")
SAID_OF_COLUMN = re.compile(r"(?m)^comment on column (\w+)\.(\w+) ")
ROLE = re.compile(r"\bcreate role (\w+)")
IN_THE_WAY = {"42P13", "42P16"}
"""A function with another result or other names of parameters, a view with other columns."""

STATE = """
with ours as (
    select c.* from pg_catalog.pg_class c where c.relnamespace = :here
    and c.relname = any (:relations))
select case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure as what,
    pg_catalog.pg_get_functiondef(p.oid) as text,
    array(select a::text from unnest(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
        order by 1)::text as rights,
    pg_catalog.obj_description(p.oid, 'pg_proc') as comment
from pg_catalog.pg_proc p
where p.pronamespace = :here and p.proname = any (:callables)
and p.prokind in ('f', 'p')
union all
select case c.relkind when 'v' then 'view ' when 'S' then 'sequence ' else 'table ' end || c.relname,
    case c.relkind when 'v' then pg_catalog.pg_get_viewdef(c.oid) || coalesce(c.reloptions::text, '') end,
    array(select a::text from unnest(coalesce(c.relacl, pg_catalog.acldefault(
        case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))) a order by 1)::text
    || array(select b.attname || ' ' || a::text from pg_catalog.pg_attribute b, unnest(b.attacl) a
        where b.attrelid = c.oid order by 1)::text,
    coalesce(pg_catalog.obj_description(c.oid, 'pg_class'), '')
    || array(select d.objsubid || d.description from pg_catalog.pg_description d
        where d.objoid = c.oid and d.classoid = 'pg_catalog.pg_class'::regclass and d.objsubid > 0
        order by d.objsubid)::text
from ours c
union all
select 'trigger ' || t.tgname || ' on ' || c.relname,
    pg_catalog.pg_get_triggerdef(t.oid) || t.tgenabled::text, null,
    pg_catalog.obj_description(t.oid, 'pg_trigger')
from ours c join pg_catalog.pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
union all
select 'role ' || r.rolname,
    array(select m.roleid::regrole::text from pg_catalog.pg_auth_members m
        where m.member = r.oid order by 1)::text,
    array(select a::text from pg_catalog.pg_namespace n, unnest(n.nspacl) a
        where n.oid = :here
        and a::text ~ ('^"?' || r.rolname || '"?=')
        order by 1)::text, null
from pg_catalog.pg_roles r where r.rolname = any (:roles)
order by 1
"""
GRANTED = """
select distinct case p.prokind when 'p' then 'procedure ' else 'function ' end || p.oid::regprocedure,
    case a.grantee when 0 then 'public' else a.grantee::regrole::text end
from pg_catalog.pg_proc p, pg_catalog.aclexplode(nullif(p.proacl, '{}')) a
where p.pronamespace = :here and p.proname = any (:callables)
and p.prokind in ('f', 'p') and a.grantee <> p.proowner
union select case c.relkind when 'S' then 'sequence ' else 'table ' end || pg_catalog.quote_ident(c.relname),
    case a.grantee when 0 then 'public' else a.grantee::regrole::text end
from pg_catalog.pg_class c
left join pg_catalog.pg_attribute b on b.attrelid = c.oid and b.attacl is not null,
    pg_catalog.aclexplode(nullif(coalesce(c.relacl, '{}') || coalesce(b.attacl, '{}'), '{}')) a
where c.relnamespace = :here and c.relname = any (:relations)
and a.grantee <> c.relowner
"""
"""Who but its owner has a right on what; the rest of the grants is in the statements."""
NO_DEFAULTS = "select not exists (select from pg_catalog.pg_default_acl)"
SAME_NAME = """
select p.oid::regprocedure::text from pg_catalog.pg_proc p
where p.proname = :name and p.pronamespace = (
    select n.oid from pg_catalog.pg_namespace n where n.nspname = pg_catalog.current_schema())
"""
COLUMNS = """
select c.relname, a.attname from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = :here and c.relname = any (:relations)
"""

BODIES = """
select p.proname, p.prosrc from pg_catalog.pg_proc p
where p.pronamespace = :here and p.proname = any (:callables)
"""
RELATIONS = """
select c.relname from pg_catalog.pg_class c where c.relnamespace = :here and c.relname = any (:relations)
"""
BODY = re.compile(r"(?s)\$\$(.*)\$\$")
REST = "something of views, triggers, rights, roles or comments, or a setting of a function"

MEMBER = """
select e.extname::text from pg_catalog.pg_depend d join pg_catalog.pg_extension e on e.oid = d.refobjid
where d.classid = 'pg_catalog.pg_class'::regclass and d.refclassid = 'pg_catalog.pg_extension'::regclass
and d.deptype = 'e' and d.objid = pg_catalog.to_regclass(
    pg_catalog.quote_ident(pg_catalog.current_schema()) || '.delayed_queue')
"""
OF_AN_EXTENSION = (
    "the queue in this schema belongs to the extension pyqueue_sql, so its upgrade is: "
    "alter extension pyqueue_sql update"
)

State = dict[str, tuple[str | None, str | None, str | None]]


def settle(connection: Connection, release: Release, table: str, *, loaded: bool) -> list[str]:
    """Bring all that can be made again to what the release has, and return what wasn't so.

    Args:
        connection: in a transaction, its search path the schema and pg_temp.
        release: what is to be there.
        table: the version table, whose comment says what was found in order.
        loaded: it has been loaded just now.

    Raises:
        sqlalchemy.exc.DBAPIError: what the server says.
    """
    found = _rebuild(connection, release, table, loaded)
    return found + list(connection.scalar(sqlalchemy.text("select _queue_mend_sequences()")) or ())


def extension_of(connection: Connection) -> str | None:
    """Return the extension that the queue in the current schema belongs to, None where it isn't one's.

    Args:
        connection: of an owner, of ours or an application's migrations.
    """
    return connection.scalar(sqlalchemy.text(MEMBER))


def differing(connection: Connection, release: Release, table: str) -> list[str]:
    """Return what is missing or differs, and change nothing.

    What an upgrade found in order is known by its mark. Where the mark doesn't fit, the bodies of functions
    are compared one by one; those that the server keeps without their text have digests in the mark.

    Args:
        connection: its search path the schema and pg_temp.
        release: what is to be there.
        table: the version table.
    """
    ours = _ours(connection, release)
    mark = _remembered(connection, table)
    state = _state(connection, ours)
    if mark == _mark(release, state):
        return []
    # an installation names the schema in the bodies
    home = f"{connection.scalar(sqlalchemy.text('select quote_ident(current_schema())'))}."
    there = {
        str(row[0]): str(row[1]).replace(home, "")
        for row in connection.execute(sqlalchemy.text(BODIES), ours)
    }
    relations = set(connection.scalars(sqlalchemy.text(RELATIONS), ours))
    found = [f"missing: {name}" for name in sorted(release.relations - relations)]
    for text in release.routines:
        if (created := CREATED.search(text)) and created[1] == "function":
            body = _body(text)
            if created[2] not in there:
                found.append(f"missing: function {created[2]}")
            elif body is not None and there[created[2]] != body.replace(home, ""):
                found.append(f"function {created[2]}")
    if mark is None:
        return found
    digests = _digests(release, state)
    return found + [f"function {name}" for name in digests if digests[name] not in mark] or [REST]


def _rebuild(connection: Connection, release: Release, table: str, loaded: bool) -> list[str]:
    ours = _ours(connection, release)
    before = _state(connection, ours)
    if _remembered(connection, table) == _mark(release, before):
        return []
    granted = connection.execute(sqlalchemy.text(GRANTED), ours).all()
    # what is loaded keeps the rights that somebody had before, or has by default
    others = {grantee for _, grantee in granted} - set(ours["roles"])
    if loaded and not others and connection.scalar(sqlalchemy.text(NO_DEFAULTS)):
        after = before
    else:
        texts = _of_what_is_there(connection, ours, release.routines)
        savepoint = connection.begin_nested()
        for what, grantee in granted:
            _execute(connection, f"revoke all on {what} from {grantee} cascade")
        load(connection, texts)
        after = _state(connection, ours)
        if before == after:
            savepoint.rollback()
        else:
            savepoint.commit()
    if {f"role {role}" for role in ours["roles"]} <= set(after):
        _execute(connection, f"comment on table {table} is '{_mark(release, after)}'")
    return _differing(before, after)


def load(connection: Connection, texts: Sequence[str]) -> None:
    """Execute statements; what can't be replaced is dropped before, and so is what would hold that up.

    Args:
        connection: in a transaction.
        texts: CREATE OR REPLACE, COMMENT, GRANT and the like, in the order of the release.

    Raises:
        sqlalchemy.exc.DBAPIError: what the server says.
    """
    views = [found[2] for text in texts if (found := CREATED.search(text)) and found[1] == "view"]
    drops: list[str] = []
    replaced: set[str] = set()
    while True:
        savepoint = connection.begin_nested()
        text = ""
        try:
            for text in (*drops, *texts):
                found = CREATED.search(text)
                if found and found[2] in replaced:  # where it is made again: until the end others wait for it
                    _execute(connection, f"drop view if exists {found[2]}")
                _execute(connection, text)
        except DBAPIError as error:
            savepoint.rollback()
            found = CREATED.search(text)
            if _sqlstate(error) not in IN_THE_WAY or not found:
                raise
            if found[1] == "view":
                if found[2] in replaced:
                    raise
                replaced.add(found[2])
                continue
            same = connection.scalars(sqlalchemy.text(SAME_NAME), {"name": found[2]})
            more = [f"drop function {one}" for one in same]
            if set(more) <= set(drops):
                raise
            before = [f"drop view if exists {name}" for name in views]  # they may call it
            drops = list(dict.fromkeys([*before, *drops, *more]))
        else:
            savepoint.commit()
            return


def _of_what_is_there(connection: Connection, ours: dict[str, Any], texts: list[str]) -> list[str]:
    """Return the statements without comments on columns that a later revision has dropped."""
    there = {tuple(row) for row in connection.execute(sqlalchemy.text(COLUMNS), ours)}
    return [
        text for text in texts if not (found := SAID_OF_COLUMN.search(text)) or (found[1], found[2]) in there
    ]


def _ours(connection: Connection, release: Release) -> dict[str, Any]:
    """Return the parameters of the queries: the schema, and the names of what is ours."""
    here = "select n.oid from pg_catalog.pg_namespace n where n.nspname = pg_catalog.current_schema()"
    return {
        "here": connection.scalar(sqlalchemy.text(here)),
        "relations": sorted(release.relations),
        "callables": sorted(release.callables),
        "roles": sorted({role for text in release.routines for role in ROLE.findall(text)}),
    }


def _state(connection: Connection, ours: dict[str, Any]) -> State:
    rows = connection.execute(sqlalchemy.text(STATE), ours)
    return {what: (text, rights, comment) for what, text, rights, comment in rows}


def _differing(before: State, after: State) -> list[str]:
    """Return what differs, and of what only the rights or the comment do."""
    found: list[str] = []
    for what in sorted({*before, *after}):
        old, new = before.get(what), after.get(what)
        if old is None or new is None or old[0] != new[0]:
            found.append(what)
            continue
        found += [f"{part} on {what}" for part, at in (("rights", 1), ("comment", 2)) if old[at] != new[at]]
    return found


def _remembered(connection: Connection, table: str) -> str | None:
    """Return the mark of what was last found in order, None where there is none."""
    text = "select pg_catalog.obj_description(pg_catalog.to_regclass(:name), 'pg_class')"
    return connection.scalar(sqlalchemy.text(text), {"name": table})


def _mark(release: Release, state: State) -> str:
    """Return what says that this state was found in order by this release."""
    text = repr((release.revision, release.routines, sorted(state.items())))
    digests = " ".join(_digests(release, state).values())
    return f"pyqueue_sql: in order as {_digest(text, 32)}, of it {digests}"


def _digests(release: Release, state: State) -> dict[str, str]:
    """Return what says how each function is that the server keeps without its text."""
    created = [found for text in release.routines if _body(text) is None and (found := CREATED.search(text))]
    names = {found[2] for found in created if found[1] == "function"}
    there = {what.removeprefix("function ").partition("(")[0]: state[what][0] for what in sorted(state)}
    return {name: _digest(f"{name} {text}", 8) for name, text in there.items() if name in names}


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def _body(text: str) -> str | None:
    """Return the body that a statement gives as a text, None where it has none."""
    found = BODY.search(text.partition("\ncomment on ")[0])
    return found and found[1]


def _sqlstate(error: DBAPIError) -> str | None:
    """Return the server's code: drivers call it differently."""
    orig: Any = error.orig
    return getattr(orig, "sqlstate", None) or getattr(orig, "pgcode", None)


def _execute(connection: Connection, text: str) -> None:
    connection.exec_driver_sql(text, execution_options={"no_parameters": True})
