"""What is promised whatever breaks, how each promise is put to the test, and how often."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from tests.concurrency import crew, worker
from tests.concurrency.crew import Crew, Outcome
from tests.concurrency.history import Recorder, read
from tests.conformance.harness import open_harness
from tests.faults.alone import clock_jumps, hostile_input, receipts_once
from tests.faults.crews import no_connection_left, poison, soak, steps, storm
from tests.faults.full import disk_full
from tests.faults.jumps import server_clock_jumps
from tests.faults.memory import no_memory
from tests.faults.promise import Promise, Size
from tests.faults.proxy import FAULTS, proxy
from tests.faults.restarts import database_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.faults.restarts import Restartable

MOVED: Final = 300
"""Messages that go to and fro."""
MOVERS: Final = 3
"""Who never pause: more of them would keep those waiting who come in their place."""
COPIES: Final = ("first", "second", "third")
"""Kinds that get a copy of what is published."""
COUNTS: Final = "select p_kind, count(*), count(distinct p_key) from delayed_queue group by p_kind"


def keep(promise: Promise, server: Restartable, folder: Path, size: Size, seed: int) -> Outcome:
    """Put a promise to the test.

    Args:
        promise: which.
        server: a server that may be ended.
        folder: for the histories of all clients.
        size: how many faults and messages.
        seed: of all that is drawn.
    """
    url = database_of(server, "faults_" + promise.name.replace(" ", "_"))
    return promise.run(server, url, folder, size, seed)


def server_killed(server: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """The server is killed under load, and comes back."""

    def strike(struck: Crew) -> int:
        server.restart(crash=True, away=struck.chance.uniform(0, 1))
        return 1

    return crew.run(
        url,
        folder,
        strike,
        messages=size.messages,
        seed=seed,
        least=size.faults,
        pause=4.0,
        rate=4_000,
        most=200,
    )


def consumers_killed(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Consumers are killed."""
    return crew.run(
        url, folder, Crew.kill_one, messages=size.messages, seed=seed, least=size.faults, pause=0.3
    )


def consumers_stopped(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Consumers stand still until others have what they held, and then go on."""
    return crew.run(
        url,
        folder,
        Crew.stop_some,
        messages=size.messages,
        seed=seed,
        least=size.faults,
        pause=0.1,
        meets=False,  # each call has its answer, in the end
    )


def sessions_ended(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """The server ends sessions, some twenty a second."""
    harness = open_harness(url)
    try:
        return crew.run(
            url,
            folder,
            lambda _: int(harness.terminate_one_of(worker.NAME)),
            messages=size.messages,
            seed=seed,
            least=size.faults,
            pause=0.05,
        )
    finally:
        harness.close()


def answers_lost(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Between clients and server answers are lost, late or in pieces, and connections are cut."""
    with proxy(url) as between:
        return crew.run(
            url,
            folder,
            lambda struck: between.strike(struck.chance.choice(FAULTS), struck.chance),
            messages=size.messages,
            seed=seed,
            least=size.faults,
            pause=0.05,
            through=between.url,
        )


def all_or_nothing(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Callers that move and publish are killed; a reader of snapshots never sees a half of it."""
    harness, seen = open_harness(url), Counter[str]()
    queue = harness.connect()
    for kind in ("a", "b", "c"):
        queue.define(kind, max_attempts=None)
        queue.push_many(kind, [{"key": f"{kind}{n}", "payload": n} for n in range(MOVED // 3)])
    for kind in COPIES:
        queue.subscribe("news", kind)
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            rows = queue.execute(
                "select p_kind, count(*), count(distinct p_key) from delayed_queue group by p_kind"
            )
            counts = {kind: (many, keys) for kind, many, keys in rows}
            there = [sum(counts.get(kind, (0, 0))[place] for kind in ("a", "b", "c")) for place in (0, 1)]
            copies = {counts.get(kind, (0, 0))[0] for kind in COPIES}
            seen["snapshots"] += 1
            if there != [MOVED, MOVED] or len(copies) != 1:
                seen[f"{there} of {MOVED} messages that move, copies {sorted(copies)}"] += 1

    with ThreadPoolExecutor(1) as threads:
        looking = threads.submit(look)
        movers = Crew(url, folder, seed, worker.move_and_publish, workers=MOVERS)
        faults = movers.run_until(lambda: True, Crew.kill_one, pause=0.05, least=size.faults)
        stop.set()
        looking.result()
    harness.close()
    snapshots = seen.pop("snapshots")
    unanswered = sum(call.answer is None for call in read(sorted(folder.glob("worker*.jsonl"))))
    return Outcome(
        faults, snapshots, unanswered, MOVED, [f"{wrong}, {often} times" for wrong, often in seen.items()]
    )


def popped_once(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """Consumers that pop are killed: nothing comes twice; what is lost was in an answer that nobody got."""
    path = folder / "producer.jsonl"
    with ThreadPoolExecutor(1) as threads:
        pushed = threads.submit(crew.produce, url, path, size.messages, crew.RATE, False)
        poppers = Crew(url, folder, seed, worker.pop)
        faults = poppers.run_until(pushed.done, Crew.kill_one, pause=0.1, least=size.faults)
        created = pushed.result()
    pop_all(url, folder / "worker0.jsonl")
    calls = read(sorted(folder.glob("worker*.jsonl")))
    came = Counter(key for call in calls for key in call.answer or ())
    unanswered = sum(call.answer is None for call in calls)
    wrong = [f"{key} was popped {often} times" for key, often in came.items() if often > 1]
    if created - len(came) > worker.POPPED * unanswered:
        wrong.append(f"{created - len(came)} of {created} never came, with {unanswered} pops unanswered")
    return Outcome(faults, len(calls), unanswered, created, wrong)


def pop_all(url: str, path: Path) -> None:
    """Pop all that is left."""
    harness, recorder = open_harness(url), Recorder(path)
    queue = harness.connect()
    while queue.stats("in")[0].total:
        recorder.record("pop", lambda: queue.pop("in", 1000), worker.keys)
    harness.close()


SMALL: Final = Size(25, 3_000)
PROMISES: Final[Mapping[str, Promise]] = {
    one.name: one
    for one in (
        Promise(
            "server killed",
            "no acknowledged push or ack is lost",
            server_killed,
            Size(3, 3_000),
            Size(10, 100_000),
            Size(100, 1_000_000),
        ),
        Promise(
            "consumers killed",
            "what a dead consumer held comes back",
            consumers_killed,
            SMALL,
            Size(50, 4_000),
            Size(1_000, 200_000),
        ),
        Promise(
            "poison",
            "what kills its consumers ends dead",
            poison,
            Size(6, 100),
            Size(50, 1_000),
            Size(1_000, 20_000),
        ),
        Promise(
            "consumers stopped",
            "one holder at a time; who is late is told so",
            consumers_stopped,
            Size(12, 3_000),
            Size(200, 8_000),
            Size(5_000, 500_000),
            meets=False,
        ),
        Promise(
            "sessions ended",
            "the same where sessions end all the time",
            sessions_ended,
            SMALL,
            Size(500, 8_000),
            Size(10_000, 400_000),
        ),
        Promise(
            "storm",
            "the same behind PgBouncer, in transaction mode",
            storm,
            Size(10, 1_000),
            Size(500, 8_000),
            Size(10_000, 400_000),
            servers=("postgresql",),
        ),
        Promise(
            "no connection left",
            "the same where the server is full",
            no_connection_left,
            Size(1, 500),
            Size(5, 2_000),
            Size(50, 100_000),
            meets=False,
        ),
        Promise(
            "disk full",
            "the same where the disk is full, and freed",
            disk_full,
            Size(1, 500),
            Size(2, 2_000),
            Size(50, 100_000),
            meets=False,
        ),
        Promise(
            "no memory",
            "what there is no memory for leaves no trace",
            no_memory,
            Size(2),
            Size(10),
            Size(500),
            meets=False,
        ),
        Promise(
            "answers lost",
            "the same where answers are lost or late",
            answers_lost,
            SMALL,
            Size(500, 8_000),
            Size(10_000, 400_000),
        ),
        Promise(
            "all or nothing",
            "a move or publish is there as a whole, or not",
            all_or_nothing,
            Size(25),
            Size(1_000),
            Size(50_000),
        ),
        Promise(
            "steps",
            "a stage or a group's step is there as a whole",
            steps,
            Size(5),
            Size(60),
            Size(50_000),
        ),
        Promise(
            "popped once",
            "pop delivers once at the most",
            popped_once,
            SMALL,
            Size(50, 4_000),
            Size(1_000, 200_000),
        ),
        Promise(
            "receipts",
            "a receipt is never the same twice",
            receipts_once,
            Size(2_000),
            Size(10_000),
            Size(1_000_000),
            meets=False,
        ),
        Promise(
            "clock",
            "jumps of the clock, over summer time",
            clock_jumps,
            Size(40),
            Size(100),
            Size(5_000),
            meets=False,
        ),
        Promise(
            "server clock",
            "the same with the server's own clock, under load",
            server_clock_jumps,
            Size(6, 500),
            Size(20, 2_000),
            Size(500, 100_000),
            meets=False,
        ),
        Promise(
            "hostile input",
            "refused by a documented error, or kept exactly",
            hostile_input,
            Size(500),
            Size(10_000),
            Size(100_000),
            meets=False,
        ),
        Promise(
            "soak",
            "tables and memory stay as they are",
            soak,
            Size(10, 1_000),
            Size(600, 75_000),
            Size(10_000, 7_000_000),
            meets=False,
            beside=True,
        ),
    )
}
ELSEWHERE: Final = (
    (
        "no deadlock reaches a caller",
        "tests/concurrency/test_deadlocks.py tests/concurrency/test_overlapping.py",
    ),
    ("limits, lines and semaphores are exact", "tests/concurrency tests/model"),
    ("Spark: a replay has all of it, once", "tests/faults/test_spark_rounds.py"),
    (
        "failover: what was acknowledged is there",
        "tests/faults/test_outage.py tests/faults/test_replica.py tests/faults/test_galera.py",
    ),
    ("a backup is a queue that goes on", "tests/clients/test_pages.py -k backup"),
    (
        "upgrade: under load, killed in the middle",
        "tests/schema/test_upgrade.py tests/schema/mysql/test_reload.py",
    ),
)
"""Promises that tests put to the test, and which."""
