"""All the checks, one after another, on one connection that can't write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.doctor import installed, mysql, postgresql, use
from pyqueue_sql.doctor.findings import Check, Finding
from pyqueue_sql.errors import InvalidParameter
from pyqueue_sql.overview import open_look
from pyqueue_sql.overview.look import NotSeen

AS_OWNER = "run the doctor as the owner of the queue, or grant this login what it lacks"


def examine(url: str, schema: str | None = None, only: Collection[str] | None = None) -> list[Finding]:
    """Examine the queue behind a URL. Nothing is written, and no table is read whole.

    Args:
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
        schema: where the queue is; None: the current schema.
        only: the names of the checks to make; None: all of them.

    Returns:
        At least a finding a check. Where no queue is installed there are no findings of its use.

    Raises:
        ConnectionFailed: no connection.
        InvalidParameter: there is no such check.
    """
    on_mysql = is_mysql(url)
    _check_names(only or (), on_mysql)
    found: list[Finding] = []

    def attempt(check: Check, find: Callable[[], Iterable[Finding]]) -> None:
        if only is None or check.name in only:
            found.extend(_attempt(check, find))

    with open_look(url, schema) as look:
        for check, find in mysql.CHECKS if on_mysql else postgresql.CHECKS:
            attempt(check, lambda find=find: find(look))
        for check, find in installed.CHECKS:
            attempt(check, lambda find=find: find(url, schema))
        if any(one.check == "installation" and one.level == "error" for one in found):
            return found
        on_queue = mysql.OF_THE_QUEUE if on_mysql else postgresql.OF_THE_QUEUE
        for check, find in (*on_queue, *use.CHECKS):
            attempt(check, lambda find=find: find(look))
    return found


def _check_names(only: Collection[str], on_mysql: bool) -> None:
    server = mysql if on_mysql else postgresql
    names = [
        check.name
        for checks in (server.CHECKS, installed.CHECKS, server.OF_THE_QUEUE, use.CHECKS)
        for check, _ in checks
    ]
    for name in only:
        if name not in names:
            raise InvalidParameter(f"only {name!r}: must be one of {', '.join(names)}")


def _attempt(check: Check, find: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(find())
    except NotSeen as error:
        return [check.unknown(str(error), AS_OWNER)]
    except Exception as error:
        said = dialect.failure(error)
        if said is None or said.lost:
            raise
        if said.missing:
            return [check.error(said.message, "pyqueue upgrade makes what is missing again")]
        return [check.unknown(said.message, AS_OWNER)]
