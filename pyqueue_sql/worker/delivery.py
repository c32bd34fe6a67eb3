"""A message that a worker holds, its handler, and what that said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pyqueue_sql.models import Message
from pyqueue_sql.worker.failures import Failure
from pyqueue_sql.worker.handler import Handler


@dataclass(frozen=True, slots=True)
class Settlement:
    """A call that settles a delivery, without its receipt."""

    verb: Literal["ack", "nack", "move"]
    options: dict[str, Any]


ACK = Settlement("ack", {})
GIVE_BACK = Settlement("nack", {"count": False, "delay_seconds": 0})


@dataclass(eq=False, slots=True)
class Delivery:
    """A message that this worker holds."""

    message: Message
    handler: Handler
    receipt: str
    held_until: float
    """By this machine's monotonic clock, and rather too early than too late."""
    hold_seconds: float
    started: float = 0.0
    """When its handler began, by the same clock; 0: not yet."""
    seconds: float = 0.0
    """How long that took."""
    settlement: Settlement | None = None
    """What the handler said."""
    failure: Failure | None = None
    """Why it failed, for the log."""
    is_acked: bool = False
    """Whether its handler acknowledged it in a transaction."""
    is_given_up: bool = False
    """Whether it is given back, or lost, so that what its handler says doesn't count any more."""
