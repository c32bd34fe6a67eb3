"""What a revision leaves installed: read from the frozen texts of it and of those before it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from alembic.script import ScriptDirectory

from pyqueue_sql.schema import frozen

CREATED = re.compile(
    r"(?m)^create (?:or replace )?(?:unlogged )?(table|view|procedure|function|trigger|sequence)"
    r" (?:if not exists )?(\w+)"
)
DROPPED = re.compile(r"(?m)^drop table (?:if exists )?(\w+)")
OF = re.compile(r"(?m)^comment on (?:table|column) (\w+)")


@dataclass(frozen=True)
class Release:
    """The statements of a revision that can be run again, and the names of all that is ours."""

    revision: str
    routines: list[str]
    """Routines, views, triggers; on PostgreSQL comments on tables before, roles and rights after."""
    optional: list[str]
    """What a server may refuse: on MariaDB and MySQL functions, triggers, roles and rights."""
    tables: frozenset[str]
    relations: frozenset[str]
    """Tables, views and sequences."""
    callables: frozenset[str]
    """Functions and procedures."""


def names(texts: list[str], *kinds: str) -> frozenset[str]:
    """Return the names of what statements create.

    Args:
        texts: statements.
        *kinds: table, view, sequence, procedure, function, trigger.
    """
    found = (CREATED.search(text) for text in texts)
    return frozenset(one[2] for one in found if one and one[1] in kinds)


def release(scripts: ScriptDirectory, revision: str, dialect: str) -> Release:
    """Return what a revision leaves installed.

    Args:
        scripts: our revisions.
        revision: one of them.
        dialect: one of DIALECTS.
    """
    way = [script.revision for script in scripts.iterate_revisions(revision, "base")]
    newest = next(one for one in way if frozen.statements(one, "routines", dialect))
    routines = frozen.statements(newest, "routines", dialect)
    optional = frozen.statements(newest, "optional", dialect)
    tables, sequences, said = set[str](), set[str](), list[str]()
    for one in reversed(way):
        for text in frozen.statements(one, "up", dialect):
            tables |= names([text], "table")
            sequences |= names([text], "sequence")
            for dropped in DROPPED.finditer(text):
                tables.discard(dropped[1])
            said += [text] if re.search(r"(?m)^comment on ", text) else []
    # of two comments on the same the last one counts
    parts = [text for text in said if not (of := OF.search(text)) or of[1] in tables] + routines
    return Release(
        revision,
        parts,
        optional,
        frozenset(tables),
        frozenset(tables | sequences | names(routines, "view")),
        names([*routines, *optional], "procedure", "function"),
    )
