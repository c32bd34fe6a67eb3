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
    from pyqueue_sql.worker.board import Delivery

_OURS = ("worker", "kinds", "held", "kind", "key", "attempt", "outcome", "seconds", "link", "gone", "freed",
         "acked", "retry", "dead", "moved", "duplicate", "lost", "refused", "child", "status")  # fmt: skip
"""The fields that a record may have."""


def settled(ends: Iterable[tuple[Delivery, str]], is_debugging: bool) -> None:
    """Log what became of messages: what went well for those who debug only.

    Args:
        ends: the deliveries, and their outcomes.
        is_debugging: whether that is wanted.
    """
    for delivery, outcome in ends:
        if outcome in ("lost", "refused"):
            text, level = f"{outcome}: somebody else has the message, or it ended", logging.WARNING
        elif delivery.error is not None:
            text, level = f"failed: {type(delivery.error).__name__}", logging.WARNING
        elif is_debugging:
            text, level = outcome, logging.DEBUG
        else:
            continue
        message = delivery.message
        log.log(level, "%s", text, extra={
            "kind": message.kind, "key": message.key, "attempt": message.attempts, "outcome": outcome,
            "seconds": round(delivery.seconds, 6),
        })  # fmt: skip


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
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """A line of text a record, with its fields at the end."""

    def format(self, record: logging.LogRecord) -> str:
        """Return it."""
        rest = "".join(f" {name}={value}" for name, value in fields(record).items())
        first, *lines = super().format(record).split("\n")
        return "\n".join([first + rest, *lines])


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
