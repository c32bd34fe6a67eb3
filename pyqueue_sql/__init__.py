"""A delayed message queue inside the database: this is its thin Python client."""

from pyqueue_sql.aio import AsyncQueue
from pyqueue_sql.client import Queue
from pyqueue_sql.errors import (
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    MigrationError,
    QueueError,
    Refused,
)
from pyqueue_sql.models import (
    Ended,
    Heartbeat,
    Kind,
    Listening,
    Message,
    Outcome,
    Pushed,
    Reaped,
    Redriven,
    Schedule,
    Scheduled,
    Stats,
    Subscription,
    WorkerState,
    to_datetime,
    to_microseconds,
)
from pyqueue_sql.options import UNSET

__all__ = [
    "UNSET",
    "AsyncQueue",
    "Ended",
    "Heartbeat",
    "InvalidOption",
    "InvalidParameter",
    "InvalidPayload",
    "InvalidReceipt",
    "Kind",
    "Listening",
    "Message",
    "MigrationError",
    "Outcome",
    "Pushed",
    "Queue",
    "QueueError",
    "Reaped",
    "Redriven",
    "Refused",
    "Schedule",
    "Scheduled",
    "Stats",
    "Subscription",
    "WorkerState",
    "to_datetime",
    "to_microseconds",
]
