"""What decorators say of kinds and schedules is brought to the database when a worker starts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.options import ScheduleOptions
from pyqueue_sql.errors import QueueError
from pyqueue_sql.worker.link import log

if TYPE_CHECKING:
    from pyqueue_sql.calls.client import Queue
    from pyqueue_sql.worker.handler import Handler


def declare(queue: Queue[Any], handlers: Iterable[Handler]) -> None:
    """Define kinds and schedules as their handlers say. What the login may not do is a warning in the log.

    A schedule that is there as it should be is left alone, so that a start doesn't move its next time.
    """
    for handler in handlers:
        try:
            if handler.settings:
                queue.define(handler.kind, **handler.settings)
            if handler.cron is not None:
                _schedule(queue, handler.kind, handler.cron, handler.time_zone)
        except Exception as error:
            said = dialect.failure(error)
            if not isinstance(error, QueueError) and (said is None or said.passes):
                raise
            log.warning(
                "%s is left as it is: %s", handler.kind, said.message if said else error,
                extra={"kind": handler.kind},
            )  # fmt: skip


def _schedule(queue: Queue[Any], kind: str, cron: str, time_zone: str | None) -> None:
    there = next((one for one in queue.schedules() if one.name == kind), None)
    wanted = {"cron": cron, "time_zone": time_zone or "UTC"}
    if there is not None and there.kind == kind and {"time_zone": "UTC", **there.rule} == wanted:
        return
    options: ScheduleOptions = {"cron": cron}
    if time_zone is not None:
        options["time_zone"] = time_zone
    if there is not None:  # only its times are for the task to say
        log.warning("schedule %s has other times now: %s", kind, cron, extra={"kind": kind})
        options.update(cast("ScheduleOptions", there.push_options))
        options.update({"catch_up": there.catch_up, "paused": there.paused, "until": there.until})
    queue.schedule(kind, kind, None, **options)
