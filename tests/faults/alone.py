"""Promises that one client can put to the test: by the clock, and by what it hands over."""

from __future__ import annotations

import json
import random
import re
import string
import time
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import asyncpg  # pyright: ignore[reportMissingTypeStubs]
import pymysql

from pyqueue_sql.calls.connect import connect, is_mysql
from pyqueue_sql.testing.clock_mysql import replace_clock
from tests.concurrency.crew import Outcome
from tests.conformance import hostile
from tests.conformance.harness import open_harness
from tests.faults.promise import Size
from tests.faults.restarts import Restartable
from tests.faults.ways import ToldError, Way, ways
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.harness import Clock, Harness, Session

BATCH: Final = 100
PATIENCE_SECONDS: Final = 30.0
DAY: Final = 86_400
ZONE: Final = "Europe/Berlin"
DOCUMENTED: Final = set(
    re.findall(
        r"(?m)^\| `(\w+)`", (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
    )
)
"""The codes of docs/sql.md: the queue's own, and those of the servers for what no routine gets to see."""

RETRIED: Final = {"40001", "40P01", "1213", "1205", "1020"}
"""What docs/sql.md says of transactions that wait for one another."""


@contextmanager
def clocked(url: str) -> Iterator[tuple[Harness, Clock]]:
    """Give a harness of a database, and its time, which stands still."""
    if is_mysql(url):
        with connect(url) as connection:
            assert isinstance(connection, pymysql.Connection)
            replace_clock(connection, urlsplit(url).path[1:])
    harness = open_harness(url)
    try:
        yield harness, harness.clock()
    finally:
        harness.close()


def receipts_once(_: Restartable, url: str, __: Path, size: Size, seed: int) -> Outcome:
    """In one tick, in one transaction, with the clock set back: no receipt twice, none counts late."""
    chance, wrong, calls = chance_of(seed), Counter[str](), 0
    seen: set[str] = set()
    with clocked(url) as (harness, clock):
        queue, patient = harness.connect(), harness.connect(autocommit=False)
        queue.define("k", max_attempts=None)
        keys = [{"key": f"{number}", "payload": number} for number in range(BATCH)]
        queue.push_many("k", keys)
        while len(seen) < size.faults:
            how = chance.choice(("one tick", "one transaction", "the clock set back"))
            if how == "the clock set back":
                clock.advance(-chance.uniform(0.000001, DAY))
                queue.purge("k")
                queue.push_many("k", keys)
            session = patient if how == "one transaction" else queue
            past: list[str] = []
            for _again in range(3):
                held = all_of(session)
                twice = len(seen.intersection(held)) + len(held) - len(set(held))
                wrong[f"{how}: a receipt came twice"] += twice
                wrong[f"{how}: {len(held)} of {BATCH} were there"] += len(held) != BATCH
                seen.update(held)
                past += chance.sample(held, 3)
                session.nack_many(held, count=False)
                late = [one.outcome for one in session.ack_many(past)]
                wrong[f"{how}: a receipt that was given back still counts"] += len(late) - late.count("lost")
                calls += 3
            if how == "one transaction":
                chance.choice((patient.commit, patient.rollback))()
    return Outcome(len(seen), calls, 0, len(seen), said(wrong))


def all_of(session: Session) -> list[str]:
    """Reserve the whole batch; what is older than a session expects it finds within a second or so."""
    held: list[str] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(held) < BATCH and time.monotonic() < deadline:
        held += [one.receipt for one in session.reserve("k", None, BATCH)]
    return held


def clock_jumps(_: Restartable, url: str, __: Path, size: Size, seed: int) -> Outcome:
    """The clock jumps on and back, over both changes of summer time: nothing comes early, twice or never."""
    chance, wrong, calls, jumps = chance_of(seed), Counter[str](), 0, 0
    done = Counter[str]()
    with clocked(url) as (harness, clock):
        harness.learn_zone(ZONE)
        queue = harness.connect()
        queue.define("k", max_attempts=None, timeout_seconds=DAY)
        queue.define("daily", max_attempts=None)
        begun = clock.now
        queue.schedule("nightly", "daily", None, daily_at="02:30", time_zone=ZONE, catch_up="all")
        due: dict[str, int] = {}
        last = begun
        while jumps < size.faults or last < begun + 400 * DAY * 1_000_000:
            jumps += 1
            back = chance.random() < 0.3
            clock.advance(-chance.uniform(1, 3 * DAY) if back else chance.uniform(1, 20 * DAY))
            last = max(last, clock.now)
            key, delay = f"{jumps}", chance.choice((0, 1, 3600, 30 * DAY))
            due[key] = clock.now + delay * 1_000_000
            queue.push("k", key, jumps, delay_seconds=delay)
            while queue.tick():
                calls += 1
            for one in queue.reserve("k", None, 10):
                wrong[f"{one.key} came early"] += due[one.key] > clock.now
                if chance.random() < 0.5:
                    done[one.key] += queue.ack(one.receipt).outcome == "acked"
                else:
                    due[one.key] = clock.now + DAY * 1_000_000  # for so long nobody else may have it
                calls += 2
        clock.set(last + 100 * DAY * 1_000_000)
        while held := queue.reserve("k", None, 1000):
            done.update(one.key for one in held)
            queue.ack_many([one.receipt for one in held])
        while queue.tick():
            calls += 1
        nights = [one.key for one in queue.pop("daily", 10_000)]
        now = clock.now
    wrong["a message was done twice"] = sum(often > 1 for often in done.values())
    wrong["a message never came"] = len(due) - len(done)
    days = Counter(night_of(key) for key in nights)
    first, end = (datetime.fromtimestamp(us / 1_000_000, ZoneInfo(ZONE)).date() for us in (begun, now))
    wrong["a night has two ticks"] = sum(often > 1 for often in days.values())
    # the first day and the last may have begun or ended without theirs
    wrong["a night has no tick"] = max(0, (end - first).days - 1 - len(days))
    return Outcome(jumps, calls, 0, len(due), said(wrong))


def night_of(key: str) -> object:
    """Return the day of a tick, of which the key has the time in UTC."""
    at = datetime.strptime(key.partition("@")[2], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return at.astimezone(ZoneInfo(ZONE)).date()


def hostile_input(_: Restartable, url: str, __: Path, size: Size, seed: int) -> Outcome:
    """Whatever is handed over is refused by an error that is documented, or comes back as it was."""
    harness = open_harness(url)
    with ways(url, ROUTINES) as (others, missing):
        fuzz = Fuzz(chance_of(seed), harness, others)
        while fuzz.calls < size.faults:
            fuzz.step()
    harness.close()
    notes = [f"through {name}: {often}" for name, often in sorted(fuzz.through.items())] + missing
    return Outcome(fuzz.calls, fuzz.calls, 0, fuzz.kept, said(fuzz.wrong), notes=notes)


ROUTINES: Final = {
    "queue_push": ("text", "text", "jsonb", "jsonb"),
    "queue_push_many": ("text", "jsonb", "jsonb"),
    "queue_reserve": ("text", "text", "integer", "jsonb"),
    "queue_pop": ("text", "integer", "jsonb"),
    "queue_peek": ("text", "integer", "jsonb"),
    "queue_define": ("text", "jsonb"),
    "queue_ack": ("text", "jsonb"),
    "queue_ack_many": ("jsonb", "jsonb"),
    "queue_nack": ("text", "jsonb"),
    "queue_move": ("text", "text", "jsonb"),
    "queue_extend": ("text", "double precision"),
    "queue_publish": ("text", "text", "jsonb", "jsonb"),
    "queue_group": ("text", "text", "jsonb", "jsonb"),
    "queue_schedule": ("text", "text", "jsonb", "jsonb"),
    "queue_subscribe": ("text", "text"),
    "queue_get": ("text", "text"),
    "queue_remove": ("text", "text"),
}
"""What is called with hostile values, and of which types its parameters are."""
BINARY: Final = re.compile("22P03|08P01|XX000: unsupported jsonb version number")
"""What PostgreSQL says of a Buffer of Node.js where a parameter is no bytea, see docs/sql.md."""
REPLACE: Final = '{"on_duplicate": "replace"}'
OPTIONS: Final = [
    "delay_seconds",
    "scheduled_at",
    "priority",
    "headers",
    "attempts",
    "max_attempts",
    "on_duplicate",
    "route",
    "group",
    "order_key",
    "semaphores",
    "timeout_seconds",
    "where",
    "result",
    "to",
    "payload",
    "error",
    "final",
    "count",
    "key",
    "dedup_seconds",
    "payload_shape",
    "max_reserved",
    "rate_per_second",
    "filter_index",
    "log_seconds",
    "roles",
    "every_seconds",
    "cron",
    "daily_at",
    "time_zone",
    "members",
    "then_kind",
    "nonsense",
]


class Fuzz:
    """Calls with values that are drawn.

    Args:
        chance: draws them.
        harness: of the database.
        others: ways to call a routine beside the driver of the harness.
    """

    def __init__(self, chance: random.Random, harness: Harness, others: list[Way]) -> None:
        self.calls, self.kept = 0, 0
        self.wrong, self.through = Counter[str](), Counter[str]()
        self._chance, self._harness = chance, harness
        session = harness.connect()
        own = type(session.connection).__module__.partition(".")[0]
        self._raw: dict[str, Callable[..., object]] = {own: session.raw}
        self._raw |= {one.name: one.call for one in others}
        self._others: list[Way | None] = [None, *others]
        self._own = own
        self._queue: Session = harness.connect()
        self._queue.push("r", "a", 1)
        [held] = self._queue.reserve("r", None, 1, timeout_seconds=3600)
        self._receipts = [one for one in hostile.receipts(held.receipt) if isinstance(one, str)]

    def step(self) -> None:
        """Call something, and see that it is refused as it should be, or done as it was asked for."""
        self.calls += 1
        if self._chance.random() < 0.3:
            self._kept()
            return
        routine = self._chance.choice(list(ROUTINES))
        values = [self._value(routine, kind) for kind in ROUTINES[routine]]
        name = self._chance.choice(list(self._raw))
        self.through[name] += 1
        try:
            self._raw[name](routine, *values)
        except UnicodeEncodeError:
            pass  # a driver can't send it at all
        except Exception as error:
            cause = self._harness.cause(error)[0]
            cause = getattr(error, "sqlstate", None) or cause
            ours = cause in DOCUMENTED or isinstance(error, asyncpg.DataError)
            binary = any(isinstance(one, bytes) for one in values) and BINARY.match(f"{error}")
            if not ours and not binary:
                self.wrong[f"{name}: {routine}{values!r:.200}: {type(error).__name__} {error!s:.200}"] += 1

    def _kept(self) -> None:
        kind, key = self._text(95), self._text(200)
        payload, raw = self._json(4), self._chance.randbytes(self._chance.randrange(40))
        way = self._chance.choice(self._others)
        self.through[way.name if way else self._own] += 1
        if way is not None:
            self._kept_by(way, kind, key, payload, raw)
            return
        try:
            if self._chance.random() < 0.5:
                done = self._queue.push(kind, key, payload, on_duplicate="replace")
                found = self._queue.get(kind, key)
                same = found is not None and (found.kind, found.key, found.payload) == (kind, key, payload)
            else:
                done = self._queue.push_bytes(kind, key, raw, on_duplicate="replace")
                found = self._queue.get(kind, key)
                same = found is not None and (found.kind, found.key, found.payload_bytes) == (kind, key, raw)
        except Exception as error:
            if self._harness.cause(error)[0] not in DOCUMENTED and not hasattr(type(error), "errno"):
                self.wrong[f"push {kind!r:.60} {key!r:.60}: {type(error).__name__} {error!s:.200}"] += 1
            return
        if done.outcome not in ("created", "replaced"):
            return  # somebody holds it, or it is remembered
        self.kept += 1
        if not same:
            self.wrong[f"{kind!r:.60} {key!r:.60} {payload!r:.100} came back as {found!r:.200}"] += 1

    def _kept_by(self, way: Way, kind: str, key: str, payload: Any, raw: bytes) -> None:
        text = json.dumps(payload, ensure_ascii=self._chance.random() < 0.5)
        try:
            (kind + key + text).encode()
        except UnicodeEncodeError:
            return  # other languages have something else in its place
        binary = way.bytes_ and self._chance.random() < 0.5
        try:
            if binary:
                [done] = way.call("queue_push_bytes", kind, key, raw, REPLACE)
            else:
                [done] = way.call("queue_push", kind, key, text, REPLACE)
            if done["outcome"] not in ("created", "replaced"):
                return
            [found] = way.call("queue_get", kind, key)
        except (ToldError, asyncpg.PostgresError) as error:
            if getattr(error, "sqlstate", None) not in DOCUMENTED:
                self.wrong[f"{way.name}: push {kind!r:.60} {key!r:.60}: {error!s:.200}"] += 1
            return
        self.kept += 1
        same = found["payload_bytes"] == raw if binary else json.loads(found["payload"]) == payload
        if (found["p_kind"], found["p_key"], same) != (kind, key, True):
            self.wrong[f"{way.name}: {kind!r:.60} {key!r:.60} {text!r:.100} came back as {found!r:.200}"] += 1

    def _text(self, most: int) -> str:
        fixed = [one for one in hostile.TEXTS if one is not hostile.LONG]
        if self._chance.random() < 0.3:
            return self._chance.choice(fixed)
        letters = self._chance.choice(
            (string.printable, "é😀ßK\u202e\u200b\ufeff'\"\\%_;-{}$", "\x00\x01\x7fab")
        )
        return "".join(self._chance.choices(letters, k=self._chance.randrange(most + 3)))

    def _json(self, depth: int) -> Any:
        what = self._chance.randrange(7 if depth else 5)
        if what < 2:
            return self._chance.choice((None, True, False, 0, -1, 2**53 - 1, 0.5, -1e-7, 1e20))
        if what < 5:
            return self._text(20)
        if what == 5:
            return [self._json(depth - 1) for _ in range(self._chance.randrange(4))]
        return {self._text(8): self._json(depth - 1) for _ in range(self._chance.randrange(4))}

    def _value(self, routine: str, kind: str) -> str | bytes | None:
        if self._chance.random() < 0.05:
            return None
        if self._chance.random() < 0.03:
            return self._chance.randbytes(self._chance.randrange(1, 20))
        if kind == "text":
            if routine.startswith(("queue_ack", "queue_nack", "queue_move", "queue_extend")):
                return self._chance.choice(self._receipts)
            return self._text(110)
        if kind in ("integer", "double precision"):
            return str(self._chance.choice(hostile.NUMBERS))
        if self._chance.random() < 0.5:
            value: Any = {
                self._chance.choice(OPTIONS): self._chance.choice(
                    (
                        self._json(2),
                        *self._chance.sample([*hostile.NUMBERS, *hostile.TIMES, *hostile.FLAGS], 3),
                    )
                )
                for _ in range(self._chance.randrange(1, 4))
            }
        else:
            value = self._json(4)
        text = json.dumps(value, default=str, ensure_ascii=self._chance.random() < 0.5)
        if self._chance.random() < 0.2 and text:
            at = self._chance.randrange(len(text))
            text = (
                text[:at]
                + self._chance.choice(("", "{", '"', "\\", "\\ud800", "1e999", "\\u0000"))
                + text[at + 1 :]
            )
        return text


def undocumented(codes: Counter[str], *beside: str) -> Counter[str]:
    """Return what is wrong with the codes by which calls were refused.

    Args:
        codes: the codes, and how often each came.
        beside: what may come, too.
    """
    known = DOCUMENTED | RETRIED | {*beside}
    return Counter({f"{code}, which is not documented": codes[code] for code in {*codes} - known})


def said(wrong: Counter[str]) -> list[str]:
    """Return what was wrong, and how often."""
    return [f"{what}, {often} times" for what, often in wrong.items() if often]
