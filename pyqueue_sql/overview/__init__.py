"""What is going on in a queue, at a cost that doesn't grow with its messages.

The views `queue_stats` and `queue_workers` count every message. What looks again and again, at a queue of
any size, asks here: counts go up to `AT_MOST` for each kind, and say so where there are more.
"""

from pyqueue_sql.overview.look import AT_MOST, Look, open_look
from pyqueue_sql.overview.models import Blocker, Dead, KindLook, Line, Overview, Totals, WorkerLook

__all__ = [
    "AT_MOST",
    "Blocker",
    "Dead",
    "KindLook",
    "Line",
    "Look",
    "Overview",
    "Totals",
    "WorkerLook",
    "open_look",
]
