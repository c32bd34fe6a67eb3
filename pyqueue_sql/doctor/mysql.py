"""Checks of a MariaDB or MySQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyqueue_sql.doctor.findings import ROLES, Check, Finding, lasting, listed
from pyqueue_sql.overview import Look
from pyqueue_sql.overview.queries import SEES_SESSIONS_MYSQL
from pyqueue_sql.schema.server_mysql import NAMES, OLDEST, parse_version

SERVER = Check(
    "server", "the queue is tried on MariaDB 10.6, MySQL 8.0.21 and later, and has to be written to"
)
SETTINGS = Check("settings", "these decide whether what was answered survives a crash of the server")
ISOLATION = Check(
    "isolation", "under a stricter level than READ COMMITTED a reserve locks gaps, so that pushes wait for it"
)
BINARY_LOG = Check("binary_log", "a replica that runs statements again would reserve other messages")
GALERA = Check(
    "galera", "a node that makes a CALL again by itself garbles its answer, and may lose what it reserved"
)
ZONES = Check("time_zones", "schedules with a zone of their own need its rules")
SNAPSHOTS = Check(
    "snapshots", "what an old transaction might see can't be purged: calls read more and more of it"
)
GRANTS = Check("grants", "applications need the roles of the queue; its owner may do anything")
DEFINERS = Check("definers", "a routine runs as its definer; if that account is gone, every call fails")
CREATORS = Check("schema", "who may create or change routines here can put others in place of the queue's")
OLD_S = 300
UNDO = 1_000_000
PROCESS = "grant process on *.* to this login"

VARIABLES = """
select @@global.innodb_flush_log_at_trx_commit, @@global.sync_binlog, @@global.log_bin,
    @@global.binlog_format, @@global.read_only
"""
WSREP = "show global variables where variable_name in ('wsrep_on', 'wsrep_retry_autocommit')"
THESE_ROLES = """
select u.user from mysql.user u
where u.user in ('queue_producer', 'queue_consumer', 'queue_operator', 'queue_observer', 'queue_admin')
"""
ORPHANS = """
select distinct r.definer from information_schema.routines r where r.routine_schema = database()
    and binary r.definer not in (select binary concat(u.user, '@', u.host) from mysql.user u)
"""
ALTERERS = """
select concat(d.user, '@', d.host) from mysql.db d
where database() like d.db and (d.create_routine_priv = 'Y' or d.alter_routine_priv = 'Y')
    and binary concat(d.user, '@', d.host) not in (
        select binary r.definer from information_schema.routines r where r.routine_schema = database())
order by 1
"""


def server(look: Look) -> Iterable[Finding]:
    """Its version, and whether it can be written to."""
    text = str(look.value("select version()"))
    number, mariadb = parse_version(text)
    name = "MariaDB" if mariadb else "MySQL"
    read_only = look.rows(VARIABLES)[0][4]
    if number < OLDEST[mariadb]:
        yield SERVER.error(f"{name} {text}", f"upgrade the server to {NAMES[mariadb]} or later")
    elif read_only:
        yield SERVER.error(f"{name} {text}, read_only: nothing can be pushed or reserved", "name the primary")
    else:
        yield SERVER.ok(f"{name} {text}")


def settings(look: Look) -> Iterable[Finding]:
    """Durability, and the clock."""
    flush, sync, log, _, _ = look.rows(VARIABLES)[0]
    fine = True
    look.run("set timestamp = 1")
    year = look.value("select year(sysdate())")
    look.run("set timestamp = default")
    if year == 1970:
        fine = False
        yield SETTINGS.error(
            "sysdate_is_now is on: every caller can shift the queue's clock", "start the server without it"
        )
    lossy = [
        *([f"innodb_flush_log_at_trx_commit is {flush}"] if int(flush) != 1 else []),
        *([f"sync_binlog is {sync}"] if log and int(sync) != 1 else []),
    ]
    if lossy:
        fine = False
        yield SETTINGS.warning(
            f"{' and '.join(lossy)}: a crash loses the pushes and acks of its last moments",
            "set global innodb_flush_log_at_trx_commit = 1, sync_binlog = 1, where nothing may be lost",
        )
    if fine:
        yield SETTINGS.ok("commits are on the disk when they are answered")


def isolation(look: Look) -> Iterable[Finding]:
    """The level of sessions that don't name one; that of this session is ours."""
    mariadb = parse_version(str(look.value("select version()")))[1]
    level = look.value("select @@global.tx_isolation" if mariadb else "select @@global.transaction_isolation")
    if level == "READ-COMMITTED":
        yield ISOLATION.ok("READ COMMITTED")
        return
    found = f"the default is {level}; workers, and calls that are a transaction of their own, don't use it"
    remedy = (
        "set session transaction isolation level read committed where a transaction of yours has calls in it,"
        " or transaction-isolation=READ-COMMITTED in the server's configuration"
    )
    # the servers' own default is REPEATABLE READ
    yield (ISOLATION.warning if level == "SERIALIZABLE" else ISOLATION.note)(found, remedy)


def binary_log(look: Look) -> Iterable[Finding]:
    """Whether what is logged can be replayed."""
    _, _, log, form, _ = look.rows(VARIABLES)[0]
    if not log:
        yield BINARY_LOG.ok("off")
    elif form == "STATEMENT":
        yield BINARY_LOG.error("on, of statements", "set global binlog_format = 'ROW'")
    else:
        yield BINARY_LOG.ok(f"on, {form}")


def galera(look: Look) -> Iterable[Finding]:
    """Whether a node of a cluster makes calls again by itself."""
    found = {str(name).lower(): str(value) for name, value in look.rows(WSREP)}
    if found.get("wsrep_on") != "ON":
        yield GALERA.ok("this is no node of a cluster")
    elif int(tries := found["wsrep_retry_autocommit"]):
        yield GALERA.warning(
            f"wsrep_retry_autocommit is {tries}; pyqueue's own sessions set it to 0, yours have to, too",
            "set global wsrep_retry_autocommit = 0, and in the configuration of each node",
        )
    else:
        yield GALERA.ok("a node of a cluster, which makes no call again by itself")


def zones(look: Look) -> Iterable[Finding]:
    """Whether names of zones are known."""
    if look.value("select convert_tz('2024-07-01 12:00:00', '+00:00', 'Europe/Berlin')") is None:
        yield ZONES.warning(
            "Europe/Berlin is unknown: a schedule with a named zone is refused",
            "mysql_tzinfo_to_sql /usr/share/zoneinfo | mysql mysql (MariaDB: mariadb-tzinfo-to-sql)",
        )
    else:
        yield ZONES.ok("named zones are known")


def snapshots(look: Look) -> Iterable[Finding]:
    """Who keeps old versions of rows from being purged, and how many there are."""
    look.value(SEES_SESSIONS_MYSQL)  # says where the login may not look
    old = [one for one in look.blockers() if (one.seconds or 0) > OLD_S]
    for one in old:
        who = ", ".join(filter(None, (one.user, one.application, one.state)))
        yield SNAPSHOTS.warning(
            f"{one.what} {one.name} ({who}) for {lasting(one.seconds or 0)}",
            f"kill {one.name}, and see why it stays open",
        )
    undo = look.dead()
    if undo is not None and undo.rows > UNDO:
        yield SNAPSHOTS.warning(
            f"the history list has {undo.rows} transactions",
            "end old transactions; innodb_purge_threads says how many threads purge",
        )
    elif not old:
        yield SNAPSHOTS.ok(f"no transaction is older than {lasting(OLD_S)}")


def grants(look: Look) -> Iterable[Finding]:
    """Whether the roles are there."""
    roles = {name for (name,) in look.rows(THESE_ROLES)}
    if missing := [name for name in ROLES if name not in roles]:
        yield GRANTS.warning(
            f"roles that are not there: {', '.join(missing)}",
            "pyqueue upgrade as a user with the right CREATE ROLE",
        )
    else:
        yield GRANTS.ok("all roles are there")


def schema(look: Look) -> Iterable[Finding]:
    """Who may put other routines in place of ours."""
    if found := [name for (name,) in look.rows(ALTERERS)]:
        yield CREATORS.warning(
            f"besides the owner may create or alter routines here: {listed(found)}",
            f"revoke create routine, alter routine on this database from {found[0]},"
            " or give the queue a database of its own",
        )
    else:
        yield CREATORS.ok("nobody but the owner and administrators may create or alter routines here")


def definers(look: Look) -> Iterable[Finding]:
    """Whether the accounts exist by which the routines run."""
    if found := [name for (name,) in look.rows(ORPHANS)]:
        yield DEFINERS.error(
            f"unknown to the server: {listed(found)}", "pyqueue upgrade makes the routines again"
        )
    else:
        yield DEFINERS.ok("known to the server")


Examination = Callable[[Look], Iterable[Finding]]
CHECKS: tuple[tuple[Check, Examination], ...] = (
    (SERVER, server),
    (SETTINGS, settings),
    (ISOLATION, isolation),
    (BINARY_LOG, binary_log),
    (GALERA, galera),
    (ZONES, zones),
    (SNAPSHOTS, snapshots),
)
OF_THE_QUEUE: tuple[tuple[Check, Examination], ...] = (
    (CREATORS, schema),
    (GRANTS, grants),
    (DEFINERS, definers),
)
