"""What can go wrong in a call, one class a cause.

The database tells causes apart by SQLSTATE, the same in every dialect. What isn't ours (a lost connection, a
serialization failure, a missing privilege) stays the driver's own exception.
"""

# ruff: noqa: N818 -- named after what happened
from __future__ import annotations

from typing import ClassVar


class QueueError(Exception):
    """The queue refused something; nothing changed.

    In a transaction of several statements PostgreSQL wants a rollback after it, as after any error.
    """

    sqlstate: ClassVar[str] = ""
    """Five characters, one code a cause; `__cause__` has what the server said in full."""


class InvalidParameter(QueueError):
    """A parameter is missing, too long or out of its range: a kind, a key, a number of messages."""

    sqlstate = "PQ001"


class InvalidOption(QueueError):
    """An option is unknown, of the wrong type or out of its range."""

    sqlstate = "PQ002"


class InvalidPayload(QueueError):
    """A payload, its headers or another JSON text can't be stored."""

    sqlstate = "PQ003"


class Refused(QueueError):
    """Sound, but not in this state: dropping a kind with held messages, a cycle of dead-letter kinds."""

    sqlstate = "PQ004"


class InvalidReceipt(QueueError):
    """That is no receipt. (One that names nothing any more is the outcome `lost`, not an error.)"""

    sqlstate = "PQ005"


class MigrationError(QueueError):
    """The schema can't be installed or changed here."""


_BY_SQLSTATE: dict[str, type[QueueError]] = {
    **{
        cause.sqlstate: cause
        for cause in (InvalidParameter, InvalidOption, InvalidPayload, Refused, InvalidReceipt)
    },
    # raised by the server while it reads an argument, before the routine has it
    "22003": InvalidParameter,  # a number that is too large
    "22021": InvalidParameter,  # bytes that are no text
    "22P02": InvalidParameter,  # no number at all; the client's JSON is always JSON
    "2201W": InvalidParameter,  # less than no rows
    "22P05": InvalidPayload,  # \u0000, or a character that this database can't hold
    "54000": InvalidPayload,  # JSON that is too large
    "54001": InvalidPayload,  # JSON that is too deep
}


def from_sqlstate(sqlstate: str | None, message: str) -> QueueError | None:
    """Return the exception for an SQLSTATE, or None where the cause isn't the queue's.

    Args:
        sqlstate: five characters as the server sent them, or None.
        message: what the server said.
    """
    cause = _BY_SQLSTATE.get(sqlstate or "")
    return None if cause is None else cause(message)
