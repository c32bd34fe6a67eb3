"""What a worker was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict


class WorkerOptions(TypedDict, total=False):
    """Options of `Worker` and `AsyncWorker`."""

    schema: str | None
    """Where the queue is, None: as the server has it. On MariaDB and MySQL a database."""
    concurrency: int
    """How many handlers run at once in a process: so many functions, and so many coroutines; 1 unless
    given."""
    poll_seconds: float
    """How often to look without being told that something has come; 15 unless given."""
    notify: bool
    """Be told. False: the poll is all there is. Behind a pooler that shares sessions that is so in any case:
    a worker finds out, says so, and looks every second."""
    grace_seconds: float
    """How long handlers may go on after `stop`; 30 unless given."""
    heartbeat_seconds: float
    """How long the worker may be silent before others free what it holds; 30 unless given. On a direct
    connection to PostgreSQL its session tells at once."""
    name: str | None
    """What it is called in the database, with a random end: one that is started again is another. None: the
    host and the number of the process."""
    drain: bool
    """End when nothing is ready any more."""
    max_messages: int | None
    """End after so many."""
    upkeep: bool
    """False: leave ticking schedules, pruning, and freeing what the dead held to others."""
    health: str | None
    """Where to answer a health check, HOST:PORT or PORT; for one process. None: nowhere."""


@dataclass(frozen=True)
class Settings:
    """What a worker was asked for, with what wasn't given filled in."""

    url: str = field(repr=False)
    name: str
    schema: str | None = None
    concurrency: int = 1
    poll_seconds: float = 15.0
    notify: bool = True
    grace_seconds: float = 30.0
    heartbeat_seconds: float = 30.0
    drain: bool = False
    max_messages: int | None = None
    upkeep: bool = True
    health: str | None = None
