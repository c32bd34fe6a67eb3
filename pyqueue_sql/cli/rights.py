"""Which roles of the queue have a right that a login lacks."""

from __future__ import annotations

import re

from pyqueue_sql.schema.frozen import DIALECTS, MIGRATIONS

OURS = re.compile(r"\b(?:queue_\w+|delayed_queue)\b")
GRANT = re.compile(r"(?ms)^grant [^;(]+?\son (?:procedure |function )?(\w+) to ([\w,\s]+)")
"""On MariaDB and MySQL each statement is about one thing, and the names are those of PostgreSQL.
A right on some columns alone isn't one here: the commands read all of them."""


def roles(message: str) -> list[str]:
    """Return the roles that may use what a server says is denied, or none where only its owner may.

    Args:
        message: of the server, which names it last.
    """
    named = OURS.findall(message)
    found: set[str] = set()
    for file in sorted((MIGRATIONS / "frozen" / DIALECTS[1]).glob("*.optional.sql"))[-1:]:
        for grant in GRANT.finditer(file.read_text(encoding="utf-8")):
            if named[-1:] == [grant[1]]:
                found.update(re.split(r",\s*", grant[2].strip()))
    return sorted(found)
