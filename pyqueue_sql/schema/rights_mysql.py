"""Who may do what on MariaDB and MySQL: what the server has is brought to what the release's grants say."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pyqueue_sql.schema.release import Release

GRANT = re.compile(r"(?ms)^grant (.+?)\s+on (?:(procedure|function) )?(\w+) to ([\w,\s]+)")
HOSTS = ("", "%")
"""Of a role: on MariaDB, and on MySQL."""
WORDS = {"grant": "grant option", "delete versioning rows": "delete history"}
"""What the server's tables say, where statements have another word for it."""
ROUTINES = """
select lower(p.routine_type), p.routine_name, p.user, p.host, p.proc_priv, ''
from mysql.procs_priv p where p.db = database()
"""
TABLES = """
select '', t.table_name, t.user, t.host, t.table_priv, '' from mysql.tables_priv t where t.db = database()
"""
COLUMNS = """
select '', c.table_name, c.user, c.host, c.column_priv, c.column_name
from mysql.columns_priv c where c.db = database()
"""
DEFINERS = """
select distinct r.definer from information_schema.routines r where r.routine_schema = database()
union select current_user()
"""


@dataclass(frozen=True, order=True)
class Right:
    """A right of one grantee on one object."""

    kind: str
    """procedure, function, or nothing: a table or a view."""
    name: str
    user: str
    host: str
    """Of a role of MariaDB it is empty."""
    privilege: str

    def __str__(self) -> str:
        return f"{self.privilege} on {self.kind or 'table'} {self.name} for {self.user}"


def rights(connection: Connection, release: Release) -> set[Right] | None:
    """Return what others than the owner of the routines may do with what is ours.

    Args:
        connection: to the database that the queue is in.
        release: what is ours.

    Returns:
        None where this user may not see that.
    """
    found: set[Right] = set()
    try:
        rows = [row for query in (ROUTINES, TABLES, COLUMNS) for row in connection.execute(text(query))]
    except DBAPIError:
        return None
    owners = set(connection.scalars(text(DEFINERS)))
    for kind, name, user, host, privileges, column in rows:
        ours = release.callables if kind else release.relations
        if name in ours and f"{user}@{host}" not in owners:
            of_column = f" (`{column}`)" if column else ""
            for privilege in filter(None, str(privileges).lower().split(",")):
                found.add(Right(kind, name, user, host, privilege + of_column))
    return found


def take_back(connection: Connection, release: Release, found: Iterable[Right]) -> None:
    """Revoke what the release doesn't grant.

    Args:
        connection: to the database that the queue is in.
        release: what its grants say.
        found: the rights that there are.
    """
    wanted = {
        (kind, name, role, privilege)
        for grant in filter(None, map(GRANT.search, release.optional))
        for kind, name in [(grant[2] or "", grant[3])]
        for role in re.split(r",\s*", grant[4].strip())
        for privilege in _privileges(grant[1])
    }
    # columns first: a right that is revoked of a table is gone of its columns, too
    for one in sorted(found, key=lambda one: (not one.privilege.endswith(")"), one)):
        is_role = one.host in HOSTS
        if not (is_role and (one.kind, one.name, one.user, one.privilege) in wanted):
            privilege = WORDS.get(one.privilege, one.privilege)
            revoke = f"revoke {privilege} on {one.kind} `{one.name}` from {_grantee(one)}"
            connection.exec_driver_sql(revoke, execution_options={"no_parameters": True})


def _privileges(granted: str) -> list[str]:
    right, _, names = granted.partition(" (")
    return [f"{right} (`{name}`)" for name in re.split(r",\s*", names[:-1])] if names else right.split(", ")


def _grantee(right: Right) -> str:
    user, host = (part.replace("`", "``") for part in (right.user, right.host))
    if not host:
        return "public" if right.user == "PUBLIC" else f"`{user}`"
    return f"`{user}`@`{host}`"
