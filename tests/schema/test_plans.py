"""Each routine touches the messages that it is about, by an index, however many others there are.

The plans are those that the server used inside the routines, on kinds with held, ready and scheduled
messages of several priorities, with statistics, without, and with those of an empty queue.
PYQUEUE_TEST_LARGE=1 adds 1,000,000 messages.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.rules import each
from tests.sample import LARGE
from tests.schema.plans import Node, Plans
from tests.schema.sources import served
from tests.schema.storage import SECOND, SLOW, Session
from tests.servers.databases_postgresql import Databases

pytestmark = pytest.mark.large
BATCH = 10
HELD = 30
SIZES = [1_000, 10_000, 100_000] + [1_000_000] * LARGE
LONG_FROM = 10_000

FILL = """
insert into delayed_queue (p_kind, p_key, payload, priority, scheduled_at, scheduled_at_initially, created_at,
    reserved_at, attempts, reserved_by, secret, ready_at, due_at)
select m.kind, m.kind || m.i, jsonb_build_object('to', 'a@example.org', 'subject', repeat('x', 100)),
    m.priority,
    m.at, m.at, m.now, case when m.held then m.now end, m.held::integer, case when m.held then 'w' end,
    case when m.held then decode(md5(m.i::text), 'hex') end,
    case when m.held or m.at <= m.now then m.now - 3600000000 + m.i end,
    case when not m.held and m.at > m.now then m.at end
from (
    select k.kind, i, n.now, k.kind = 'work' and i <= %(held)s as held,
        (case when i <= %(held)s then 3 else i %% 4 end)::smallint as priority,
        case when k.kind = 'work' and i <= %(held)s or i %% 10 = 0 then n.now + 3600000000 + i
            else n.now - 3600000000 + i end as at
    from (values ('work', 80), ('other', 10), ('third', 10)) k (kind, share)
    cross join (select queue_now() as now) n
    cross join lateral generate_series(1, %(size)s * k.share / 100) i) m
"""
DEAD = """
update delayed_queue set source_kind = 'gone', source_key = p_key, source_priority = 0 where p_kind = 'third'
"""

PAST = """
insert into queue_history (p_kind, p_key, entry, outcome, payload, priority, scheduled_at_initially,
    created_at, finished_at, attempts)
select 'past', 'past' || i, i, 'acked', '{}', 0, n.now, n.now, n.now - 60000000 + i, 1
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s) i;
insert into queue_dedup (p_kind, p_key, ended_at)
select 'past', 'past' || i, n.now - 60000000 + i
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s) i;
select queue_define('past', '{"dedup_seconds": 60, "history_seconds": 60}');
select queue_define('reply', '{"expires_seconds": 3600}');
insert into queue_use (p_kind, used_at)
select 'reply' || i %% 100, n.now - 60000000 + i
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s) i;
insert into queue_subscription (pattern, p_kind, head, tail, sketch, matcher, subscribed_at)
select s.pattern, 'copies' || s.i %% 9, s.head, s.tail, '%%', _queue_matcher(s.pattern), 0
from generate_series(1, %(size)s) i
cross join lateral (
    values (i, i || '.order.*', i || '.order', ''), (i, '*.' || i, '', i::text)) s (i, pattern, head, tail);
insert into queue_recurring (name, p_kind, payload, push_options, rule, every, catch_up, paused, next_at)
select 's' || i, 'ticks', '1', '{}', '{}', 60000000, 'last', false,
    n.now + case when i <= 5 then -1 else 3600000000 + i end
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s) i;
insert into queue_group (group_name, then_kind, then_payload, then_key, then_priority, then_delay, on_dead,
    closed, keep_seconds, created_at)
select 'group' || i, 'next', '{}', 'group' || i, 0, 0, 'wait', false, 60, 0
from generate_series(1, %(size)s / 10) i;
update queue_group set group_name = 'crowd' where group_name = 'group8';
update queue_group set finished_at = 0, forget_at = 0 where group_name = 'group5';
insert into queue_group_stripe (group_name, stripe)
select g.group_name, s from queue_group g, generate_series(0, 31) s;
insert into queue_group_member (member, group_name, stripe, p_kind, p_key, entry)
select 1000000000 + i, case when i %% 2 = 0 then 'crowd' else 'group' || i %% (%(size)s / 10) end, i %% 32,
    'gone', i::text, 1000000000 + i
from generate_series(1, %(size)s) i;
"""

LOGGED = """
select queue_define(k, '{"log_seconds": 3600}') from unnest('{noted, notedtoo, copies7}'::text[]) k;
insert into queue_log (event, name, topic, p_kind, p_key, entry, payload, created_at)
select 'pushed', coalesce(l.topic, l.kind), l.topic, l.kind, l.i, l.i, '{}',
    n.now - case when l.i <= 10 then 7200000000 else 0 end
from (select queue_now() as now) n cross join lateral (
    select i, case when i %% 10 = 0 then i %% 100 / 10 || '.noted' end as topic,
        'noted' || case when i %% 2 = 0 then 'too' else '' end as kind
    from generate_series(1, %(size)s) i) l;
insert into queue_log_gone (p_kind, name, event, position)
select 'gone' || i, 'gone' || i, 'pushed', 1 from generate_series(1, 5) i
"""

ORDERED = """
insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at, ready_at,
    order_key, order_waits)
select 'lined', 'l' || i, '1', n.now, n.now, n.now, case when i %% 2 = 0 or i = 1 then n.now end,
    case when i %% 2 = 0 then 'o' || i else 'deep' end, case when i %% 2 = 1 and i > 1 then true end
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s / 10) i
"""

FILTERED = """
insert into queue_kind (p_kind, filter_index) values ('picked', true);
insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at, ready_at)
select 'picked', 'picked' || i, jsonb_build_object('all', 1, 'n', i), n.now - i, n.now, n.now, n.now - i
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s) i;
insert into queue_term (entry, term, place)
select q.entry, t.term, q.ready_at
from (select (_queue_terms('picked', '{"all": 1}'))[1] as term) a
cross join delayed_queue q cross join lateral (values (a.term), (q.entry)) t (term)
where q.p_kind = 'picked';
select _queue_index(array(select q.entry from delayed_queue q where q.p_key = 'picked500'))
"""

SEMAPHORED = """
select queue_semaphore('crowd', 3), queue_semaphore('empty', 0);
select queue_semaphore('wide' || i, 1000000) from generate_series(0, 4) i;
insert into queue_semaphore_permit (entry, name, until)
select 2000000000 + i, 'crowd', queue_now() + 3600000000 from generate_series(1, 2) i;
insert into queue_kind (p_kind, semaphores) values ('slotted', true), ('stuck', true);
with q as (
    insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at,
        semaphores)
    select k.p_kind, k.p_key || i, '1', n.now, n.now, n.now, array[k.name, 'wide' || i %% 5]
    from (select queue_now() as now) n
    cross join (values ('slotted', 'slotted', 'crowd'), ('stuck', 'stuck', 'empty')) k (p_kind, p_key, name)
    cross join lateral generate_series(1, %(size)s / 10) i
    returning entry, p_kind, semaphores)
insert into queue_semaphore_wait (entry, name, p_kind) select q.entry, q.semaphores[1], q.p_kind from q
"""

LIMITED = """
select queue_define('limited', '{"max_reserved": 1000, "rate_per_second": 1000000}');
select queue_push_many(
    'limited', (select jsonb_agg(jsonb_build_object('payload', i)) from generate_series(1, 200) i));
insert into queue_claim (p_kind, slot, number, entry, secret)
select 'limited', 1 + i %% 1000, 1 + i / 1000, 1000000000 + i, '' from generate_series(1, 10000) i
"""

SHAPED = """
select queue_define('shaped', '{"payload_shape": {"n": "number"}, "history_seconds": 60}');
insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially, created_at, ready_at)
select 'shaped', 'shaped' || i, jsonb_build_object('n', i), n.now - i, n.now, n.now, n.now - i
from (select queue_now() as now) n cross join lateral generate_series(1, %(size)s / 10) i
"""

STAGED = """
insert into queue_stage_part (part, job, query, batch, run, begun_at)
select n, 'wide', 'q', 1000000, 'r', queue_now() from generate_series(1, %(size)s) n;
insert into queue_stage_done (query, batch, done_at) values ('q', 0, queue_now())
"""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Filled:
    """A database with messages.

    Attributes:
        url: the database.
        size: how many messages there are.
        known: what the server knows of them.
    """

    url: str
    size: int
    known: str


@pytest.fixture(scope="module")
def originals(databases_postgresql: Databases) -> Iterator[Callable[[int], str]]:
    """Return the name of a database with so many messages, filled once and then copied."""
    with contextlib.ExitStack() as made:

        @functools.cache
        def original(size: int) -> str:
            url = made.enter_context(databases_postgresql.own())
            with psycopg.connect(url, autocommit=True) as conn:
                conn.execute("alter table delayed_queue set (autovacuum_enabled = off)")
                conn.execute(FILL, {"size": size, "held": HELD})
                conn.execute(DEAD)
                for text in (PAST, LOGGED, ORDERED, FILTERED, SEMAPHORED, LIMITED, SHAPED, STAGED):
                    psycopg.ClientCursor(conn).execute(text, {"size": size})
            return url.rpartition("/")[2]

        yield original


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            (size, known),
            id=f"{size}-{known}-known",
            marks=[pytest.mark.long] * (size >= LONG_FROM or known == "empty"),
        )
        for size, known in [
            *itertools.product(SIZES, ("nothing", "all")),
            (1_000, "empty"),
            (10_000, "empty"),
        ]
    ],
)
def filled(
    request: pytest.FixtureRequest, databases_postgresql: Databases, originals: Callable[[int], str]
) -> Iterator[Filled]:
    """A database for the tests of this file, with the messages in it.

    What the server knows of them: nothing; all; or `empty`, what it finds in a queue that is empty just
    then, with the dead rows of many in it: no rows in many pages.
    """
    size, known = request.param
    if not databases_postgresql.superuser():
        pytest.skip("auto_explain is loaded by superusers only")
    with databases_postgresql.own(originals(size)) as url:
        with psycopg.connect(url, autocommit=True) as conn:
            if known != "nothing":
                names = sql.SQL(", ").join(map(sql.Identifier, TABLES))
                conn.execute(
                    sql.SQL("vacuum {} {}").format(sql.SQL("analyze" if known == "all" else ""), names)
                )
            if known == "empty":
                conn.execute(
                    "update pg_class c set reltuples = 0 from pg_index i"
                    " where c.oid in (i.indrelid, i.indexrelid) and i.indrelid = any (%s::regclass[])",
                    [[name for name in TABLES if name not in ALIKE]],
                )
        yield Filled(url, size, known)


@contextlib.contextmanager
def new_session(filled: Filled) -> Iterator[Plans]:
    """Give the plans of a new session, which has no cursor yet."""
    with psycopg.connect(filled.url, autocommit=True) as conn:
        conn.execute("delete from queue_cursor")
        yield Plans(conn)


def scans_of_messages(nodes: list[Node]) -> list[Node]:
    """Return the parts of a plan that read messages."""
    return [node for node in nodes if node.relation == "delayed_queue" and node.kind.endswith("Scan")]


@pytest.fixture
def plans(filled: Filled) -> Iterator[Plans]:
    """The plans of a new session, which has no cursor yet."""
    with new_session(filled) as plans:
        yield plans


def reserve(plans: Plans, number: int = BATCH) -> list[str]:
    """Return the receipts of messages that are held now."""
    rows, _ = plans.run("select receipt from queue_reserve('work', 'w', %s)", number)
    assert len(rows) == number
    return [receipt for (receipt,) in rows]


def one_by_one(text: str, *parameters: object) -> Callable[[Plans], list[Node]]:
    """A call of a routine that takes one receipt."""
    return lambda plans: plans.run(text, reserve(plans, 1)[0], *parameters)[1]


def many(text: str, *parameters: object) -> Callable[[Plans], list[Node]]:
    """A call of a routine that takes many receipts."""
    return lambda plans: plans.run(text, Jsonb(reserve(plans)), *parameters)[1]


def move_many(plans: Plans) -> list[Node]:
    moves = [{"receipt": one, "to_kind": "other"} for one in reserve(plans)]
    return plans.run("select * from queue_move_many(%s)", Jsonb(moves))[1]


def push_many(plans: Plans, kind: str = "other") -> list[Node]:
    messages = [{"key": f"other{i}", "payload": i} for i in range(BATCH // 2)]
    messages += [{"payload": i} for i in range(BATCH // 2)]
    return plans.run("select * from queue_push_many(%s, %s)", kind, Jsonb(messages))[1]


def replace_many(plans: Plans) -> list[Node]:
    messages = [{"key": f"other{i}", "payload": i} for i in range(BATCH)]
    text = """select * from queue_push_many('other', %s, '{"on_duplicate": "replace"}')"""
    return plans.run(text, Jsonb(messages))[1]


def remembered_many(plans: Plans) -> list[Node]:
    messages = [{"key": f"past{i}", "payload": i} for i in range(1, BATCH + 1)]
    return plans.run("select * from queue_push_many('past', %s)", Jsonb(messages))[1]


def query(text: str, *parameters: object) -> Callable[[Plans], list[Node]]:
    """A call that needs no receipt."""
    return lambda plans: plans.run(text, *parameters)[1]


def member(plans: Plans, text: str) -> list[Node]:
    """Make a call for a member of a group that is held."""
    plans.run("""select * from queue_push('joint', null, '1', '{"group": "crowd"}')""")
    [[receipt]], _ = plans.run("select receipt from queue_reserve('joint', 'w')")
    return plans.run(text, receipt)[1]


def read_ack(plans: Plans) -> list[Node]:
    """Make the call for a reader that has read."""
    plans.run("select from queue_read('noted', 'reader', 1)")
    return plans.run("select * from queue_read_ack('reader', 5)")[1]


def in_a_snapshot(plans: Plans, text: str) -> list[Node]:
    """Make a call in a transaction that keeps its snapshot."""
    plans.conn.execute("set default_transaction_isolation = 'repeatable read'")
    nodes = plans.run(text, BATCH)[1]
    plans.conn.execute("reset default_transaction_isolation")
    return nodes


def ordered(plans: Plans, text: str) -> list[Node]:
    """Make a call for the first of a line that is held."""
    plans.run("""select * from queue_push('line', null, '1', '{"order_key": "deep"}')""")
    [[receipt]], _ = plans.run("select receipt from queue_reserve('line', 'w')")
    plans.run("""select * from queue_push('line', null, '1', '{"order_key": "deep"}')""")
    return plans.run(text, receipt)[1]


def semaphored(plans: Plans, text: str | None = None) -> list[Node]:
    """Make a call for the message that has the last slot of a semaphore for which others wait.

    Args:
        plans: the session.
        text: the call; none: the reserve of that message.
    """
    rows, nodes = plans.run("select receipt from queue_reserve('slotted', 'w', %s)", BATCH)
    [[receipt]] = rows
    if text is not None:
        nodes = plans.run(text, receipt)[1]
    # gives the slot to the next one, unless the call did
    plans.run("select * from queue_ack(%s)", receipt)
    return nodes


def calm(plans: Plans) -> None:
    """Have no call of a session tidy up by the way, which chance decides: one in 20 does."""
    for seed in range(1000):
        plans.conn.execute("select setseed(%s)", [seed / 1000])
        [[least]], _ = plans.run("select min(random()) from generate_series(1, 30)")
        if least > 0.05:
            plans.conn.execute("select setseed(%s)", [seed / 1000])
            return
    pytest.fail("there is no such seed")


def stage(plans: Plans) -> list[dict[str, int]]:
    """Stage messages under the job `job`, and return what is to be published."""
    [[part]], _ = plans.run("select part from queue_stage_begin('job')")
    plans.run(
        "insert into queue_stage (part, p_kind, p_key, payload)"
        " select %s, 'other', 'staged' || i, '1' from generate_series(1, %s) i returning p_key",
        part,
        BATCH,
    )
    return [{"part": part, "messages": BATCH}]


def publish(plans: Plans) -> list[Node]:
    options = {"query": "q", "batch": next(_numbers)}
    return plans.run("select * from queue_stage_publish(%s, %s)", Jsonb(stage(plans)), Jsonb(options))[1]


def abort(plans: Plans) -> list[Node]:
    stage(plans)
    return plans.run("select * from queue_stage_abort('job')")[1]


def batch(plans: Plans, text: str, *parameters: object) -> list[Node]:
    """Make a call for a batch that has been reserved."""
    number = next(_numbers)
    plans.run("select p_key from queue_stream_reserve('reader', %s, 0, 'work', %s)", number, BATCH)
    return plans.run(text, number, *parameters)[1]


def reserve_planned(plans: Plans) -> list[Node]:
    """Reserve a part of a read that was planned."""
    number = next(_numbers)
    plans.run("select plan from queue_stream_plan('reader/' || %s)", number)
    text = """select * from queue_stream_reserve('reader', %s, 0, 'work', %s, '{"plan": 1}')"""
    return plans.run(text, number, BATCH)[1]


def kept(plans: Plans, text: str, *parameters: object) -> list[Node]:
    """Make a call for a batch that is committed, and kept."""
    number = next(_numbers)
    plans.run("select p_key from queue_stream_reserve('reader', %s, 0, 'work', %s)", number, BATCH)
    plans.run("""select * from queue_stream_commit('reader', %s, '{"keep": true}')""", number)
    return plans.run(text, number, *parameters)[1]


def commit_failed(plans: Plans) -> list[Node]:
    """Commit a batch of which messages have failed."""
    number = next(_numbers)
    rows, _ = plans.run("select receipt from queue_stream_reserve('reader', %s, 0, 'work', 2)", number)
    failed = Jsonb({"failed": [{"receipt": receipt} for (receipt,) in rows]})
    return plans.run("select * from queue_stream_commit('reader', %s, %s)", number, failed)[1]


def commit_written_back(plans: Plans) -> list[Node]:
    """Commit a batch that writes back what it has read."""
    number = next(_numbers)
    rows, _ = plans.run("select p_key from queue_stream_reserve('reader', %s, 0, 'work', %s)", number, BATCH)
    [[part]], _ = plans.run("select part from queue_stage_begin('job')")
    plans.run(
        "insert into queue_stage (part, p_kind, p_key, payload)"
        " select %s, 'work', k.p_key, '2' from unnest(%s::text[]) k (p_key) returning p_key",
        part,
        [key for (key,) in rows],
    )
    options = Jsonb({"parts": [{"part": part, "messages": len(rows)}]})
    return plans.run("select * from queue_stream_commit('reader', %s, %s)", number, options)[1]


def ack_kept(plans: Plans, kind: str) -> list[Node]:
    """Acknowledge messages of a kind that keeps something of their ends."""
    push_many(plans, kind)
    rows, _ = plans.run("select receipt from queue_reserve(%s, 'w', %s)", kind, BATCH)
    return plans.run("select * from queue_ack_many(%s)", Jsonb([receipt for (receipt,) in rows]))[1]


CALLS: dict[str, Callable[[Plans], list[Node]]] = {
    "queue_stage_begin": query("""select * from queue_stage_begin('job', '{"query": "q", "run": "r"}')"""),
    "queue_stage_publish": publish,
    "queue_stage_abort": abort,
    "queue_stream_ready": query("select * from queue_stream_ready('work')"),
    "queue_stream_reserve": reserve_planned,
    "queue_stream_reserve again": lambda plans: batch(
        plans, "select * from queue_stream_reserve('reader', %s, 0, 'work', %s)", BATCH
    ),
    "queue_stream_plan": lambda plans: batch(plans, "select * from queue_stream_plan('reader/' || %s)"),
    "queue_stream_renew": lambda plans: batch(plans, "select * from queue_stream_renew('reader', %s)"),
    "queue_stream_extend": lambda plans: batch(
        plans, "select * from queue_stream_extend('reader/' || %s, 60)"
    ),
    "queue_stream_done": query("select * from queue_stream_done('reader', 1)"),
    "queue_stream_commit": lambda plans: batch(plans, "select * from queue_stream_commit('reader', %s)"),
    "queue_stream_commit failed": commit_failed,
    "queue_stream_commit written back": commit_written_back,
    "queue_stream_commit kept": lambda plans: batch(
        plans, """select * from queue_stream_commit('reader', %s, '{"keep": true}')"""
    ),
    "queue_stream_plan kept": lambda plans: kept(plans, "select * from queue_stream_plan('reader/' || %s)"),
    "queue_stream_reserve kept": lambda plans: kept(
        plans, "select * from queue_stream_reserve('reader', %s, 0, 'work', %s)", BATCH
    ),
    "queue_stream_forget": lambda plans: kept(plans, "select * from queue_stream_forget('reader/' || %s)"),
    "queue_reserve": query("select * from queue_reserve('work', 'w', %s)", BATCH),
    "queue_next": one_by_one("select * from queue_next(jsonb_build_array(%s::text), 'work', 'w')"),
    "queue_next many": many("select * from queue_next(%s, 'work', 'w', 20)"),
    "queue_pop": query("select * from queue_pop('work', %s)", BATCH),
    "queue_ack": one_by_one("select * from queue_ack(%s)"),
    "queue_ack_many": many("select * from queue_ack_many(%s)"),
    "queue_extend": one_by_one("select * from queue_extend(%s, 60)"),
    "queue_extend_many": many("select * from queue_extend_many(%s, 60)"),
    "queue_nack": one_by_one("select * from queue_nack(%s)"),
    "queue_nack_many": many("select * from queue_nack_many(%s)"),
    "queue_nack_many final": many("""select * from queue_nack_many(%s, '{"final": true}')"""),
    "queue_move": one_by_one("select * from queue_move(%s, 'other')"),
    "queue_move_many": move_many,
    "queue_push": query("select * from queue_push('work', null, '1')"),
    "queue_push duplicate": query("select * from queue_push('work', 'work500', '1')"),
    "queue_push replace": query(
        """select * from queue_push('work', 'work500', '1', '{"on_duplicate": "replace"}')"""
    ),
    "queue_push_many": push_many,
    "queue_push_many replace": replace_many,
    "queue_push remembered": query("select * from queue_push('past', 'past500', '1')"),
    "queue_push_many remembered": remembered_many,
    "queue_inbox": query(
        """insert into queue_inbox (p_kind, p_key, payload)
        values ('past', 'new', '1'), ('past', 'past7', '1') returning p_key"""
    ),
    "queue_prune": query("select queue_prune(%s)", BATCH),
    "queue_get": query("select * from queue_get('work', 'work500')"),
    "queue_peek": query("select * from queue_peek('work', %s)", BATCH),
    "queue_remove": query("select * from queue_remove('other', 'other7')"),
    "queue_redrive": query("select * from queue_redrive('third', %s)", BATCH),
    "queue_purge": query("select * from queue_purge('third', %s)", BATCH),
    "queue_listen": query("""select * from queue_listen('["work", "other", "nothing"]')"""),
    "queue_wait": query("""select * from queue_wait('["nothing", "work"]', 0)"""),
    "queue_heartbeat": query("select * from queue_heartbeat('plan')"),
    "queue_reserve expiring": query("select * from queue_reserve('reply', 'w', %s)", BATCH),
    "queue_reserve limited": query("select * from queue_reserve('limited', 'w')"),
    "queue_reserve limited many": query("select * from queue_reserve('limited', 'w', 2)"),
    "queue_pop limited": query("select * from queue_pop('limited')"),
    "queue_reserve shaped": query("select * from queue_reserve('shaped', 'w', %s)", BATCH),
    "queue_pop shaped": query("select * from queue_pop('shaped', %s)", BATCH),
    "queue_drop": query("select * from queue_drop('nobody')"),
    "queue_subscribe": query("select * from queue_subscribe('7.order.*', 'copies7')"),
    "queue_unsubscribe": query("select * from queue_unsubscribe('8.order.*', 'copies8')"),
    "queue_publish": query("select * from queue_publish('7.order.paid', null, '1')"),
    "queue_publish onto": query(
        """select * from queue_publish('7.order.paid', 'a', '1', '{"on_duplicate": "replace"}')"""
    ),
    "queue_schedule": query("select * from queue_schedule('s7', 'ticks', '1', '{\"every_seconds\": 60}')"),
    "queue_unschedule": query("select * from queue_unschedule('s8')"),
    "queue_tick": query("select * from queue_tick()"),
    "queue_group": query("select * from queue_group('group7', 'next')"),
    "queue_push grouped": query("""select * from queue_push('joint', null, '1', '{"group": "crowd"}')"""),
    "queue_push_many grouped": query(
        """select * from queue_push_many('joint', '[{"payload": 1}, {"payload": 2}]', '{"group": "crowd"}')"""
    ),
    "queue_ack grouped": lambda plans: member(plans, "select * from queue_ack(%s)"),
    "queue_move grouped": lambda plans: member(plans, "select * from queue_move(%s, 'other')"),
    "queue_reserve where": query(
        """select * from queue_reserve('picked', 'w', 10, '{"where": {"n": 500}}')"""
    ),
    "queue_pop where": query("""select * from queue_pop('picked', 10, '{"where": {"n": 500}}')"""),
    "queue_push where": query(
        """select * from queue_push('picked', 'picked7', '{"n": 7}', '{"on_duplicate": "replace"}')"""
    ),
    "queue_push_many where": query(
        """select * from queue_push_many('picked', '[{"key": "picked8", "payload": 8}]',"""
        """ '{"on_duplicate": "replace"}')"""
    ),
    "queue_push logged": query("select * from queue_push('noted', null, '1')"),
    "queue_push_many logged": lambda plans: push_many(plans, "noted"),
    "queue_ack_many logged": lambda plans: ack_kept(plans, "noted"),
    "queue_ack_many remembered": lambda plans: ack_kept(plans, "past"),
    "queue_read": query("select * from queue_read('noted', 'reader', %s)", BATCH),
    "queue_read topic": query("select * from queue_read('7.noted', 'topical', %s)", BATCH),
    "queue_read pattern": query("select * from queue_read('#', 'all', %s)", BATCH),
    "queue_read_ack": read_ack,
    "queue_push ordered": query("""select * from queue_push('lined', null, '1', '{"order_key": "deep"}')"""),
    "queue_push_many ordered": query(
        """select * from queue_push_many('lined', '[{"payload": 1}, {"payload": 2, "order_key": "deep"}]',"""
        """ '{"order_key": "o8"}')"""
    ),
    "queue_ack ordered": lambda plans: ordered(plans, "select * from queue_ack(%s)"),
    "queue_move ordered": lambda plans: ordered(plans, "select * from queue_move(%s, 'lined')"),
    "queue_peek ordered": query("select * from queue_peek('lined', %s)", BATCH),
    "queue_push semaphored": query(
        """select * from queue_push('slotted', null, '1', '{"semaphores": ["crowd", "wide3"]}')"""
    ),
    "queue_push semaphored free": query(
        """select * from queue_push('roomy', null, '1', '{"semaphores": ["wide3", "wide4"]}')"""
    ),
    "queue_push_many semaphored": query(
        """select * from queue_push_many('slotted', '[{"payload": 1}, {"payload": 2}]',"""
        """ '{"semaphores": ["crowd", "wide3"]}')"""
    ),
    "queue_reserve semaphored": semaphored,
    "queue_reserve semaphored stuck": query("select * from queue_reserve('stuck', 'w', %s)", BATCH),
    "queue_pop semaphored": query("select * from queue_pop('slotted')"),
    "queue_ack semaphored": lambda plans: semaphored(plans, "select * from queue_ack(%s)"),
    "queue_extend semaphored": lambda plans: semaphored(plans, "select * from queue_extend(%s, 60)"),
    "queue_peek semaphored": query("select * from queue_peek('slotted', %s)", BATCH),
    "queue_listen semaphored": query("""select * from queue_listen('"stuck"')"""),
    "queue_semaphore": query("select * from queue_semaphore('crowd', 3)"),
    "queue_replay": query(
        "select * from queue_replay('past', %s)", Jsonb({"limit": BATCH, "to_kind": "again"})
    ),
}
TABLES = (
    *("delayed_queue", "queue_history", "queue_dedup"),
    *("queue_use", "queue_subscription", "queue_recurring"),
    *("queue_group", "queue_group_stripe", "queue_group_member"),
    *("queue_slot", "queue_claim", "queue_bucket"),
    *("queue_log", "queue_log_gone", "queue_log_known", "queue_reader", "queue_term"),
    *("queue_semaphore", "queue_semaphore_permit", "queue_semaphore_wait", "queue_stream_kept"),
    "queue_stage_part",
)
ALIKE = {
    *("queue_group_member", "queue_log_gone"),
    *("queue_semaphore_wait", "queue_subscription", "queue_term"),
}
"""Two of their indexes can serve the same lookup; of no rows at all the one looks as good as the other."""
PASSING = {
    "queue_reserve",
    "queue_pop",
    "queue_pop shaped",
    "queue_next",
    "queue_next many",
    "queue_redrive",
    "queue_purge",
    "queue_listen",
    "queue_wait",
    "queue_stream_ready",
    "queue_stream_reserve",
}
"""They pass over messages that are held."""


SMALL = {"queue_log_gone", "queue_log_known", "queue_cursor", "queue_reader"}
"""They stay small; a prune reads the largest number in each, to find a sequence that is behind."""


FIXED = {"queue_group_stripe": 32}
"""A group has so many, whatever comes; a prune that forgets it reads them all."""


def test_a_filter_reads_one_of_so_many_messages(filled: Filled) -> None:
    with psycopg.connect(filled.url, autocommit=True) as conn:
        plans = Plans(conn)
        calm(plans)
        conn.execute(
            "select _queue_index(array(select q.entry from delayed_queue q where q.p_key = 'picked400'))"
        )
        where = Jsonb({"where": {"all": 1, "n": 400}})
        rows, nodes = plans.run("select p_key from queue_reserve('picked', 'w', 5, %s)", where)
        assert rows == [("picked400",)]
        scans = [node for node in nodes if node.kind.endswith("Scan")]
        assert sum(node.touched for node in scans if node.relation == "delayed_queue") < 10
        # a thousand of the value that all have are counted
        assert sum(node.touched for node in scans if node.relation == "queue_term") < 1100


def test_a_filter_reads_nothing_that_is_scheduled_for_later(conn: psycopg.Connection) -> None:
    conn.execute("""select queue_define('picked', '{"filter_index": true}')""")
    batch = [{"payload": {"n": 1}}] * 2000
    conn.execute("select queue_push_many('picked', %s, %s)", [Jsonb(batch), Jsonb({"delay_seconds": 3600})])
    plans = Plans(conn)
    calm(plans)
    for wanted in ({"n": 1}, {"n": 1, "other": 1}):
        where = Jsonb({"where": wanted})
        rows, nodes = plans.run("select * from queue_reserve('picked', 'w', 5, %s)", where)
        assert rows == []
        assert [str(node) for node in nodes if node.relation == "queue_term" and node.touched] == []


def test_a_short_line_is_read_without_a_long_one_that_came_before_it(conn: psycopg.Connection) -> None:
    conn.execute("alter table delayed_queue set (autovacuum_enabled = off)")
    for order, number, earlier in (("long", 20_000, 0), ("short", 10, 3600 * SECOND)):
        conn.execute(
            "insert into delayed_queue (p_kind, p_key, payload, scheduled_at, scheduled_at_initially,"
            " created_at, ready_at, order_key, order_waits)"
            " select 'lined', %s || i, '1', n.now, n.now, n.now, case when i = 1 then n.now - %s end, %s,"
            " case when i > 1 then true end"
            " from (select queue_now() as now) n, generate_series(1, %s) i",
            [order, earlier, order, number],
        )
    conn.execute("vacuum analyze delayed_queue")
    plans = Plans(conn)
    nodes = plans.run("""select * from queue_push('lined', null, '1', '{"order_key": "short"}')""")[1]
    for call in ("queue_ack(%s)", "queue_move(%s, 'lined', '{\"key\": \"moved\"}')"):
        [[key, receipt]], _ = plans.run("select p_key, receipt from queue_reserve('lined')")
        assert key.startswith("short")
        nodes += plans.run(f"select * from {call}", receipt)[1]
        # who comes next stands behind the first of the other line
        conn.execute("update delayed_queue q set ready_at = 0 where q.order_key = 'short' and q.ready_at > 0")
    scans = scans_of_messages(nodes)
    assert "delayed_queue_line" in {node.index for node in scans}
    assert [str(node) for node in scans if node.touched > BATCH] == []


def test_a_reserve_reads_the_held_messages_before_its_own_and_nothing_behind(filled: Filled) -> None:
    with psycopg.connect(filled.url, autocommit=True) as conn:
        plans = Plans(conn)
        calm(plans)
        with conn.transaction(force_rollback=True):
            conn.execute("delete from queue_cursor")
            conn.execute("delete from delayed_queue where reserved_at is not null")
            rows, nodes = plans.run("select p_key from queue_reserve('work', 'w', %s)", BATCH)
    assert len(rows) == BATCH
    line = [node for node in nodes if node.index == "delayed_queue_ready"]
    # a scan of over 20 ms makes the session look once more, and note where it was
    assert [node.touched for node in line] in ([BATCH], [BATCH, BATCH])
    assert max(node.rows for node in nodes if node.kind == "Tid Scan") == BATCH


def test_what_a_kind_has_is_counted_without_all_others(plans: Plans) -> None:
    [[total]], nodes = plans.run("select total from queue_stats where p_kind = 'limited'")
    scans = scans_of_messages(nodes)
    assert sum(node.touched for node in scans) == total == 200


def test_a_look_at_a_kind_where_nothing_is_ready_reads_what_comes_next(filled: Filled) -> None:
    with psycopg.connect(filled.url, autocommit=True) as conn:
        plans = Plans(conn)
        with conn.transaction(force_rollback=True):
            with plans.unseen():
                push = (
                    "select queue_push_many('idle', (select jsonb_agg(jsonb_build_object('payload', i)) from"
                )
                conn.execute(f"{push} generate_series(1, 150) i))")  # pyright: ignore[reportArgumentType]
                conn.execute("select queue_reserve('idle', 'w', 150)")
                delayed = f"{push} generate_series(1, 5000) i), '{{\"delay_seconds\": 60}}')"
                conn.execute(delayed)  # pyright: ignore[reportArgumentType]
            rows, nodes = plans.run(
                """select ready, next_seconds > 30 and next_seconds <= 60 from queue_listen('"idle"')"""
            )
    assert rows == [(False, True)]
    scans = scans_of_messages(nodes)
    assert {node.index for node in scans if node.touched} == {"delayed_queue_ready", "delayed_queue_due"}
    assert max(node.touched for node in scans) <= 150


@pytest.mark.parametrize("kinds", ["null", '["work", "idle"]'])
def test_a_reap_reads_the_ready_lines_of_the_workers_kinds(filled: Filled, kinds: str) -> None:
    with psycopg.connect(filled.url, autocommit=True) as conn:
        plans = Plans(conn)
        with conn.transaction(force_rollback=True):
            conn.execute("select queue_heartbeat('gone', jsonb_build_object('kinds', %s::jsonb))", [kinds])
            conn.execute("select queue_reserve('work', 'gone', 5)")
            conn.execute("update queue_worker set heartbeat_at = 0 where worker = 'gone'")
            rows, nodes = plans.run("select * from queue_reap()")
    assert ("gone", 5) in rows
    scans = scans_of_messages(nodes)
    line = [node for node in scans if node.index == "delayed_queue_ready"]
    assert line
    assert [str(node) for node in scans if node not in line and node.touched > 10] == []
    if kinds != "null":
        assert sum(node.touched for node in line) <= filled.size * 0.8


PAIRS = [
    (index, name)
    for index, names in served().items()
    for said in names
    for name in (["queue_reserve"] if said == "every routine" else [said])
]
CALLS_OF_VIEWS = {
    "queue_read snapshot": lambda plans: in_a_snapshot(
        plans, "select * from queue_read('noted', 'kept', %s)"
    ),
    "queue_groups": query("select * from queue_groups where group_name = 'group7'"),
    "queue_history": query("select * from queue_history where p_kind = 'past' and p_key = 'past500'"),
}
VARIANTS = {
    "delayed_queue_first": "ordered",
    "delayed_queue_line": "ordered",
    "queue_bucket": "limited",
    "queue_claim": "limited",
    "queue_dedup": "remembered",
    "queue_group": "grouped",
    "queue_log_gone_name": "topic",
    "queue_log_known": "snapshot",
    "queue_log_pkey": "pattern",
    "queue_log_topic": "topic",
    "queue_semaphore": "semaphored",
    "queue_slot": "limited",
    "queue_stream_kept": "kept",
    "queue_term": "where",
    "queue_use": "expiring",
}
"""The calls of a routine that use an index, by how that begins; else it is the plain call."""


HOLD_INDEX = "queue_hold_until"
"""It is for sessions with a cursor only."""
UNSEEN = (
    "queue_push",
    "queue_inbox",
    "queue_prune",
    "queue_heartbeat",
    "queue_stage_begin",
    "queue_stream_done",
    "queue_subscribe",
)
"""What calls begin with that need not show a scan."""


def call_of(index: str, name: str) -> str | None:
    """Return the call that shows what an index does for a routine or a view, None where there is none."""
    variants = [f"{name} {said}" for start, said in VARIANTS.items() if index.startswith(start)]
    calls = CALLS | CALLS_OF_VIEWS
    return next((one for one in [*variants, name] if one in calls), None)


def test_for_each_index_there_is_a_call_of_each_routine_that_it_serves() -> None:
    assert [pair for pair in PAIRS if call_of(*pair) is None] == []


def used_by(nodes: list[Node]) -> set[str | None]:
    """Return the indexes in a plan, those too that settle the conflicts of an INSERT."""
    arbiters = {one for node in nodes for one in node.fields.get("Conflict Arbiter Indexes", ())}
    return {node.index for node in nodes} | arbiters


@each("name", [*CALLS, *CALLS_OF_VIEWS])
def test_a_call_uses_its_indexes_and_touches_no_more_than_its_batch(filled: Filled, name: str) -> None:
    with new_session(filled) as plans:
        wrong = what_is_wrong(filled, plans, name)
    assert {what: found for what, found in wrong.items() if found} == {}


def what_is_wrong(filled: Filled, plans: Plans, name: str) -> dict[str, list[str]]:
    """Return what a call does that it shouldn't, and the parts of its plan that show it."""
    calm(plans)
    nodes = (CALLS | CALLS_OF_VIEWS)[name](plans)
    nodes = [
        node for node in nodes if "pg_proc" not in node.query
    ]  # who else may create is asked of the catalog
    wrong: dict[str, list[str]] = {}
    if name in CALLS:
        tables = (*TABLES, "queue_inbox", "queue_stage")
        scans = [node for node in nodes if node.kind.endswith("Scan") and node.relation in tables]
        assert scans or name.startswith(UNSEEN), "no plan was seen"
        good = ("Index Scan", "Index Only Scan", "Tid Scan")
        small = SMALL if name == "queue_prune" else set[str]()
        wrong["scans without an index"] = [
            str(one) for one in scans if one.kind not in good and one.relation not in small
        ]
        wrong["bitmaps"] = [str(one) for one in nodes if "Bitmap" in one.kind]
        wrong["sorts of more than the batch"] = [
            str(one)
            for one in nodes
            if "Sort" in one.kind
            and (one.rows > 2 * BATCH or any(below.touched > 2 * BATCH for below in one.below))
        ]
        # the other tests of this file hold messages, too: at the most a batch each
        held = HELD + 3 * len(CALLS) * BATCH
        # a peek looks at the line and at the timetable, or at who waits in lines, a batch of each
        most = 2 * BATCH if name.startswith("queue_peek") else BATCH + (held if name in PASSING else 0)
        wrong["more rows than the batch and what is held"] = [
            str(one)
            for one in nodes
            if one.relation in TABLES
            and one.kind.endswith("Scan")
            and one.touched > FIXED.get(str(one.relation), most)
        ]
    # of an empty table any index that serves is right, and the calls are bounded all the same
    if filled.known != "empty":
        if name == "queue_prune":
            # the history has its turn after counters and what else there is to tidy
            nodes = [*nodes, *(node for _ in range(4) for node in CALLS[name](plans))]
        wrong["indexes that say that they serve it and aren't used"] = [
            index
            for index, routine in PAIRS
            if call_of(index, routine) == name and index != HOLD_INDEX and index not in used_by(nodes)
        ]
    return wrong


def test_a_session_with_a_cursor_looks_from_the_marks_by_their_index(filled: Filled, plans: Plans) -> None:
    session = Session(plans.conn)
    for index, name in PAIRS:
        if index == HOLD_INDEX:
            session.slow(session.real_now())
            session.change(marks_at=0)
            nodes = (CALLS | CALLS_OF_VIEWS)[call_of(index, name) or name](plans)
            assert index in used_by(nodes) or filled.known == "empty", name


def test_every_index_says_what_it_serves(filled: Filled) -> None:
    with psycopg.connect(filled.url, autocommit=True) as conn:
        there = conn.execute(
            "select i.indexrelid::regclass::text from pg_index i join pg_class c on c.oid = i.indrelid"
            " where c.relnamespace = current_schema()::regnamespace and c.relname <> 'queue_version'"
        ).fetchall()
    assert {name for (name,) in there} == {index for index, names in served().items() if names}


@pytest.mark.parametrize(
    "call",
    [
        "select * from queue_reserve('work', 'w', 20)",
        "select e.* from queue_reserve('work', 'w', 20) r, queue_extend(r.receipt, 60) e",
    ],
    ids=["reserve", "extend"],
)
def test_a_hold_is_a_heap_only_update(filled: Filled, call: str) -> None:
    with psycopg.connect(filled.url, autocommit=True) as conn, conn.transaction(force_rollback=True):
        assert len(conn.execute(call).fetchall()) == 20  # pyright: ignore[reportArgumentType, reportCallIssue]
        row = conn.execute(
            "select n_tup_upd, n_tup_hot_upd from pg_stat_xact_user_tables where relname = 'delayed_queue'"
        ).fetchone()
    assert row is not None
    updates, heap_only = row
    assert updates >= 20
    assert heap_only == updates


@pytest.mark.parametrize("slow", [False, True], ids=["", "snapshot"])
def test_a_plan_made_while_the_queue_was_empty_is_right_once_it_is_full(
    conn: psycopg.Connection, slow: bool
) -> None:
    conn.execute("alter table delayed_queue set (autovacuum_enabled = off)")
    session, plans = Session(conn), Plans(conn)
    session.push("first")
    session.slow(session.real_now() - SECOND)
    session.change(took=SLOW if slow else 0)
    rows, nodes = plans.run("select p_key from queue_reserve('work')")
    assert rows == [("first",)]
    assert "update public.delayed_queue q" in {node.query.strip().split("\n")[0] for node in nodes}
    with plans.unseen():
        for delay in (0, 3600):
            conn.execute(
                "select count(*) from queue_push_many('work',"
                " (select jsonb_agg(jsonb_build_object('payload', i)) from generate_series(1, 10000) i),"
                " jsonb_build_object('delay_seconds', %s::integer))",
                [delay],
            )
    rows, nodes = plans.run("select p_key from queue_reserve('work')")
    assert len(rows) == 1
    scans = scans_of_messages(nodes)
    assert {node.index for node in scans} == {"delayed_queue_ready", "delayed_queue_due", None}
    assert [str(node) for node in scans if node.touched > 2] == []


def test_who_turns_scans_off_turns_sorts_off(conn: psycopg.Connection) -> None:
    """ADR 13: a sort behind another index would do for a table that the server believes empty."""
    rows = conn.execute(
        "select p.proname from pg_proc p where p.proconfig @> '{enable_seqscan=off}'"
        " and not p.proconfig @> '{enable_bitmapscan=off, enable_sort=off}'"
    ).fetchall()
    assert rows == []
