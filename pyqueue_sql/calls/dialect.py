"""What differs between the dialects: the text of a call, its parameters, its rows, and what errors mean.

The only module with the SQL of calls. On PostgreSQL a routine is a function to select from; on MariaDB and
MySQL it is a procedure to be called with all of its parameters. Drivers, and their users' settings, differ in
what they make of JSON, time and numbers; so JSON goes and comes as text, times come as integers where the
server can say them so, and what is made of them is made here, the same for every driver.
"""

from __future__ import annotations

import base64
import functools
import itertools
import json
import re
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias, cast

from pyqueue_sql.calls.call import Call, Column, Relation, Routine, Row
from pyqueue_sql.calls.options import NUL, has_nul, shown
from pyqueue_sql.errors import (
    InvalidOption,
    InvalidParameter,
    InvalidPayload,
    InvalidReceipt,
    QueueError,
    from_errno,
    from_sqlstate,
)
from pyqueue_sql.models import Message, to_datetime

Shape: TypeAlias = Routine | Relation

STYLES: Final = ("format", "pyformat", "qmark", "numeric_dollar")
"""How a driver's text may have its parameters, named as in PEP 249."""
_CASTS = {
    # not ::jsonb alone: a driver that asks for the type of a parameter would encode the text once more
    "json": "%s::text::jsonb",
    "integer": "%s::integer",
    "bigint": "%s::bigint",
    "numeric": "%s::float8",
}
_COLUMNS = {
    "absent": "null",
    "json": "{0}::text as {0}",
    "number": "{0}::float8 as {0}",
    "timestamp": "(extract(epoch from {0}) * 1000000)::bigint as {0}",
}
_COLUMNS_OF_MYSQL = {"timestamp": "timestampdiff(microsecond, '1970-01-01', {0}) as {0}"}
"""Of a view: a routine's are what it answers."""
MYSQL_PACKET: Final = "select @@max_allowed_packet"
_AROUND_A_STATEMENT = 2
"""Bytes of a packet."""
_REFUSED_JSON: dict[str, type[QueueError]] = {
    **dict.fromkeys(("filter", "options", "push_options", "rule"), InvalidOption),
    "kinds": InvalidParameter,
}
"""What else than `InvalidPayload` JSON that can't be stored is, by its parameter."""
_BITS = {"integer": 31, "bigint": 63}
_ROWS = 2**64 - 1
"""As many as MySQL can be asked for: there no limit has no other name."""


@functools.cache
def postgresql_text(what: Shape, style: str = "format") -> str:
    """Return the statement for a driver of PostgreSQL."""
    names = ", ".join(_COLUMNS.get(column.type, "{0}").format(column.name) for column in what.columns)
    if isinstance(what, Relation):
        return _styled(_select(names, what, "%s::bigint", '"'), style)
    arguments = ", ".join(_CASTS.get(one.type, "%s") for one in what.arguments)
    name = _named(what, '"')
    return _styled(f"select {'*' if what.scalar else names} from {name}({arguments})", style)


@functools.cache
def mysql_text(what: Shape, style: str = "format") -> str:
    """Return the statement for a driver of MariaDB and MySQL."""
    if isinstance(what, Relation):
        names = (_COLUMNS_OF_MYSQL.get(column.type, "{0}").format(column.name) for column in what.columns)
        return _styled(_select(", ".join(names), what, "%s", "`"), style)
    # not as the drivers quote bytes: that depends on their settings and on the sql_mode
    given = ["from_base64(%s)" if one.type == "bytes" else "%s" for one in what.arguments]
    given += ["null"] * what.defaults
    return _styled(f"call {_named(what, '`')}({', '.join(given)})", style)


def _named(what: Shape, quote: str) -> str:
    """Return the name, with its schema where it has one."""
    if what.schema is None:
        return what.name
    return f"{quote}{what.schema.replace(quote, 2 * quote).replace('%', '%%')}{quote}.{what.name}"


def _styled(text: str, style: str) -> str:
    numbers = itertools.count(1)
    if style == "qmark":
        return re.sub("%(.)", lambda found: "?" if found[1] == "s" else "%", text)
    if style == "numeric_dollar":
        return re.sub("%(.)", lambda found: f"${next(numbers)}" if found[1] == "s" else "%", text)
    return text


def _select(names: str, what: Relation, rows: str, quote: str) -> str:
    text = f"select {names} from {_named(what, quote)}"
    if what.where:
        text += " where " + " and ".join(f"{name} = %s" for name in what.where)
    if what.order:
        text += f" order by {what.order}"
    return f"{text} limit {rows}" if what.limit else text


def postgresql_params(call: Call[Any]) -> tuple[object, ...]:
    """Return the parameters for a driver of PostgreSQL.

    Raises:
        InvalidParameter: one is not of its type.
    """
    return tuple(_checked_of(call))


def mysql_params(call: Call[Any]) -> tuple[object, ...]:
    """Return the parameters for a driver of MariaDB and MySQL.

    Raises:
        InvalidParameter: one is not of its type.
    """
    given = _checked_of(call)
    if isinstance(call.what, Routine):
        return tuple(
            base64.b64encode(value).decode("ascii") if one.type == "bytes" and value is not None else value
            for one, value in zip(call.what.arguments, given, strict=True)
        )
    if call.what.limit and given[-1] is None:
        given[-1] = _ROWS
    return tuple(given)


@functools.cache
def _parameters(what: Shape) -> tuple[Column, ...]:
    if isinstance(what, Routine):
        return what.arguments
    where = tuple(Column(name.removeprefix("p_"), "text") for name in what.where)
    return (*where, Column("max_messages", "rows")) if what.limit else where


def _checked_of(call: Call[Any]) -> list[Any]:
    """Return the parameters of a call, each of its type.

    What isn't would be refused by some servers, fitted by others in the caller's sql_mode, and reported by
    each driver in words of its own.
    """
    what = call.what
    return [_checked(what, *one, value) for one, value in zip(_parameters(what), call.params, strict=True)]


def _checked(what: Shape, name: str, type_: str, value: Any) -> Any:
    if value is None:
        return value
    if type_ == "json":
        return _json(name, value)
    if type_ == "text":
        return _text(what, name, value)
    if type_ == "bytes":
        return _bytes(name, value)
    return _number(name, type_, value)


def _json(name: str, value: str) -> str:
    """Return JSON without the character NUL, of which PostgreSQL itself doesn't say where it stands."""
    if has_nul(value):
        text = value if len(value) <= 40 else f"{value[:40]}…"
        raise _REFUSED_JSON.get(name, InvalidPayload)(f'{name} "{text}": must not contain {NUL}')
    return value


def _bytes(name: str, value: object) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise InvalidParameter(f"{name} {shown(value)}: bytes are wanted")
    return bytes(cast("bytes", value))


def _text(what: Shape, name: str, value: Any) -> str:
    if not isinstance(value, str):
        error = InvalidReceipt if name == "receipt" else InvalidParameter
        raise error(f"{name} {shown(value)}: text is wanted{_hint(what, name, value)}")
    if "\0" in value:
        raise InvalidParameter(f"{name} {shown(value)}: text without the character NUL is wanted")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InvalidParameter(
                f"{name} {shown(value)}: no text for a database, {error.reason}"
            ) from error
    return value


def _hint(what: Shape, name: str, value: Any) -> str:
    if isinstance(value, Message):
        return ", such as its receipt" if name == "receipt" else ""
    if name == "key" and any(one.name.startswith("payload") for one in _parameters(what)):
        return ", or None for a key that is made; the payload comes after it, or as payload=…"
    if name == "worker" and isinstance(value, int):
        return "; how many messages is max_messages=…"
    return ""


def _number(name: str, type_: str, value: Any) -> Any:
    bits = _BITS.get("bigint" if type_ == "rows" else type_)
    if not (_is_whole(value) if bits else _is_finite(value)):
        raise InvalidParameter(f"{name} {shown(value)}: a {'whole' if bits else 'finite'} number is wanted")
    if bits and not (0 if type_ == "rows" else -(2**bits)) <= value < 2**bits:
        wanted = f"0 to {2**bits - 1}" if type_ == "rows" else f"{-(2**bits)} to {2**bits - 1}"
        raise InvalidParameter(f"{name} {shown(value)}: must be {wanted}")
    return value


def _is_whole(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool)
    return _is_finite(value) and value == int(value)


def _is_finite(value: Any) -> bool:
    """Whether it is a number that double precision holds."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    if isinstance(value, Decimal) and not value.is_finite():  # some NaN can't be compared
        return False
    return abs(value) <= sys.float_info.max


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "json": json.loads,
    "bytes": bytes,
    "number": float,
    "count": int,
    "boolean": bool,
    "timestamp": to_datetime,
}


def postgresql_rows(what: Shape, rows: Sequence[Sequence[Any]]) -> list[Row]:
    """Return rows with the values that the models have.

    Args:
        what: what was called.
        rows: the driver's.
    """
    conversions = _conversions(what.columns)

    def convert(row: Sequence[Any]) -> Row:
        values = list(row)
        for place, conversion in conversions:
            if values[place] is not None:
                values[place] = conversion(values[place])
        return tuple(values)

    return [convert(row) for row in rows]


@functools.cache
def _conversions(columns: tuple[Column, ...]) -> list[tuple[int, Callable[[Any], Any]]]:
    return [(place, _CONVERSIONS[one.type]) for place, one in enumerate(columns) if one.type in _CONVERSIONS]


def check_packet(statement: bytes, most: int) -> None:
    """Refuse a statement that is larger than a packet, on which the server hangs up.

    Args:
        statement: with its parameters.
        most: what the server answered to `MYSQL_PACKET`.

    Raises:
        InvalidPayload: it is too large.
    """
    size = len(statement)
    if size > most - _AROUND_A_STATEMENT:
        raise InvalidPayload(f"a statement of {size} bytes: max_allowed_packet of the server is {most}")


def mysql_rows(what: Shape, description: Sequence[Sequence[Any]], rows: Sequence[Row]) -> list[Row]:
    """Return rows with the values that the models have.

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
    conversions = _conversions(columns)

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
    denied: bool = False
    """Whether this login lacks a right."""
    lost: bool = False
    """Whether the connection is gone."""
    victim: bool = False
    """Whether the server undid the call in favour of another, so that it can be made again."""
    passes: bool = False
    """Whether the same call may work by itself a little later: the connection is lost, the call was a victim
    or killed, or the server takes in nothing for a while, as a standby that is about to be promoted."""
    begun: bool = False
    """Whether a transaction has begun already, so that its isolation can't be changed."""
    nowhere: bool = False
    """Whether the connection has no database, and the call names none."""
    killed: bool = False
    """Whether the server gave up the call, because somebody said so or its time was over; MySQL leaves its
    transaction open then."""


_MISSING_SQLSTATES = {"42883", "42P01", "3F000"}
_MISSING = {1049, 1146, 1305}
_DENIED = {1142, 1143, 1370}
_ENDED = {1053, 1077, 1078, 1079, 1927, 3169, 4031}
"""The server goes down, or somebody ended the connection."""
# 1153 is a packet that was too large, after which the server ends it; 0 is PyMySQL's for one that is closed
_LOST = {0, 1153, *range(1158, 1162), 1184, 2006, 2013, 2014, 2055, *_ENDED}
_VICTIM = {1020, 1205, 1213}
_CLOSED = {1040, 1047, 1203, 1226, 1290, 1792, 1836, 3100, 3101}
"""Too many connections; read-only, or in a cluster without a majority."""
_KILLED_SQLSTATES = {"55P03", "57014"}
"""By lock_timeout; by statement_timeout or somebody who cancelled it."""
_PASSING_SQLSTATES = {"25006", "40001", "40P01", *_KILLED_SQLSTATES}
"""Read-only, and victims."""
_PASSING_CLASSES = ("08", "53", "57")
"""The connection is lost, the server has too little of something, somebody intervened."""
_POSTGRESQL = {"psycopg", "psycopg2", "asyncpg", "pg8000"}
_MYSQL = {"pymysql", "MySQLdb", "asyncmy", "mariadb", "mysql"}  # aiomysql's errors are those of PyMySQL
"""The packages of drivers, by what tells causes apart there: the SQLSTATE, or a number."""
_AROUND = {"sqlalchemy", "django"}
"""Packages with exceptions around those of a driver."""
_BEGUN = 1568
_NOWHERE = 1046
_KILLED = {1317, 1969}
"""By KILL QUERY; by max_statement_time of MariaDB."""
_IN_TRANS, _AUTOCOMMIT = 1, 2
"""Of the status that the server sends with each answer."""


def cause(error: BaseException) -> BaseException:
    """Return what the driver raised: the exception in SQLAlchemy's or Django's, or itself."""
    while inner := getattr(error, "orig", None) or (error.__cause__ if _packages(error) & _AROUND else None):
        error = inner
    return error


def _packages(error: BaseException) -> set[str]:
    return {one.__module__.partition(".")[0] for one in type(error).__mro__}


def failure(error: BaseException) -> Failure | None:
    """Return what an exception means, or None where it is no driver's.

    Args:
        error: the driver's, or SQLAlchemy's or Django's around it.
    """
    error = cause(error)
    packages = _packages(error)
    if packages & _POSTGRESQL:
        return _postgresql_failure(error)
    return _mysql_failure(error) if packages & _MYSQL else None


def _fields(error: BaseException) -> dict[str, str]:
    """Return what pg8000 says of an error, by the letters of the protocol."""
    none: dict[str, str] = {}
    return next((cast("dict[str, str]", one) for one in error.args if isinstance(one, dict)), none)


def _postgresql_failure(error: BaseException) -> Failure:
    fields = _fields(error)
    sqlstate = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or fields.get("C")
    primary = getattr(getattr(error, "diag", None), "message_primary", None) or fields.get("M")
    message = str(primary or (error.args and error.args[0]) or type(error).__name__).strip()
    # psycopg has the class OperationalError for what only the server's operator can mend, asyncpg none
    lost = any(one.__name__ in ("OperationalError", "PostgresConnectionError") for one in type(error).__mro__)
    lost = lost and (sqlstate or "08").startswith(("08", "57P"))
    return Failure(
        message,
        from_sqlstate(sqlstate, message),
        missing=sqlstate in _MISSING_SQLSTATES,
        denied=sqlstate == "42501",
        lost=lost,
        passes=lost or sqlstate in _PASSING_SQLSTATES or (sqlstate or "")[:2] in _PASSING_CLASSES,
        killed=sqlstate in _KILLED_SQLSTATES,
    )


def _mysql_failure(error: BaseException) -> Failure:
    number, message = error.args if len(error.args) == 2 else (None, str(error))
    number = getattr(error, "errno", None) or number  # of MariaDB's connector and of MySQL's
    message = str(getattr(error, "msg", None) or message or type(error).__name__)
    return Failure(
        message,
        from_errno(number, message),
        missing=number in _MISSING,
        denied=number in _DENIED,
        lost=number in _LOST,
        victim=number in _VICTIM,
        passes=number in _LOST | _VICTIM | _CLOSED | _KILLED,
        begun=number == _BEGUN,
        nowhere=number == _NOWHERE,
        killed=number in _KILLED,
    )


def mysql_is_in_transaction(connection: Any) -> bool:
    """Whether this connection of a driver has a transaction open, as far as it tells: mysqlclient doesn't."""
    return bool(_status(connection) & _IN_TRANS)


def mysql_is_own(connection: Any) -> bool:
    """Whether a call over this connection of a driver is known to be a transaction of its own."""
    return bool(_status(connection) & _AUTOCOMMIT) and not mysql_is_in_transaction(connection)


def _status(connection: Any) -> int:
    return getattr(connection, "server_status", None) or 0


def check_mysql(connection: Any) -> None:
    """Refuse a connection of a driver of MariaDB or MySQL that can't carry every character.

    Raises:
        TypeError: it is one. The server would replace what it can't carry by question marks, and say nothing.
    """
    charset = getattr(connection, "character_set_name", None) or connection.charset
    charset = charset() if callable(charset) else charset
    if charset != "utf8mb4":
        raise TypeError(f"a connection in utf8mb4 is wanted, charset=utf8mb4; not in {charset}")
