"""The event log with many writers and readers at once: every reader sees every event once, in one order."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.concurrency.test_races import together
from tests.concurrency.waiting import PATIENCE_S, waiting
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Harness, Session

READERS = 20
WRITERS = 5
PUSHES = 20
LONG = 600
"""Seconds after which nothing comes any more."""


def read_on(queue: Session, reader: str, name: str = "log", most: int = 7) -> list[tuple[int, str]]:
    """Read on, and be done with it."""
    events = queue.read(name, reader, most)
    if events:
        queue.read_ack(reader, events[-1].position)
    return [(event.position, event.key) for event in events]


def write(queue: Session, writer: int, kept: dict[str, str], lock: threading.Lock) -> None:
    """Push in transactions that stay open for a while; a third is undone, some of them in part."""
    chance = chance_of(writer)
    for n in range(PUSHES):
        keys = {
            f"{writer} {n} {one}": "log" if chance.random() < 0.8 else "other"
            for one in range(chance.choice([1, 1, 3]))
        }
        for key, kind in keys.items():
            queue.push(kind, key, n)
            time.sleep(chance.random() * 0.004)
        if chance.random() < 0.3:
            queue.rollback()
        else:
            queue.commit()
            with lock:
                kept |= keys


def follow(
    queue: Session, reader: str, name: str, seen: list[tuple[int, str]], ended: Callable[[], int | None]
) -> None:
    """Read until there is as much as was written, or for long."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        last = ended()
        events = read_on(queue, reader, name)
        seen += events
        if not queue.autocommit:
            queue.commit()
        if not events:
            if last is not None and len(seen) >= last:
                return
            time.sleep(0.01)


@pytest.mark.long
@pytest.mark.core("postgresql")
@pytest.mark.parametrize("name", ["log", "#"])
def test_each_of_20_readers_sees_every_event_once_and_all_in_one_order(
    queue: Session, connect: Connect, name: str
) -> None:
    for kind in ("log", "other"):
        queue.define(kind, log_seconds=3600)
    kept: dict[str, str] = {}
    lock = threading.Lock()
    writers = [connect(autocommit=False) for _ in range(WRITERS)]
    written = threading.Event()
    seen: list[list[tuple[int, str]]] = [[] for _ in range(READERS)]

    def ended() -> int | None:
        return number if written.is_set() else None

    number = 0
    sessions = [connect(autocommit=n % 5 != 0) for n in range(READERS)]
    readers = [
        threading.Thread(target=follow, args=(session, f"r{n}", name, seen[n], ended))
        for n, session in enumerate(sessions)
    ]
    for thread in readers:
        thread.start()
    together([lambda n=n, writer=writer: write(writer, n, kept, lock) for n, writer in enumerate(writers)])
    of_name = {key for key, kind in kept.items() if name in (kind, "#")}
    number = len(of_name)
    written.set()
    while any(thread.is_alive() for thread in readers):
        queue.prune()  # which says to those who read in transactions what is safe
        time.sleep(0.05)
    for one in seen:
        assert one == sorted(set(one)), "in order, each once"
        assert [key for _, key in one] == [key for _, key in seen[0]]
        assert {key for _, key in one} == of_name


def test_two_transactions_that_are_held_open_in_turn_are_never_jumped_over(
    queue: Session, connect: Connect
) -> None:
    queue.define("log", log_seconds=3600)
    held = [connect(autocommit=False) for _ in range(2)]
    seen: list[tuple[int, str]] = []
    held[0].push("log", "open 0", 0)
    for turn in range(1, 20):
        # never a moment in which none is open
        held[turn % 2].push("log", f"open {turn}", 0)
        queue.push("log", f"committed {turn}", 0)
        seen += read_on(queue, "r")
        committed = held[(turn - 1) % 2]
        if turn % 5:
            committed.commit()
        else:
            committed.rollback()
        seen += read_on(queue, "r")
        assert f"open {turn}" not in [key for _, key in seen]
        assert f"committed {turn}" not in [key for _, key in seen], "it stands behind one that is open"
    held[1].commit()
    while events := read_on(queue, "r"):
        seen += events
    assert seen == sorted(set(seen))
    everything = [(event.position, event.key) for event in queue.read("log", "all", 10_000)]
    assert seen == everything
    undone = {f"open {turn - 1}" for turn in range(5, 20, 5)}
    assert {key for _, key in seen} == {f"committed {turn}" for turn in range(1, 20)} | {
        f"open {turn}" for turn in range(20)
    } - undone


def test_progress_needs_no_moment_without_an_open_transaction(queue: Session, connect: Connect) -> None:
    queue.define("log", log_seconds=3600)
    held = [connect(autocommit=False) for _ in range(2)]
    held[0].push("log", "open 0", 0)
    for turn in range(1, 8):
        held[turn % 2].push("log", f"open {turn}", 0)
        read_on(queue, "r", most=100)
        held[(turn - 1) % 2].commit()
    assert len(queue.read("log", "again", 100)) >= 4, (
        "one open transaction keeps back what it began before, no more"
    )
    held[1].commit()


def test_an_old_snapshot_can_append_to_the_log_though_readers_have_gone_on(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.define("log", log_seconds=3600)
    for level in harness.snapshot_levels:
        old = harness.connect(autocommit=False, isolation=level)
        for turn in range(2):
            queue.push("log", f"{level} {turn}", 0)
            slow = connect(autocommit=False)
            slow.push("log", f"{level} open {turn}", 0)
            read_on(queue, "r", most=100)
            if turn == 0:
                assert old.get("log", "none") is None
            slow.commit()
        read_on(queue, "r", most=100)
        old.push("log", f"{level} old", 0)
        old.commit()
        assert [key for _, key in read_on(queue, "r", most=100)] == [f"{level} old"]


def test_who_is_killed_with_an_open_transaction_holds_nobody_back(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.define("log", log_seconds=3600)
    slow = connect(autocommit=False)
    slow.push("log", "lost", 0)
    queue.push("log", "kept", 0)
    assert read_on(queue, "r") == []
    harness.terminate(slow)
    until = time.monotonic() + LONG
    seen: list[tuple[int, str]] = []
    while not seen and time.monotonic() < until:
        seen = read_on(queue, "r")
    assert [key for _, key in seen] == ["kept"]


def test_another_transaction_that_stays_open_holds_no_reader_back(queue: Session, connect: Connect) -> None:
    queue.define("log", log_seconds=3600)
    other = connect(autocommit=False)
    other.push("no log", "a", 0)
    queue.push("log", "b", 0)
    assert [key for _, key in read_on(queue, "r")] == ["b"]
    other.commit()


def test_part_of_a_transaction_that_was_undone_comes_never(queue: Session, connect: Connect) -> None:
    queue.define("log", log_seconds=3600)
    other = connect(autocommit=False)
    other.execute("savepoint part")
    other.push("log", "undone", 0)
    other.execute("rollback to savepoint part")
    other.push("log", "done", 0)
    queue.push("log", "behind", 0)
    assert read_on(queue, "r") == []
    other.commit()
    assert [key for _, key in read_on(queue, "r")] == ["done", "behind"]


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_a_reader_whose_transactions_keep_a_snapshot_goes_on_behind_a_gap(
    queue: Session, harness: Harness, isolation: str
) -> None:
    """What was undone may leave one between the positions, and looks there like what isn't committed yet."""
    queue.define("log", log_seconds=3600)
    other = harness.connect(autocommit=False)
    for key in "abc":
        queue.push("log", key, 0)
        other.push("log", "undone", 0)
        other.rollback()
    reader = harness.connect(autocommit=False, isolation=isolation)
    seen: list[str] = []
    for _ in range(6):
        queue.prune()  # notes on MariaDB and MySQL what is safe to go past
        seen += [key for _, key in read_on(reader, "r")]
        reader.commit()
    assert seen == ["a", "b", "c"]


def test_a_read_that_waits_has_not_seen_what_another_asks_for_meanwhile(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.define("k", log_seconds=3600)
    assert queue.read("k", "r", events=["dead"]) == []
    queue.push_many("k", [{"key": f"{number}", "payload": 0} for number in range(1100)])
    other = connect(autocommit=False)
    assert [event.key for event in other.read("k", "r", events=["pushed"])] == ["0"]
    with waiting(harness, connect(), lambda session: session.read("k", "r")) as read:
        other.commit()
        assert read.result(PATIENCE_S) == []
    assert [event.key for event in queue.read("k", "r")] == ["0"]
