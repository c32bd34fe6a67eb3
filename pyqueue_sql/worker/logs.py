"""What a worker logs: fields beside a short text, and never a payload."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from pyqueue_sql.worker.link import log

if TYPE_CHECKING:
    from pyqueue_sql.worker.delivery import Delivery
    from pyqueue_sql.worker.failures import Failure

_OURS = ("worker", "kinds", "held", "kind", "key", "attempt", "outcome", "seconds", "link", "gone", "freed",
         "acked", "retry", "given_back", "dead", "moved", "duplicate", "lost", "refused", "child", "status",
         "upkeep", "port", "error", "where")  # fmt: skip
"""The fields that a record may have."""


def settled(ends: Iterable[tuple[Delivery, str]], is_debugging: bool) -> None:
    """Log what became of messages: what went well for those who debug only.

    Args:
        ends: the deliveries, and their outcomes.
        is_debugging: whether that is wanted.
    """
    for delivery, outcome in ends:
        failure = delivery.failure
        if outcome in ("lost", "refused"):
            text, level = f"{outcome}: somebody else has the message, or it ended", logging.WARNING
        elif failure is not None:
            text, level = f"failed: {failure.text}", logging.WARNING
        elif is_debugging:
            text, level = outcome, logging.DEBUG
        else:
            continue
        message = delivery.message
        _log(level, text, failure, {
            "kind": message.kind, "key": message.key, "attempt": message.attempts, "outcome": outcome,
            "seconds": round(delivery.seconds, 6),
        })  # fmt: skip


def _log(level: int, text: str, failure: Failure | None, extra: dict[str, Any]) -> None:
    """Log it with the traceback that the failure has, from which the password is gone."""
    if not log.isEnabledFor(level):
        return
    if failure is None or failure.error is None or not failure.traceback:
        log.log(level, "%s", text, extra=extra)
        return
    extra |= {"error": failure.name, "where": failure.where}
    raised = (type(failure.error), failure.error, failure.error.__traceback__)
    record = log.makeRecord(log.name, level, __file__, 0, "%s", (text,), raised, "settled", extra)
    record.exc_text = failure.traceback  # formatters take it as it is
    log.handle(record)


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of ours that a record has."""
    return {name: record.__dict__[name] for name in _OURS if name in record.__dict__}


class JsonFormatter(logging.Formatter):
    """A line of JSON a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return it."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": record.getMessage(),
            **fields(record),
        }
        if record.exc_info:
            line["exception"] = record.exc_text or self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """A line of text a record, with its fields at the end."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 -- logging's name
        """Return what comes before a traceback; drivers say things in several lines, and so may keys be."""
        rest = "".join(f" {name}={value}" for name, value in fields(record).items())
        lines = f"{super().formatMessage(record)}{rest}".splitlines()
        return " ".join(filter(None, map(str.strip, lines)))


def configure(form: Literal["text", "json"], level: str) -> None:
    """Log to standard error.

    Args:
        form: how a line looks.
        level: from which level on, by its name.
    """
    handler = logging.StreamHandler(sys.stderr)
    plain = TextFormatter("%(asctime)s %(levelname)s %(process)d %(message)s")
    handler.setFormatter(JsonFormatter() if form == "json" else plain)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
