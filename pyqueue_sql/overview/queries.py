"""The queries of a look, in both dialects: each reads a part of an index, of a size that is given.

The texts are static; a `%s` stands for each value. A dialect that differs has a text of its own.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Queries:
    """The texts of one dialect."""

    now: str
    settings: str
    """Of the kinds that have some. Values: at most."""
    counted: str
    """A kind in the order of its keys: all that it has, where that isn't much. Values: kind, at most, now."""
    in_line: str
    """What stands in the ready line, from its beginning. Values: kind, at most, now."""
    due: str
    """What is in the timetable, from its beginning. Values: kind, at most, now."""
    totals: str
    """The counters, which the upkeep keeps few."""
    workers: str
    """Values: now, at most."""
    semaphores: str
    """Values: at most."""
    held: str
    """Slots of a semaphore that are taken. Values: name, now, at most."""
    waiting: str
    """Values: name of a semaphore, at most."""
    dead_letters: str
    """How many there are and how many came since. Values: since, kind, at most."""
    by_key: str
    """Messages in the order of their keys. Values: kind, the first key, a key before it, at most."""
    first: str
    """Messages in the ready line, from its beginning. Values: kind, at most."""
    timetable: str
    """Messages in the timetable, from its beginning. Values: kind, at most."""
    past: str
    """Entries of a key that have ended. Values: kind, key, at most."""


NEXT_KIND = "select min(q.p_kind) from delayed_queue q where q.p_kind > %s"
"""From one kind that has messages to the next, by the index: a DISTINCT would read all of it."""
STATES = """
select sum(case when r.reserved_at is null and r.scheduled_at <= n.now and not r.waits then 1 else 0 end),
    sum(case when r.reserved_at is null and r.scheduled_at > n.now and not r.waits then 1 else 0 end),
    sum(case when r.reserved_at is not null and r.scheduled_at > n.now then 1 else 0 end),
    sum(case when r.reserved_at is not null and r.scheduled_at <= n.now then 1 else 0 end),
    sum(case when r.waits then 1 else 0 end), count(*),
    min(case when r.reserved_at is null and r.scheduled_at > n.now and not r.waits then r.scheduled_at end),
    min(case when r.reserved_at is null and r.scheduled_at <= n.now and not r.waits then r.scheduled_at end),
    min(case when r.reserved_at is not null and r.scheduled_at > n.now then r.reserved_at end)
"""
PARTS = "q.reserved_at, q.scheduled_at, coalesce(q.ready_at, q.due_at, q.reserved_at) is null as waits"
TOTALS = """
select c.p_kind, sum(c.acked), sum(c.popped), sum(c.nacked), sum(c.moved), sum(c.dead),
    sum(c.expired), sum(c.lost)
from queue_count c group by c.p_kind
"""
SETTINGS = """
select s.p_kind, s.paused, s.draining, s.dead_letter_kind from queue_kind s where s.p_kind <> ''
order by s.p_kind limit %s
"""
SEMAPHORES = "select s.name, s.capacity from queue_semaphore s order by s.name limit %s"
HELD = """
select count(*) from (
    select h.name from queue_semaphore_permit h where h.name = %s and h.until > %s limit %s) r
"""
WAITING = """
select count(*) from (select w.name from queue_semaphore_wait w where w.name = %s limit %s) r
"""


CONTENTS = "q.payload, q.payload_bytes, q.headers"
ERRORS = "q.errors"
NO_ERRORS = "null as errors"
"""Instead of `ERRORS`, where this login may not see them."""
MESSAGE = f"""
select q.p_kind, q.p_key, q.ready_at, q.due_at, q.entry, q.priority, q.scheduled_at, q.created_at,
    q.reserved_at, q.attempts, q.max_attempts, q.reserved_by, q.source_kind, q.source_key, q.order_key,
    q.member, {ERRORS}
from delayed_queue q"""
PAST = f"""
select q.entry, q.outcome, q.to_kind, q.created_at, q.reserved_at, q.finished_at, q.attempts,
    q.reserved_by, {ERRORS}
from queue_history q where q.p_kind = %s and q.p_key = %s"""
MAY_SEE = f"select {CONTENTS}, {ERRORS} from delayed_queue q limit 0"
ONE = f"{MESSAGE} where q.p_kind = %s and q.p_key = %s"
INSIDE = f"select {CONTENTS} from delayed_queue q where q.p_kind = %s and q.p_key = %s"
SCHEDULES = """
select r.name, r.p_kind, r.rule, r.catch_up, r.paused, r.next_at, r.last_at from queue_recurring r
order by r.name limit %s
"""
GROUPS = """
select g.group_name, g.then_kind, g.then_key, g.fail_kind, g.expected, g.closed, g.failed, g.created_at,
    g.finished_at
from queue_group g where g.group_name >= %s and g.group_name > %s order by g.group_name limit %s
"""
DIED = "o.error is not null"
NOT_KNOWN = "null"
"""Instead of `DIED`, where this login may not see errors."""
MEMBERS = f"""
select o.member, o.p_kind, o.p_key, o.outcome, o.done_at, {DIED} from queue_group_member o
where o.group_name = %s order by o.member limit %s
"""
GROUP_OF = "select o.group_name from queue_group_member o where o.member = %s"

POSTGRESQL = Queries(
    now="select queue_now()",
    settings=SETTINGS,
    counted=f"""{STATES}
from (select {PARTS} from delayed_queue q where q.p_kind = %s order by q.p_key limit %s) r
cross join (select %s::bigint as now) n
""",
    in_line=f"""{STATES}
from (select {PARTS} from delayed_queue q where q.p_kind = %s and q.ready_at is not null
    order by -q.priority::integer, q.ready_at, q.entry limit %s) r
cross join (select %s::bigint as now) n
""",
    due=f"""{STATES}
from (select {PARTS} from delayed_queue q where q.p_kind = %s and q.due_at is not null
    order by q.due_at limit %s) r
cross join (select %s::bigint as now) n
""",
    totals=TOTALS,
    workers="""
select w.worker, w.kinds, w.started_at, w.heartbeat_at, w.timeout_seconds, w.upkeep,
    _queue_is_alive(w, n.now)
from queue_worker w cross join (select %s::bigint as now) n order by w.worker limit %s
""",
    semaphores=SEMAPHORES,
    held=HELD,
    waiting=WAITING,
    dead_letters="""
select count(*), count(case when r.created_at > %s then 1 end) from (
    select q.created_at from delayed_queue q where q.p_kind = %s order by q.p_key limit %s) r
""",
    by_key=f"{MESSAGE} where q.p_kind = %s and q.p_key >= %s and q.p_key > %s order by q.p_key limit %s",
    first=f"""{MESSAGE} where q.p_kind = %s and q.ready_at is not null
order by -q.priority::integer, q.ready_at, q.entry limit %s""",
    timetable=f"{MESSAGE} where q.p_kind = %s and q.due_at is not null order by q.due_at limit %s",
    past=f"{PAST} limit %s",
)
# What is read by a forced index comes in its order; with an ORDER BY MariaDB sorts all that there is.
MYSQL = Queries(
    now="select @pyqueue_now",
    settings=SETTINGS,
    counted=f"""{STATES}
from (select {PARTS} from delayed_queue q force index (delayed_queue_key) where q.p_kind = %s
    order by q.p_key limit %s) r
cross join (select %s as now) n
""",
    in_line=f"""{STATES}
from (select {PARTS} from delayed_queue q force index (delayed_queue_ready)
    where q.ready_kind = %s limit %s) r
cross join (select %s as now) n
""",
    due=f"""{STATES}
from (select {PARTS} from delayed_queue q force index (delayed_queue_due)
    where q.p_kind = %s and q.due_at is not null limit %s) r
cross join (select %s as now) n
""",
    totals=TOTALS,
    workers="""
select w.worker, w.kinds, w.started_at, w.heartbeat_at, w.timeout_seconds, w.upkeep,
    if(w.session_lock is null, abs(n.now - w.heartbeat_at) < w.timeout_seconds * 1000000,
        coalesce(is_used_lock(w.session_lock), 0) = w.session_id)
from queue_worker w cross join (select %s as now) n order by w.worker limit %s
""",
    semaphores=SEMAPHORES,
    held=HELD,
    waiting=WAITING,
    dead_letters="""
select count(*), count(case when r.created_at > %s then 1 end) from (
    select q.created_at from delayed_queue q force index (delayed_queue_key) where q.p_kind = %s
    order by q.p_key limit %s) r
""",
    by_key=f"""{MESSAGE} force index (delayed_queue_key)
where q.p_kind = %s and q.p_key >= %s and q.p_key > %s order by q.p_key limit %s""",
    first=f"""{MESSAGE} force index (delayed_queue_ready)
where q.ready_kind = %s limit %s""",
    timetable=f"""{MESSAGE} force index (delayed_queue_due)
where q.p_kind = %s and q.due_at is not null limit %s""",
    past=f"{PAST} order by q.finished_at desc limit %s",
)

SEES_SESSIONS_POSTGRESQL = """
select r.rolsuper or pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'usage')
from pg_catalog.pg_roles r where r.rolname = current_user
"""
SEES_SESSIONS_MYSQL = "select count(*) >= 0 from information_schema.innodb_trx"
"""An error where it doesn't."""
BLOCKERS_POSTGRESQL = """
select 'session', a.pid::text, a.usename::text, a.application_name, a.state,
    extract(epoch from clock_timestamp() - a.xact_start)
from pg_catalog.pg_stat_activity a
where (a.datname = current_database() or a.backend_type = 'walsender')
    and a.pid <> pg_catalog.pg_backend_pid()
    and coalesce(a.backend_xmin, a.backend_xid) is not null
    and a.backend_type in ('client backend', 'walsender')
union all
select 'prepared transaction', p.gid, p.owner::text, null, null,
    extract(epoch from clock_timestamp() - p.prepared)
from pg_catalog.pg_prepared_xacts p where p.database = current_database()
union all
select 'replication slot', s.slot_name::text, null, null, 'inactive', null
from pg_catalog.pg_replication_slots s
where not s.active and coalesce(s.xmin, s.catalog_xmin) is not null
"""
"""Who may keep a snapshot; those for seconds alone are for the caller to leave out."""
BLOCKERS_MYSQL = """
select t.trx_mysql_thread_id, t.trx_state, timestampdiff(second, t.trx_started, now())
from information_schema.innodb_trx t
where t.trx_mysql_thread_id <> connection_id() and t.trx_mysql_thread_id <> 0
"""
SESSIONS_MYSQL = "show processlist"
"""No query: MySQL's information_schema.processlist is an error while some session's statement has a character
of four bytes in it (3854)."""
DEAD_POSTGRESQL = """
select s.n_dead_tup, s.n_live_tup from pg_catalog.pg_stat_user_tables s
where s.relid = to_regclass('delayed_queue')
"""
DEAD_MYSQL = """
select m.count, null from information_schema.innodb_metrics m where m.name = 'trx_rseg_history_len'
"""
