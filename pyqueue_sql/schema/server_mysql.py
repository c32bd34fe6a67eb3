"""What a MariaDB or MySQL server must be like for the queue, and what it says where it isn't."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from pyqueue_sql.errors import MigrationError

OLDEST = {True: 100600, False: 80021}
NAMES = {True: "MariaDB 10.6", False: "MySQL 8.0.21"}
NOT_ALLOWED = {1044, 1142, 1227, 1370}
PROBE = "_queue_probe"


def errno(error: DBAPIError) -> int:
    """Return the server's number of an error, 0 where it has none.

    Args:
        error: as SQLAlchemy raises it.
    """
    found: Any = error.orig.args[0] if error.orig and error.orig.args else 0
    return found if isinstance(found, int) else 0


def said(error: DBAPIError) -> str:
    """Return what the server said.

    Args:
        error: as SQLAlchemy raises it.
    """
    return str(error.orig.args[-1]) if error.orig and error.orig.args else str(error)


def version(connection: Connection) -> tuple[int, bool]:
    """Return the server's version, 80021 for 8.0.21 and 100600 for 10.6.0, and whether it is MariaDB.

    Args:
        connection: to it.
    """
    return parse_version(str(_value(connection, "select version()")))


def parse_version(text: str) -> tuple[int, bool]:
    """Return what `version` does of what the server calls itself.

    Args:
        text: as 8.0.21 or 10.6.0-MariaDB.
    """
    major, minor, patch = map(int, re.findall(r"\d+", text)[:3])
    return major * 10000 + minor * 100 + patch, "mariadb" in text.lower()


def check_version(number: int, mariadb: bool) -> None:
    """Refuse a server that is too old.

    Args:
        number: 80021 for 8.0.21.
        mariadb: whether it is MariaDB.

    Raises:
        MigrationError: it is.
    """
    if number < OLDEST[mariadb]:
        this = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        raise MigrationError(f"{NAMES[mariadb]} or later is needed, and this is {this}")


def check(connection: Connection) -> None:
    """Refuse a server on which the queue would go wrong, and a user who may not install it.

    Args:
        connection: to the database that the queue is or will be in.

    Raises:
        MigrationError: with the reason.
    """
    check_version(*version(connection))
    engines = (
        "select count(*) from information_schema.engines e where e.engine = 'InnoDB' and e.support <> 'NO'"
    )
    if not _value(connection, engines):
        raise MigrationError("the storage engine InnoDB is needed, and this server has none")
    if (
        _value(connection, "select @@global.log_bin")
        and (used := _value(connection, "select @@global.binlog_format")) == "STATEMENT"
    ):
        raise MigrationError(
            f"binlog_format must be ROW or MIXED where the binary log is on, and it is {used}: "
            "a replica that runs the statements again would reserve other messages"
        )
    connection.exec_driver_sql("set timestamp = 1")
    year = _value(connection, "select year(sysdate())")
    connection.exec_driver_sql("set timestamp = default")
    if year == 1970:
        raise MigrationError("sysdate_is_now must be off: with it every caller can shift the queue's clock")
    _check_rights(connection)


def _check_rights(connection: Connection) -> None:
    try:
        connection.exec_driver_sql(f"drop procedure if exists {PROBE}")
        connection.exec_driver_sql(f"create procedure {PROBE}() begin end")
        connection.exec_driver_sql(f"drop procedure {PROBE}")
    except DBAPIError as error:
        if errno(error) in NOT_ALLOWED:
            raise MigrationError(
                "the right to create routines and tables in this database is needed (CREATE, ALTER, DROP, "
                f"INDEX, CREATE VIEW, CREATE ROUTINE, ALTER ROUTINE, LOCK TABLES): {said(error)}"
            ) from None
        raise


def _value(connection: Connection, text: str) -> Any:
    return connection.exec_driver_sql(text).scalar()
