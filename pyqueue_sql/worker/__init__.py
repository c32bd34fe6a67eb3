"""Workers: handlers by kind, and what runs them. See docs/worker.md."""

from pyqueue_sql.worker.aio import AsyncWorker
from pyqueue_sql.worker.answers import Move, Reject, Retry, Snooze
from pyqueue_sql.worker.context import AsyncContext, Context, Lost
from pyqueue_sql.worker.handlers import Handlers
from pyqueue_sql.worker.settings import WorkerOptions
from pyqueue_sql.worker.task import Task
from pyqueue_sql.worker.worker import Worker

__all__ = [
    "AsyncContext",
    "AsyncWorker",
    "Context",
    "Handlers",
    "Lost",
    "Move",
    "Reject",
    "Retry",
    "Snooze",
    "Task",
    "Worker",
    "WorkerOptions",
]
