"""A message that a worker holds, its handler, and what that said of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from pyqueue_sql.models import Message
from pyqueue_sql.worker.failures import Failure
from pyqueue_sql.worker.handler import Handler


@dataclass(frozen=True, slots=True)
class Settlement:
    """A call that settles a delivery, without its receipt.

    Raises:
        ValueError: its options can't be written.
    """

    verb: Literal["ack", "nack", "move"]
    options: dict[str, Any]
    group: str = field(init=False)
    """The same for all that one call can settle."""

    def __post_init__(self) -> None:
        # an ack and a nack are the same for all messages of a call; a move says all of each
        options = json.dumps(self.options, default=str) if self.verb != "move" and self.options else ""
        object.__setattr__(self, "group", self.verb + options)


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
