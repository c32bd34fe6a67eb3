"""Connections from URLs. No message of an error here repeats the URL, because of the password in it."""

# ruff: noqa: N818 -- named after what happened
from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

FORM = "postgresql://user:password@host:port/database"


class ConnectionFailed(Exception):
    """No connection could be made: the server isn't there or doesn't let us in, or the URL isn't one."""


def connect(url: str, *, autocommit: bool = True, schema: str | None = None) -> psycopg.Connection[Any]:
    """Return a new connection.

    Args:
        url: postgresql://…, also with the +psycopg of SQLAlchemy, or a connection string of libpq.
        autocommit: whether each statement is a transaction of its own.
        schema: where the queue is, for the search path; None: as the server has it.

    Raises:
        ConnectionFailed: see there.
    """
    scheme, separator, rest = url.partition("://")
    plain = f"{scheme.removesuffix('+psycopg')}://{rest}" if separator else url
    try:
        parts = conninfo_to_dict(plain)
    except psycopg.ProgrammingError:
        raise ConnectionFailed(f"that is no URL of a PostgreSQL database; its form is {FORM}") from None
    settings: dict[str, Any] = {"application_name": "pyqueue", **parts}
    if schema is not None:
        path = '"' + schema.replace('"', '""') + '", pg_temp'
        path = path.replace("\\", r"\\").replace(" ", r"\ ")
        settings["options"] = f"{settings.get('options', '')} -c search_path={path}"
    try:
        return psycopg.connect(autocommit=autocommit, **settings)
    except psycopg.OperationalError as error:
        raise ConnectionFailed(_without_password(str(error).strip(), url)) from None


def _without_password(message: str, url: str) -> str:
    """Return the message without what may be of the password.

    One with an @ or a / in it, not percent-encoded, is taken apart, and pieces of it for a host or a port.
    """
    rest = url.partition("://")[2].partition("?")[0]
    secret = rest.partition(":")[2].rpartition("@")[0]
    for piece in sorted(re.split("[@:/#]", secret), key=len, reverse=True):
        if piece:
            message = message.replace(piece, "***").replace(unquote(piece), "***")
    return message
