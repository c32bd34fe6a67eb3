"""Promises that processes put to the test while something befalls them or the server."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyqueue_sql.calls.connect import ConnectionFailed, connect, is_mysql
from tests.concurrency import crew, worker
from tests.concurrency.crew import Crew, Outcome
from tests.concurrency.history import read
from tests.conformance.harness import open_harness
from tests.faults.alone import said
from tests.faults.promise import Size
from tests.faults.restarts import Restartable
from tests.servers.pooler import pgbouncer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Session

DELIVERIES: Final = 3
"""How often a message may kill who takes it."""
CONNECTIONS: Final = 40
HELD_SECONDS: Final = 0.3
"""For how long no connection is left."""
MEGABYTE: Final = 1 << 20
STEPS: Final = """
select 'staged' as what, left(q.p_key, 12) as name, count(*) as number from delayed_queue q
where q.p_kind = 'staged' group by left(q.p_key, 12)
union all
select 'members', left(q.p_key, 12), count(*) from delayed_queue q
where q.p_kind = 'members' group by left(q.p_key, 12)
union all
select 'next', left(q.p_key, 12), count(*) from delayed_queue q
where q.p_kind = 'next' group by left(q.p_key, 12)
"""
SIZES: Final = {
    "postgresql": "select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c"
    " where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'",
    "mysql": "select coalesce(sum(t.data_length + t.index_length), 0) from information_schema.tables t"
    " where t.table_schema = database()",
}


def storm(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Behind PgBouncer, which shares few sessions among all, sessions end twenty times a second."""
    harness = open_harness(url)
    settings = {"ignore_startup_parameters": "options", "default_pool_size": "6", "query_wait_timeout": "20"}
    try:
        with pgbouncer(url, **settings) as pooled:
            return crew.run(
                url,
                folder,
                lambda _: int(harness.terminate_one_of(worker.NAME)),
                messages=size.messages,
                seed=seed,
                least=size.faults,
                pause=0.05,
                through=pooled,
                prepared=False,
            )
    finally:
        harness.close()


def no_connection_left(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Somebody takes all connections that the server has, while processes die and others start."""

    def strike(struck: Crew) -> int:
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(ConnectionFailed):
                while True:
                    stack.enter_context(contextlib.closing(connect(url)))
            struck.kill_one()
            time.sleep(HELD_SECONDS)
        return 1

    with narrow(url):
        return crew.run(
            url, folder, strike, messages=size.messages, seed=seed, least=size.faults, meets=False
        )


@contextlib.contextmanager
def narrow(url: str) -> Iterator[None]:
    """Let a MariaDB or MySQL have fewer connections: to take all that it has by default lasts long."""
    if not is_mysql(url):
        yield
        return
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(b"select @@global.max_connections")
        [(usual,)] = cursor.fetchall()
        cursor.execute(f"set global max_connections = {CONNECTIONS}".encode())
        try:
            yield
        finally:
            cursor.execute(f"set global max_connections = {usual}".encode())


def poison(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Some messages kill whoever takes them: each ends dead after its last delivery, others are done."""
    harness = open_harness(url)
    queue = harness.connect()
    queue.define("work", max_attempts=DELIVERIES, backoff_seconds=0)
    deadly = [f"{worker.DEADLY}{number}" for number in range(-(-size.faults // DELIVERIES))]
    sound = [f"sound{number}" for number in range(size.messages)]
    batch: list[dict[str, Any]] = [{"key": key, "payload": key} for key in deadly]
    batch += [{"key": key, "payload": key, "max_attempts": 1_000} for key in sound]
    eaters = Crew(url, folder, seed, worker.eat)
    eaters.chance.shuffle(batch)
    queue.push_many("work", batch)
    killed = list[int]()

    def strike(struck: Crew) -> int:
        killed.append(struck.replace_dead())
        return killed[-1]

    def over() -> bool:
        return not queue.stats("work")[0].total or sum(killed) > 2 * DELIVERIES * len(deadly)

    died = eaters.run_until(over, strike, 0.1, meets=False)
    dead = queue.peek("work.dead", 10_000)
    stats = queue.stats("work")[0]
    calls = read(sorted(folder.glob("worker*.jsonl")))
    acked = Counter(key for call in calls if call.op == "ack" for key in call.answer or ())
    wrong = Counter[str]()
    wrong["a deadly message isn't dead"] = len({*deadly} - {one.key for one in dead})
    wrong["a sound message is dead"] = len({one.key for one in dead} - {*deadly})
    wrong["a dead letter doesn't say why"] = sum(not one.errors for one in dead)
    wrong["a message was acked twice"] = sum(often > 1 for often in acked.values())
    wrong["a sound message wasn't done"] = len({*sound} - {*acked})
    wrong["what was counted isn't what happened"] = abs(stats.acked_total - len(sound))
    wrong["a message killed too seldom or too often"] = abs(died - DELIVERIES * len(deadly))
    harness.close()
    return Outcome(died, len(calls), died, len(batch), said(wrong))


def steps(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Callers that publish what they staged and finish groups are killed: no snapshot shows a half of it."""
    harness, wrong, snapshots = open_harness(url), Counter[str](), 0
    queue = harness.connect()
    queue.define("members", max_attempts=None)
    stop = threading.Event()

    def look(session: Session) -> int:
        count = 0
        while not stop.is_set():
            for found in half_done(session):
                wrong[found] += 1
            count += 1
            time.sleep(0.01)
        return count

    with ThreadPoolExecutor(1) as threads:
        looking = threads.submit(look, harness.connect())
        callers = Crew(url, folder, seed, worker.stage_and_group)
        faults = callers.run_until(lambda: True, Crew.kill_one, pause=0.1, least=size.faults)
        stop.set()
        snapshots = looking.result()
    deadline = time.monotonic() + 60
    while queue.peek("members", 1) and time.monotonic() < deadline:
        queue.ack_many([one.receipt for one in queue.reserve("members", None, 1000, timeout_seconds=60)])
        time.sleep(0.05)
    queue.reap()
    for found in half_done(queue):
        wrong[found] += 1
    begun = {one.key for one in queue.peek("next", 10_000)}
    ended = {one.name for one in queue.groups() if one.state == "done"}
    whole = {one.name for one in queue.groups() if one.members == worker.MEMBERS}
    wrong["a group whose members are done hasn't gone on"] = len(whole - begun)
    wrong["a group went on, and isn't finished, or the other way round"] = len(begun ^ ended)
    unanswered = sum(call.answer is None for call in read(sorted(folder.glob("worker*.jsonl"))))
    harness.close()
    return Outcome(faults, snapshots, unanswered, len(begun), said(wrong))


def half_done(session: Session) -> list[str]:
    """Return what a snapshot shows of a stage in part, or of a group that went on too early."""
    seen: dict[str, dict[str, int]] = {"staged": {}, "members": {}, "next": {}}
    for what, name, number in session.execute(STEPS):
        seen[what][name] = number
    return [
        *("a stage was there in part" for number in seen["staged"].values() if number != worker.STAGED),
        *("a group went on before its members were done" for name in seen["next"] if name in seen["members"]),
    ]


def soak(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """A mixed load goes on: the tables and the memory of the processes stay as large as they were."""
    harness = open_harness(url)
    session = harness.connect()
    if is_mysql(url):
        with contextlib.suppress(Exception):  # MariaDB always asks anew
            session.execute("set information_schema_stats_expiry = 0")
    tables, memory = list[int](), list[int]()

    def look(struck: Crew) -> int:
        [(bytes_,)] = session.execute(SIZES["mysql" if is_mysql(url) else "postgresql"])
        tables.append(int(bytes_))
        memory.append(struck.memory())
        return 1

    found = crew.run(
        url,
        folder,
        look,
        messages=size.messages,
        seed=seed,
        least=size.faults,
        pause=0.5,
        rate=250,
        meets=False,
    )
    harness.close()
    for what, sizes, room in (("the tables", tables, 32), ("the processes", memory, 64)):
        third = len(sizes) // 3
        middle, last = max(sizes[third : 2 * third]), max(sizes[2 * third :])
        if last > 1.25 * middle + room * MEGABYTE:
            found.violations.append(f"{what} grew from {middle // MEGABYTE} to {last // MEGABYTE} MB")
    return Outcome(found.faults, found.calls, found.unanswered, found.pushed, found.violations)
