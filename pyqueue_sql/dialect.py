"""What differs between the dialects: the text of a call, its parameters, its rows, and what errors mean.

The only module with the SQL of calls. On PostgreSQL a routine is a function to select from, and the driver
knows every type. On MariaDB and MySQL it is a procedure to be called with all of its parameters, and JSON,
truth and time come back as text, integers and naive datetimes.
"""

from __future__ import annotations

import base64
import functools
import json
import math
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

import psycopg

from pyqueue_sql.call import Call, Column, Relation, Routine, Row
from pyqueue_sql.errors import InvalidParameter, QueueError, from_errno, from_sqlstate

Shape: TypeAlias = Routine | Relation

_CASTS = {"integer": "::integer", "bigint": "::bigint", "numeric": "::numeric"}
_FLOATS = {"number": "::float8"}
_BITS = {"integer": 31, "bigint": 63}
_ROWS = 2**64 - 1
"""As many as MySQL can be asked for: there no limit has no other name."""


@functools.cache
def postgresql_text(what: Shape) -> str:
    """Return the statement for psycopg."""
    names = ", ".join(
        "null" if column.type == "absent" else column.name + _FLOATS.get(column.type, "")
        for column in what.columns
    )
    if isinstance(what, Relation):
        return _select(names, what, "%s::bigint")
    arguments = ", ".join("%s" + _CASTS.get(one, "") for one in what.arguments)
    return f"select {'*' if what.scalar else names} from {what.name}({arguments})"


@functools.cache
def mysql_text(what: Shape) -> str:
    """Return the statement for PyMySQL and aiomysql."""
    if isinstance(what, Relation):
        return _select(", ".join(column.name for column in what.columns), what, "%s")
    # not as the drivers quote bytes: that depends on their settings and on the sql_mode
    given = ["from_base64(%s)" if one == "bytes" else "%s" for one in what.arguments]
    given += ["null"] * what.defaults
    return f"call {what.name}({', '.join(given)})"


def _select(names: str, what: Relation, rows: str) -> str:
    text = f"select {names} from {what.name}"
    if what.where:
        text += " where " + " and ".join(f"{name} = %s" for name in what.where)
    if what.order:
        text += f" order by {what.order}"
    return f"{text} limit {rows}" if what.limit else text


def mysql_params(call: Call[Any]) -> tuple[object, ...]:
    """Return the parameters for PyMySQL and aiomysql.

    Numbers are checked here, because the server fits an argument to its parameter in the caller's sql_mode,
    in which the nearest number may do.

    Raises:
        InvalidParameter: it is no number, or beyond its type.
        UnicodeEncodeError: text with a lone surrogate.
    """
    what = call.what
    if isinstance(what, Routine):
        return tuple(map(_argument, what.arguments, call.params))
    *rest, last = call.params or (None,)
    if not what.limit:
        return tuple(_argument("text", one) for one in call.params)
    last = _ROWS if last is None else _number("bigint", last)
    if last < 0:
        raise InvalidParameter(f"number of rows {last}: at least 0")
    return (*(_argument("text", one) for one in rest), last)


def _argument(type_: str, value: Any) -> object:
    if value is None:
        return None
    if type_ == "bytes":
        return base64.b64encode(value).decode("ascii")
    if type_ in ("integer", "bigint", "numeric"):
        return _number(type_, value)
    if isinstance(value, str) and not value.isascii():
        value.encode()
    return value


def _number(type_: str, value: Any) -> Any:
    if not isinstance(value, int) and not (isinstance(value, float | Decimal) and math.isfinite(value)):
        raise InvalidParameter(f'number "{str(value)[:40]}": a finite number is wanted')
    if type_ in _BITS and not -(2 ** _BITS[type_]) <= value < 2 ** _BITS[type_]:
        raise InvalidParameter(f"number {str(value)[:40]}: out of the range of {type_}")
    return value


def _to_aware(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC)


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "json": json.loads,
    "number": float,
    "count": int,
    "boolean": bool,
    "timestamp": _to_aware,
}


def mysql_rows(what: Shape, description: Sequence[Sequence[Any]], rows: Sequence[Row]) -> list[Row]:
    """Return rows as PostgreSQL's driver gives them.

    Args:
        what: what was called.
        description: of the cursor, the name of a column first.
        rows: the cursor's.

    Raises:
        LookupError: a column is missing.
    """
    convert = _converter(what.columns, tuple(column[0] for column in description))
    return [convert(row) for row in rows]


@functools.cache
def _converter(columns: tuple[Column, ...], names: tuple[str, ...]) -> Callable[[Row], Row]:
    missing = [one.name for one in columns if one.type != "absent" and one.name not in names]
    if missing:
        raise LookupError(
            f"the answer has no column {', '.join(missing)}: is the queue there as new as this?"
        )
    order = [-1 if one.type == "absent" else names.index(one.name) for one in columns]
    conversions = [
        (place, _CONVERSIONS[one.type]) for place, one in enumerate(columns) if one.type in _CONVERSIONS
    ]

    def convert(row: Row) -> Row:
        row = (*row, None)
        values = [row[place] for place in order]
        for place, conversion in conversions:
            if values[place] is not None:
                values[place] = conversion(values[place])
        return tuple(values)

    return convert


class Failure(NamedTuple):
    """What an error of a driver means."""

    message: str
    """What the server said, or the driver."""
    refusal: QueueError | None = None
    """The queue's error that it stands for."""
    missing: bool = False
    """Whether there is no such routine, table or schema."""
    lost: bool = False
    """Whether the connection is gone."""
    victim: bool = False
    """Whether the server undid the call in favour of another, so that it can be made again."""


_MISSING_SQLSTATES = {"42883", "42P01", "3F000"}
_MISSING = {1049, 1146, 1305}
_ENDED = {1053, 1077, 1078, 1079, 1927, 3169, 4031}
"""The server goes down, or somebody ended the connection."""
# 1153 is a packet that was too large, after which the server ends it; 0 is PyMySQL's for one that is closed
_LOST = {0, 1153, *range(1158, 1162), 1184, 2006, 2013, 2014, 2055, *_ENDED}
_VICTIM = {1205, 1213}
SERVER_STATUS_IN_TRANS = 1


def cause(error: BaseException) -> BaseException:
    """Return what the driver raised: the exception in SQLAlchemy's, or itself."""
    return getattr(error, "orig", None) or error


def failure(error: BaseException) -> Failure | None:
    """Return what an exception means, or None where it is no driver's.

    Args:
        error: the driver's, or SQLAlchemy's around it.
    """
    error = cause(error)
    if isinstance(error, psycopg.Error):
        return _postgresql_failure(error)
    pymysql = sys.modules.get("pymysql.err")  # aiomysql's errors are these too
    if pymysql is not None and isinstance(error, pymysql.Error):
        return _mysql_failure(error)
    return None


def _postgresql_failure(error: psycopg.Error) -> Failure:
    message = error.diag.message_primary or str(error).strip()
    refusal = from_sqlstate(error.sqlstate, message)
    if refusal is None and isinstance(error, psycopg.DataError) and error.sqlstate is None:
        refusal = InvalidParameter(str(error))
    lost = isinstance(error, psycopg.OperationalError) and (error.sqlstate or "08")[:2] in ("08", "57")
    return Failure(message, refusal, missing=error.sqlstate in _MISSING_SQLSTATES, lost=lost)


def _mysql_failure(error: BaseException) -> Failure:
    number, message = error.args if len(error.args) == 2 else (None, str(error))
    return Failure(
        str(message) or type(error).__name__,
        from_errno(number, str(message)),
        missing=number in _MISSING,
        lost=number in _LOST,
        victim=number in _VICTIM,
    )


def mysql_is_in_transaction(connection: Any) -> bool:
    """Whether this connection of PyMySQL or aiomysql has a transaction open."""
    return bool((connection.server_status or 0) & SERVER_STATUS_IN_TRANS)


def mysql_is_own(connection: Any) -> bool:
    """Whether a call over this connection of PyMySQL or aiomysql would be a transaction of its own."""
    return connection.get_autocommit() and not mysql_is_in_transaction(connection)


def check_mysql(connection: Any) -> None:
    """Refuse a connection of PyMySQL or aiomysql that can't carry every character.

    Raises:
        TypeError: it is one. The server would replace what it can't carry by question marks, and say nothing.
    """
    if connection.charset != "utf8mb4":
        raise TypeError(f"a connection in utf8mb4 is wanted, charset=utf8mb4; not in {connection.charset}")
