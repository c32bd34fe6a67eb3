"""Checks of a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyqueue_sql.doctor.findings import ROLES, Check, Finding, lasting, listed
from pyqueue_sql.overview import Look
from pyqueue_sql.schema.migrate_postgresql import OLDEST_SERVER

SERVER = Check("server", "the queue is tried on PostgreSQL 14 and later, and has to be written to")
SETTINGS = Check("settings", "these decide whether what was answered survives a crash of the server")
ISOLATION = Check(
    "isolation", "under a stricter level than read committed calls fail with serialization errors, 40001"
)
GRANTS = Check("grants", "applications need the roles of the queue; its owner may do anything")
SCHEMA = Check("schema", "who may create in the queue's schema can make its routines run code of his own")
SNAPSHOTS = Check(
    "snapshots", "dead rows that an old snapshot might see can't be removed: tables grow, and calls slow down"
)
AUTOVACUUM = Check(
    "autovacuum", "a queue makes dead rows all the time, and autovacuum makes their place free again"
)
PUBLICATIONS = Check(
    "publications", "a published table without a replica identity refuses every update and delete"
)
ZONES = Check("time_zones", "schedules with a zone of their own need its rules")
OLD_S = 300
DEAD_ROWS = 200_000
REPLICATION = "docs/replication.md"

LEVELS = """
select s.name, s.setting from pg_catalog.pg_settings s
where s.name in ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum', 'track_counts',
    'default_transaction_isolation', 'idle_in_transaction_session_timeout')
"""
THESE_ROLES = """
select r.rolname, pg_catalog.pg_has_role(current_user, r.oid, 'member') from pg_catalog.pg_roles r
where r.rolname in ('queue_producer', 'queue_consumer', 'queue_operator', 'queue_observer', 'queue_admin')
"""
OPEN_TO_ALL = """
select p.oid::regprocedure::text from pg_catalog.pg_proc p
where p.pronamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = current_schema())
    and p.proname ~ '^_?queue_' and p.prosecdef
    and pg_catalog.has_function_privilege('public', p.oid, 'execute')
order by 1
"""
CREATORS = """
select case a.grantee when 0 then 'public' else a.grantee::regrole::text end
from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
where n.nspname = current_schema() and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner
    and (a.grantee = 0 or not pg_catalog.pg_has_role(n.nspowner, a.grantee, 'member'))
order by 1
"""
TABLES = """
select c.relname, s.n_live_tup, s.n_dead_tup,
    coalesce(c.reloptions::text ~ 'autovacuum_enabled=(false|off|no|0)', false),
    extract(epoch from clock_timestamp() - s.last_autovacuum)
from pg_catalog.pg_class c join pg_catalog.pg_stat_user_tables s on s.relid = c.oid
where c.relnamespace = (select n.oid from pg_catalog.pg_namespace n where n.nspname = current_schema())
    and c.relname ~ '^(delayed_queue|queue_)' order by s.n_dead_tup desc
"""
WITHOUT_IDENTITY = """
select c.relname from pg_catalog.pg_publication_tables p
join pg_catalog.pg_namespace n on n.nspname = p.schemaname
join pg_catalog.pg_class c on c.relname = p.tablename and c.relnamespace = n.oid
where n.nspname = current_schema() and c.relname ~ '^(delayed_queue|queue_)' and (c.relreplident = 'n'
    or c.relreplident = 'd' and not exists (
        select from pg_catalog.pg_index i where i.indrelid = c.oid and i.indisprimary))
order by 1
"""
PUBLISHED = """
select distinct p.pubname::text from pg_catalog.pg_publication_tables p
where p.schemaname = current_schema() and p.tablename = 'delayed_queue' order by 1
"""


def server(look: Look) -> Iterable[Finding]:
    """Its version, and whether it can be written to."""
    # the look itself is a transaction that only reads, so that its default is asked for
    [(version, text, standby, read_only)] = look.rows(
        "select current_setting('server_version_num')::int, current_setting('server_version'),"
        " pg_catalog.pg_is_in_recovery(), current_setting('default_transaction_read_only')::boolean"
    )
    if version < OLDEST_SERVER:
        yield SERVER.error(f"PostgreSQL {text}", "upgrade the server to PostgreSQL 14 or later")
    elif standby:
        yield SERVER.error(
            f"PostgreSQL {text}, a standby: nothing can be pushed or reserved", "name the primary"
        )
    elif read_only:
        yield SERVER.error(
            f"PostgreSQL {text}, default_transaction_read_only is on: nothing can be pushed or reserved",
            "set it off where it was set: for the database, this login, the server or in the URL",
        )
    else:
        yield SERVER.ok(f"PostgreSQL {text}")


def settings(look: Look) -> Iterable[Finding]:
    """Durability, and open transactions that nobody ends."""
    found = dict(look.rows(LEVELS))
    off = [name for name in ("fsync", "full_page_writes") if found[name] == "off"]
    if off:
        yield SETTINGS.error(
            f"{' and '.join(off)} off: a crash of the machine can destroy the database",
            f"set {' = on, '.join(off)} = on in postgresql.conf and reload",
        )
    if found["synchronous_commit"] == "off":
        yield SETTINGS.warning(
            "synchronous_commit is off: a crash loses the pushes and acks of its last moments",
            "alter role … set synchronous_commit = on for who pushes what may not be lost",
        )
    if not off and found["synchronous_commit"] != "off":
        yield SETTINGS.ok(f"fsync and full_page_writes on, synchronous_commit {found['synchronous_commit']}")
    if found["idle_in_transaction_session_timeout"] == "0":
        yield SETTINGS.note(
            "idle_in_transaction_session_timeout is 0: a client that hangs keeps its locks and its snapshot",
            "alter database … set idle_in_transaction_session_timeout = '5min'",
        )


def isolation(look: Look) -> Iterable[Finding]:
    """The level of transactions that don't name one."""
    level = look.value("show default_transaction_isolation")
    if level == "read committed":
        yield ISOLATION.ok("read committed")
    else:
        yield ISOLATION.warning(
            f"the default of this login is {level}",
            "alter role … set default_transaction_isolation = 'read committed', or try again after 40001",
        )


def schema(look: Look) -> Iterable[Finding]:
    """Who may create in the schema of the queue."""
    others = [name for (name,) in look.rows(CREATORS)]
    where = look.value("select quote_ident(current_schema())")
    if others:
        yield SCHEMA.error(
            f"others may create in the schema {where}: {listed(others)}",
            f"revoke create on schema {where} from {', '.join(others)}",
        )
    else:
        yield SCHEMA.ok(f"nobody but its owner may create in the schema {where}")


def grants(look: Look) -> Iterable[Finding]:
    """Whether the roles are there, and nothing is open to all."""
    if open_ := [name for (name,) in look.rows(OPEN_TO_ALL)]:
        yield GRANTS.error(
            f"every login may call {listed(open_)}",
            "pyqueue upgrade takes that back",
        )
    roles = dict(look.rows(THESE_ROLES))
    if missing := [name for name in ROLES if name not in roles]:
        yield GRANTS.warning(
            f"roles that are not there: {', '.join(missing)}",
            f"create role {missing[0]} nologin, and so on, by who may create roles; then pyqueue upgrade",
        )
    elif not open_:
        mine = [name for name, is_member in roles.items() if is_member]
        yield GRANTS.ok(f"all roles are there; this login is in {', '.join(mine) or 'none'}")


def snapshots(look: Look) -> Iterable[Finding]:
    """Who keeps dead rows from being removed."""
    old = [one for one in look.blockers() if one.seconds is None or one.seconds > OLD_S]
    for one in old:
        who = ", ".join(filter(None, (one.user, one.application, one.state)))
        since = f" for {lasting(one.seconds)}" if one.seconds is not None else ""
        remedy = {
            "session": f"end it: select pg_terminate_backend({one.name}), and see why it stays open",
            "prepared transaction": f"commit prepared '{one.name}', or rollback prepared",
            "replication slot": f"select pg_drop_replication_slot('{one.name}'), where nobody needs it",
        }
        yield SNAPSHOTS.warning(f"{one.what} {one.name} ({who}){since}", remedy[one.what])
    if not look.sees_sessions():
        yield SNAPSHOTS.unknown("only sessions of this login were seen", "grant pg_monitor to this login")
    elif not old:
        yield SNAPSHOTS.ok(f"none is older than {lasting(OLD_S)}")


def autovacuum(look: Look) -> Iterable[Finding]:
    """Whether it runs, and keeps up."""
    found = dict(look.rows(LEVELS))
    off = [name for name in ("autovacuum", "track_counts") if found[name] == "off"]
    tables = look.rows(TABLES)
    off_for = [name for name, _, _, is_off, _ in tables if is_off]
    behind = [
        f"{name} ({dead} dead rows, {living} living, "
        + (f"last vacuumed {lasting(float(ago))} ago)" if ago is not None else "never vacuumed by itself)")
        for name, living, dead, _, ago in tables
        if dead > max(DEAD_ROWS, living)
    ]
    if off:
        yield AUTOVACUUM.error(f"{' and '.join(off)} off", f"set {off[0]} = on in postgresql.conf and reload")
    if off_for:
        yield AUTOVACUUM.error(
            f"off for {listed(off_for)}", f"alter table {off_for[0]} reset (autovacuum_enabled)"
        )
    if behind:
        yield AUTOVACUUM.warning(
            f"it doesn't keep up: {listed(behind)}",
            f"end old snapshots first; then the settings of {REPLICATION}, section Bloat",
        )
    if not (off or off_for or behind):
        yield AUTOVACUUM.ok("on, and no table of the queue has many dead rows")


def publications(look: Look) -> Iterable[Finding]:
    """Whether a publication stops the queue."""
    if found := [name for (name,) in look.rows(WITHOUT_IDENTITY)]:
        yield PUBLICATIONS.error(
            f"published without a replica identity: {listed(found)}",
            f"pyqueue upgrade, or alter table {found[0]} replica identity full",
        )
    elif named := [name for (name,) in look.rows(PUBLISHED)]:
        yield PUBLICATIONS.note(
            f"the queue is published by {listed(named)}",
            f"sequences and routines are not replicated: see {REPLICATION} before a subscriber takes over",
        )
    else:
        yield PUBLICATIONS.ok("none has a table of the queue")


def zones(look: Look) -> Iterable[Finding]:
    """Whether names of zones are known."""
    try:
        look.value("select now() at time zone 'Europe/Berlin'")
    except Exception:
        yield ZONES.warning("Europe/Berlin is unknown", "install the system's time zones (tzdata)")
    else:
        yield ZONES.ok("named zones are known")


Examination = Callable[[Look], Iterable[Finding]]
CHECKS: tuple[tuple[Check, Examination], ...] = (
    (SERVER, server),
    (SETTINGS, settings),
    (ISOLATION, isolation),
    (ZONES, zones),
    (SNAPSHOTS, snapshots),
)
OF_THE_QUEUE: tuple[tuple[Check, Examination], ...] = (
    (SCHEMA, schema),
    (GRANTS, grants),
    (AUTOVACUUM, autovacuum),
    (PUBLICATIONS, publications),
)
