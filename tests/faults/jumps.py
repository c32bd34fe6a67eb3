"""A server whose own clock jumps while processes work on the queue."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from pyqueue_sql.embedded import EmbeddedServerError
from tests.concurrency import crew
from tests.concurrency.crew import Crew, Outcome
from tests.conformance.harness import open_harness
from tests.faults.alone import DAY, ZONE, night_of, said, undocumented
from tests.faults.promise import Size
from tests.faults.restarts import Restartable, database_of, name_of, restartable
from tests.servers.faketime import ServerClock
from tests.servers.starting import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Session

SUNDAY: Final = 6
SLACK_SECONDS: Final = 0.05
TIMED_OUT: Final = "57014"
"""The time that our own sessions give a statement is over at once where the clock jumps on."""


def server_clock_jumps(_: Restartable, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    """The server's own clock jumps on and back and passes both changes of summer time, under load."""
    place = Path(tempfile.mkdtemp(prefix="pyqueue-clock-"))
    place.chmod(0o755)
    try:
        clock = ServerClock(place)
        try:
            with restartable(name_of(url), environment=clock.environment) as server:
                return _under(clock, database_of(server, "faults_server_clock"), folder, size, seed)
        except EmbeddedServerError as error:
            raise UnavailableError(f"PostgreSQL doesn't start with libfaketime: {error}") from None
    finally:
        shutil.rmtree(place)


class Jumps:
    """What is watched from jump to jump.

    Args:
        clock: the server's.
        session: on the database.
        url: of the database.
    """

    def __init__(self, clock: ServerClock, session: Session) -> None:
        self.begun = self.last = clock.now
        self.wrong = Counter[str]()
        self._clock, self._session = clock, session
        self._due: dict[str, float] = {}
        self._done = Counter[str]()
        self._changes = changes(clock.now)
        self._count = 0
        session.define("later", max_attempts=None)
        session.define("weekly", max_attempts=None)
        # summer time begins and ends on a Sunday, between two and three
        session.schedule("sundays", "weekly", None, cron="30 2 * * 0", time_zone=ZONE, catch_up="all")

    def strike(self, struck: Crew) -> int:
        """Jump, and look."""
        chance, clock, self._count = struck.chance, self._clock, self._count + 1
        how = chance.random()
        if self._count % 3 == 0:
            clock.set(clock.offset + next(self._changes) - 0.3 - clock.now)  # it passes while we look
        elif how < 0.4:
            clock.set(clock.offset - chance.uniform(1, 3 * DAY))
        else:
            clock.set(clock.offset + chance.uniform(1, 20 * DAY))
        delay = chance.choice((0, 1, 3600, 30 * DAY))
        key, asked = f"{self._count}", clock.now
        self._session.push("later", key, None, delay_seconds=delay)
        self._due[key] = asked + delay
        self.look()
        return 1

    def look(self) -> None:
        """Tick, and take what is due."""
        self._session.tick()  # of the times that have passed one at least; the others at the end
        held = self._session.reserve("later", None, 1000, timeout_seconds=3600)
        for one in held:
            self.wrong["a message came early"] += self._clock.now + SLACK_SECONDS < self._due[one.key]
        self._done.update(one.key for one in held)
        outcomes = {one.outcome for one in self._session.ack_many([one.receipt for one in held])}
        self.wrong["an ack was lost that nobody else could have"] += bool(outcomes - {"acked"})
        self.last = max(self.last, self._clock.now)

    def settle(self) -> None:
        """Go to where everything is due, and say what is missing."""
        self._clock.set(self._clock.offset + self.last + 100 * DAY - self._clock.now)
        while self._session.tick():
            pass
        self.look()
        self.wrong["a message was done twice"] = sum(often > 1 for often in self._done.values())
        self.wrong["a message never came"] = len(self._due) - len(self._done)
        days = Counter(night_of(one.key) for one in self._session.pop("weekly", 10_000))
        first, end = (datetime.fromtimestamp(at, ZoneInfo(ZONE)).date() for at in (self.begun, self.last))
        # the first day and the last may have begun or ended without theirs
        between = (first + timedelta(days=number) for number in range(1, (end - first).days))
        sundays = {day for day in between if day.weekday() == SUNDAY}
        self.wrong["a night has two ticks"] = sum(often > 1 for often in days.values())
        self.wrong["a night has no tick"] = len(sundays - {*days})
        self.wrong["a tick is of no Sunday"] = len({*days} - sundays - {first, end})


def _under(clock: ServerClock, url: str, folder: Path, size: Size, seed: int) -> Outcome:
    harness = open_harness(url)
    harness.learn_zone(ZONE)
    session = harness.connect()
    seen = told(session)
    if abs(seen - clock.now) > 60:
        raise UnavailableError("libfaketime doesn't reach this server")
    clock.set(DAY)
    if told(session) - seen < DAY - 60:
        raise UnavailableError("libfaketime doesn't reach this server")
    jumps = Jumps(clock, session)
    found = crew.run(
        url,
        folder,
        jumps.strike,
        messages=size.messages,
        seed=seed,
        least=size.faults,
        pause=0.5,
        meets=False,
        refusals=True,
        settle=jumps.settle,
        timed=False,
    )
    harness.close()
    wrong = jumps.wrong + undocumented(found.refused, TIMED_OUT)
    days = (jumps.last - jumps.begun) / DAY
    notes = [f"days passed by the server's clock: {days:.0f}"]
    return replace(found, violations=found.violations + said(wrong), notes=notes)


def told(session: Session) -> float:
    """Return the queue's time, in seconds since 1970."""
    at = session.push("told", None).scheduled_at
    session.purge("told")
    assert at is not None
    return at / 1_000_000


def changes(after: float) -> Iterator[float]:
    """Yield when summer time begins and ends, one after another."""
    zone, at = ZoneInfo(ZONE), int(after) // 900 * 900
    while True:
        before = datetime.fromtimestamp(at, UTC).astimezone(zone).utcoffset()
        at += 900
        if datetime.fromtimestamp(at, UTC).astimezone(zone).utcoffset() != before:
            yield at
