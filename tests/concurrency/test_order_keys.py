"""Order keys with many sessions at once: never two of one order key, in order, and nobody is left waiting."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from tests.concurrency.overlapping import committed
from tests.concurrency.test_races import together
from tests.concurrency.waiting import waiting
from tests.conformance.steps import keys, outcomes, receipts
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Harness, Session

T = TypeVar("T")

CONSUMERS = 4
LINES = 12
EACH = 15
DEADLINE = 300


def retried(harness: Harness, call: Callable[[], Any]) -> Any:
    """Make a call again as long as the server can't serialize it."""
    while True:
        try:
            return call()
        except Exception as error:
            if not harness.is_serialization_failure(error):
                raise


def empty(queue: Session, kind: str = "work") -> list[str]:
    """Take out everything that ever gets ready; whoever is left waiting stays."""
    found: list[str] = []
    while some := queue.pop(kind, 100):
        found += keys(some)
    assert [(one.key, one.state) for one in queue.peek(kind, 100)] == []
    return found


@pytest.mark.servers("mariadb", "mysql")
@pytest.mark.parametrize("history_seconds", [0, 60])
def test_acks_of_a_batch_lock_its_lines_in_their_order(
    harness: Harness, queue: Session, connect: Connect, history_seconds: int
) -> None:
    """PostgreSQL has no rows of lines: it locks their first messages, in the order of the entries."""
    queue.define("work", history_seconds=history_seconds)
    for key, line in (("first", "z"), ("second", "a")):
        queue.push("work", key, 0, order_key=line)
    held = receipts(queue.reserve("work", None, 2))
    pusher, consumer = connect(autocommit=False), connect()
    pusher.push("work", "behind the second", 0, order_key="a")
    with waiting(harness, consumer, lambda session: session.ack_many(held)) as acked:
        pusher.push("work", "behind the first", 0, order_key="z")
        pusher.commit()
        assert outcomes(acked.result()) == ["acked", "acked"]
    assert empty(queue) == ["behind the second", "behind the first"]


def test_a_batch_takes_its_lines_in_their_order(harness: Harness, queue: Session, connect: Connect) -> None:
    batch = [{"key": key, "payload": 0, "order_key": line} for key, line in (("1", "z"), ("2", "a"))]
    pusher, other = connect(autocommit=False), connect()
    pusher.push("work", "first of a", 0, order_key="a")
    with waiting(harness, other, lambda session: session.push_many("work", batch)) as pushed:
        pusher.push("work", "first of z", 0, order_key="z")
        pusher.commit()
        assert outcomes(pushed.result()) == ["created", "created"]
    assert set(empty(queue)[:2]) == {"first of a", "first of z"}


@pytest.mark.servers("mariadb", "mysql")
def test_what_waits_is_removed_while_another_has_its_line(queue: Session, connect: Connect) -> None:
    """PostgreSQL has no rows of lines."""
    for key in "abc":
        queue.push("work", key, 0, order_key="line")
    pusher = connect(autocommit=False)
    pusher.push("work", "d", 0, order_key="line")
    impatient = connect()
    impatient.execute("set session innodb_lock_wait_timeout = 1")
    assert impatient.remove("work", "b")
    pusher.commit()
    assert empty(queue) == ["a", "c", "d"]


def test_a_push_and_the_ack_of_the_last_one_leave_nobody_waiting(queue: Session, connect: Connect) -> None:
    pusher, consumer = connect(), connect()
    outcomes = set()
    for round_ in range(40):
        queue.push("work", f"a{round_}", 0, order_key="o")
        (receipt,) = receipts(queue.reserve("work"))
        together(
            [
                lambda: pusher.push("work", f"b{round_}", 0, order_key="o"),  # noqa: B023
                lambda: consumer.ack(receipt),  # noqa: B023
            ]
        )
        (found,) = queue.peek("work", 10)
        outcomes.add(found.state)
        assert empty(queue) == [f"b{round_}"]
    assert outcomes == {"ready"}


@pytest.mark.parametrize("batches", [False, True])
def test_pushes_of_one_order_key_at_the_same_moment_stand_in_one_line(
    queue: Session, connect: Connect, batches: bool
) -> None:
    sessions = [connect() for _ in range(CONSUMERS)]

    def push(number: int, round_: int) -> None:
        if not batches:
            sessions[number].push("work", f"{round_}-{number}", 0, order_key=f"{round_}")
            return
        lines = [f"{round_}-{line}" for line in range(5)]
        chance_of(number).shuffle(lines)
        found = sessions[number].push_many(
            "work", [{"key": f"{line}-{number}", "payload": 0, "order_key": line} for line in lines]
        )
        assert {one.outcome for one in found} == {"created"}

    for round_ in range(15):
        together([lambda number=number: push(number, round_) for number in range(CONSUMERS)])  # noqa: B023
        lines = 5 if batches else 1
        states = [one.state for one in queue.peek("work", 100)]
        assert (states.count("ready"), states.count("waiting")) == (lines, lines * (CONSUMERS - 1))
        assert len(empty(queue)) == lines * CONSUMERS


@pytest.mark.parametrize("many", [False, True], ids=["ack", "ack_many"])
@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_an_old_snapshot_leaves_nobody_waiting(
    queue: Session, harness: Harness, isolation: str, many: bool
) -> None:
    if isolation not in harness.snapshot_levels:
        pytest.skip("nothing is read without a lock there, so who comes waits")
    for round_ in range(4):
        other = harness.connect(autocommit=False, isolation=isolation)
        queue.push("work", "a", 0, order_key="o")
        if round_ == 3:
            queue.push("work", "z", 0, order_key="o")
        (receipt,) = receipts(queue.reserve("work"))
        other.peek("work")  # the snapshot
        if round_ in {0, 3}:  # who ends the first doesn't see who comes next
            if round_ == 3:
                queue.remove("work", "z")
            queue.push("work", "b", 0, order_key="o")
            left = ["b"]
            call = lambda: other.ack_many([receipt]) if many else other.ack(receipt)  # noqa: E731, B023
        elif round_ == 1:  # who comes doesn't see that the first has ended
            queue.ack(receipt)
            left = ["b"]
            call = lambda: other.push("work", "b", 0, order_key="o")  # noqa: E731, B023
        else:  # who comes doesn't see that there is a first one
            queue.ack(receipt)
            queue.push("work", "c", 0, order_key="o")
            left = ["c", "b"]
            call = lambda: other.push("work", "b", 0, order_key="o")  # noqa: E731, B023

        def whole(call: Callable[[], Any] = call, other: Session = other) -> None:
            try:
                call()
                other.commit()
            except Exception:
                other.rollback()
                raise

        retried(harness, whole)
        assert empty(queue) == left
        other.close()


def test_who_ends_what_is_first_since_its_snapshot_has_the_next_be_first(
    queue: Session, harness: Harness
) -> None:
    for level in harness.snapshot_levels:
        kind = f"work {level}"
        for key in "abc":
            queue.push(kind, key, 0, order_key="o")
        other = harness.connect(autocommit=False, isolation=level)
        other.peek(kind)  # the snapshot
        assert keys(queue.pop(kind)) == ["a"]
        committed(harness, other, lambda one, kind=kind: one.remove(kind, "b"))
        assert [(one.key, one.state) for one in queue.peek(kind, 9)] == [("c", "ready")]


def test_who_comes_stands_behind_what_has_come_after_its_snapshot(queue: Session, harness: Harness) -> None:
    for level in harness.snapshot_levels:
        kind = f"work {level}"
        other = harness.connect(autocommit=False, isolation=level)
        other.peek(kind)  # the snapshot
        queue.push(kind, "a", 0, order_key="o")
        committed(harness, other, lambda one, kind=kind: one.push(kind, "b", 0, order_key="o"))
        assert [(one.key, one.state) for one in queue.peek(kind, 9)] == [("a", "ready"), ("b", "waiting")]


@pytest.mark.long
@pytest.mark.core("mariadb")
def test_transactions_that_end_and_push_several_lines_leave_nobody_waiting(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    names = [f"o{line}" for line in range(4)]
    sessions = [connect(autocommit=False) for _ in range(3)]
    for name in names:
        queue.push("work", None, 0, order_key=name)
    pushed = [len(names)]
    ended = []

    def go(number: int) -> None:
        chance = chance_of(number)
        session = sessions[number]
        for _ in range(8):  # a deadlock is found after a second

            def whole() -> tuple[int, int]:
                try:
                    held = receipts(session.reserve("work", None, 2))
                    for receipt in held:
                        session.ack(receipt)
                    wanted = sorted(chance.sample(names, 2))
                    for name in wanted:
                        session.push("work", None, 0, order_key=name)
                    session.commit()
                    return len(held), len(wanted)
                except Exception:
                    session.rollback()
                    raise

            gone, new = until_no_deadlock(harness, whole)
            ended.append(gone)
            pushed.append(new)

    together([lambda number=number: go(number) for number in range(3)])
    assert len(empty(queue)) == sum(pushed) - sum(ended)


def until_no_deadlock(harness: Harness, call: Callable[[], Any]) -> Any:
    """Make a transaction again after a deadlock: the order of its calls is the caller's."""
    while True:
        try:
            return call()
        except Exception as error:
            if not (harness.is_serialization_failure(error) or "deadlock" in str(error).lower()):
                raise


def test_calls_of_all_sorts_on_the_same_lines_do_not_deadlock(queue: Session, connect: Connect) -> None:
    names = [f"o{line}" for line in range(6)]
    sessions = [connect() for _ in range(5)]
    done: list[int] = []
    deadlocks: list[str] = []

    def go(number: int) -> None:
        chance = chance_of(number)
        session = sessions[number]

        def made(call: Callable[..., T], *values: Any, **options: Any) -> T:
            while True:
                try:
                    return call(*values, **options)
                except Exception as error:
                    if "deadlock" not in str(error).lower():
                        raise
                    deadlocks.append(str(error))

        def reserve(kind: str) -> list[str]:
            return receipts(made(session.reserve, kind, None, 4))

        for step in range(40):
            lines = chance.sample(names, 4)
            choice = chance.randrange(7)
            if choice < 2:
                batch = [
                    {"key": f"{line}-{chance.randrange(6)}", "payload": 0, "order_key": line}
                    for line in lines
                ]
                made(session.push_many, "work", batch)
            elif choice == 2:
                batch = [{"key": f"{line}-{step % 6}", "payload": 1} for line in lines]
                made(session.push_many, "work", batch, on_duplicate="replace")
            elif choice == 3:
                made(session.ack_many, reserve("work"))
            elif choice == 4:
                made(session.pop, "work", 3)
            elif choice == 5:
                for kind, to in (("work", "other"), ("other", "work")):
                    moves = [{"receipt": one, "to_kind": to} for one in reserve(kind)]
                    made(session.move_many, moves)
            else:
                made(session.nack_many, reserve("work"), final=chance.random() < 0.5)
                made(session.redrive, "work.dead")
                made(session.remove, "work", f"{lines[0]}-{step % 6}")
        done.append(number)

    together([lambda number=number: go(number) for number in range(5)])
    assert len(done) == 5
    # SKIP LOCKED itself waits now and then, see docs/adr/0008-order.md: one in 200 runs
    assert len(deadlocks) <= 1, deadlocks
    for kind in ("work", "other"):
        empty(queue, kind)


@pytest.mark.servers("postgresql")  # on InnoDB one of the two is told of the deadlock
def test_a_batch_of_moves_stands_in_empty_lines_in_their_order(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    # keys and entries in one order, lines in the other
    for key, line in (("a", "o2"), ("b", "o1")):
        queue.push("from", key, 0, order_key=line)
    moves = [{"receipt": one, "to_kind": "work"} for one in receipts(queue.reserve("from", None, 2))]
    mover, pusher = connect(), connect(autocommit=False)
    pusher.push("work", "first of o1", 0, order_key="o1")
    with ThreadPoolExecutor() as threads:
        moving = threads.submit(mover.move_many, moves)
        while not (moving.done() or harness.waits(mover)):
            time.sleep(0.01)
        pusher.push("work", "first of o2", 0, order_key="o2")
        pusher.commit()
        assert {one.outcome for one in moving.result()} == {"moved"}
    assert set(empty(queue)[:2]) == {"first of o1", "first of o2"}


def test_a_history_of_retries_and_kills_has_each_line_one_at_a_time_and_in_order(
    queue: Session, connect: Connect, harness: Harness
) -> None:
    queue.define("work", timeout_seconds=600)
    total = LINES * EACH
    guard = threading.Lock()
    now: dict[str, str] = {}
    began: dict[str, list[int]] = defaultdict(list)
    ended: dict[str, list[int]] = defaultdict(list)
    wrong: list[str] = []
    done = threading.Event()
    deadline = time.monotonic() + DEADLINE

    def produce() -> None:
        session = connect()
        chance = chance_of(-1)
        left = {f"o{line}": list(range(EACH)) for line in range(LINES)}
        while left:
            some = chance.sample(sorted(left), min(len(left), chance.choice([1, 1, 4])))
            batch = [
                {"key": f"{name}/{left[name].pop(0)}", "payload": name, "order_key": name} for name in some
            ]
            if len(batch) == 1:
                session.push("work", batch[0]["key"], batch[0]["payload"], order_key=some[0])
            else:
                session.push_many("work", batch)
            left = {name: numbers for name, numbers in left.items() if numbers}

    def begins(worker: int, key: str) -> None:
        name, number = key.split("/")
        with guard:
            if name in now:
                wrong.append(f"{worker} has {key} while {now[name]} is held")
            if began[name] and int(number) not in {began[name][-1], began[name][-1] + 1}:
                wrong.append(f"{key} after {began[name][-1]}")
            now[name] = key
            began[name].append(int(number))

    def consume(worker: int) -> None:
        chance = chance_of(worker)
        session = connect()
        while not done.is_set() and time.monotonic() < deadline:
            held = session.reserve("work", f"w{worker}", chance.choice([1, 1, 5]))
            for one in held:
                begins(worker, one.key)
            for one in held:
                assert one.receipt
                name, number = one.key.split("/")
                with guard:
                    del now[name]
                if chance.random() < 0.25:
                    assert session.nack(one.receipt).outcome == "retry"
                    continue
                with guard:
                    ended[name].append(int(number))
                    finished = sum(map(len, ended.values())) == total
                if chance.random() < 0.5:
                    assert session.ack(one.receipt).outcome == "acked"
                else:
                    assert session.ack_many([one.receipt])[0].outcome == "acked"
                if finished:
                    done.set()

    def disturb() -> None:
        """Reserve and ack in transactions that are killed before they commit."""
        while not done.is_set() and time.monotonic() < deadline:
            victim = harness.connect(autocommit=False, name="victim")
            try:
                for receipt in receipts(victim.reserve("work", "victim", 3)):
                    victim.ack(receipt)
                victim.push("work", None, 0, order_key="o0")
                harness.terminate_one_of("victim")
                victim.rollback()
            except Exception as error:
                if not (harness.is_lost(error) or harness.is_serialization_failure(error)):
                    raise
            done.wait(0.05)

    together([produce, disturb, *(lambda number=number: consume(number) for number in range(CONSUMERS))])
    assert wrong == []
    assert dict(ended) == {f"o{line}": list(range(EACH)) for line in range(LINES)}
    empty(queue)
