"""What can go wrong in a call, one class a cause.

The database tells causes apart by SQLSTATE, the same in every dialect; on MariaDB and MySQL by a number as
well, because drivers there hide the SQLSTATE. What isn't ours (a lost connection, a serialization failure, a
missing privilege) stays the driver's own exception.
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
    errno: ClassVar[int] = 0
    """The number of the same cause on MariaDB and MySQL."""


class InvalidParameter(QueueError):
    """A parameter is missing, too long or out of its range: a kind, a key, a number of messages."""

    sqlstate = "PQ001"
    errno = 31001


class InvalidOption(QueueError):
    """An option is unknown, of the wrong type or out of its range."""

    sqlstate = "PQ002"
    errno = 31002


class InvalidPayload(QueueError):
    """A payload, its headers or another JSON text can't be stored."""

    sqlstate = "PQ003"
    errno = 31003


class Refused(QueueError):
    """Sound, but not in this state: dropping a kind with held messages, a cycle of dead-letter kinds."""

    sqlstate = "PQ004"
    errno = 31004


class InvalidReceipt(QueueError):
    """That is no receipt. (One that names nothing any more is the outcome `lost`, not an error.)"""

    sqlstate = "PQ005"
    errno = 31005


class Lost(QueueError):
    """Receipts were lost, in a `next` with `lost="error"`. (Elsewhere that is an outcome, not an error.)"""

    sqlstate = "PQ006"
    errno = 31006


class Restricted(QueueError):
    """The kind is for other roles: see the option `roles` of `define`."""

    sqlstate = "PQ007"
    errno = 31007


class MigrationError(QueueError):
    """The schema can't be installed or changed here."""


_CAUSES = (InvalidParameter, InvalidOption, InvalidPayload, Refused, InvalidReceipt, Lost, Restricted)
_BY_SQLSTATE: dict[str, type[QueueError]] = {
    **{cause.sqlstate: cause for cause in _CAUSES},
    # raised by the server while it reads an argument, before the routine has it
    "22003": InvalidParameter,  # a number that is too large
    "22021": InvalidParameter,  # bytes that are no text
    "22P02": InvalidParameter,  # no number at all; the client's JSON is always JSON
    "2201W": InvalidParameter,  # less than no rows
    "22P05": InvalidPayload,  # \u0000, or a character that this database can't hold
    "54000": InvalidPayload,  # JSON that is too large
    "54001": InvalidPayload,  # JSON that is too deep
}
_BY_ERRNO: dict[object, type[QueueError]] = {
    **{cause.errno: cause for cause in _CAUSES},
    1264: InvalidParameter,  # a number that is too large
    1265: InvalidParameter,  # not of the type of the parameter, as are the next three
    1292: InvalidParameter,
    1366: InvalidParameter,
    1406: InvalidParameter,  # too long
    3140: InvalidPayload,  # no JSON, as is the next one
    3141: InvalidPayload,
    3157: InvalidPayload,  # JSON that is too deep
    4037: InvalidPayload,  # the same of MariaDB: no JSON, as is the next one
    4038: InvalidPayload,
    4040: InvalidPayload,  # too deep
}


def from_sqlstate(sqlstate: str | None, message: str) -> QueueError | None:
    """Return the exception for an SQLSTATE, or None where the cause isn't the queue's.

    Args:
        sqlstate: five characters as the server sent them, or None.
        message: what the server said.
    """
    cause = _BY_SQLSTATE.get(sqlstate or "")
    if cause is not None and cause.sqlstate != sqlstate and len(message) > 200:
        message = message[:199] + "…"  # the server repeats a number of a thousand digits
    return None if cause is None else cause(message)


def from_errno(errno: object, message: str) -> QueueError | None:
    """Return the exception for a number of MariaDB or MySQL, or None where the cause isn't the queue's.

    Args:
        errno: as the server sent it, or anything else.
        message: what the server said.
    """
    cause = _BY_ERRNO.get(errno)
    return None if cause is None else cause(message)
