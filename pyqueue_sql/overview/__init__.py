"""What is going on in a queue, at a cost that doesn't grow with its messages.

The views `queue_stats` and `queue_workers` count every message. What looks again and again, at a queue of
any size, asks here: counts go up to `AT_MOST` for each kind, and say so where there are more.
"""

from pyqueue_sql.overview.actions import ACTIONS, Gone, act
from pyqueue_sql.overview.look import AT_MOST, Look, NotSeen, open_look
from pyqueue_sql.overview.models import (
    Blocker,
    Contents,
    Dead,
    GroupLook,
    KindLook,
    Line,
    Member,
    MessageLook,
    Overview,
    Past,
    Timing,
    Totals,
    WorkerLook,
)
from pyqueue_sql.overview.rates import Rates, ended

__all__ = [
    "ACTIONS",
    "AT_MOST",
    "Blocker",
    "Contents",
    "Dead",
    "Gone",
    "GroupLook",
    "KindLook",
    "Line",
    "Look",
    "Member",
    "MessageLook",
    "NotSeen",
    "Overview",
    "Past",
    "Rates",
    "Timing",
    "Totals",
    "WorkerLook",
    "act",
    "ended",
    "open_look",
]
