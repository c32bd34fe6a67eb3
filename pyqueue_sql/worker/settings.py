"""What a worker was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """What a worker was asked for; see `WorkerOptions`."""

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
