"""Freeze the live `sql/` for a revision: `python -m tools.freeze 0001_initial`.

It wants pglast, PostgreSQL's own parser. The first revision is generated whole: `up` (the tables), `routines`
(everything else) and `down` (drops, in reverse order). Of a later one only `routines` is: its `up` and `down`
are the changes of the tables, written by hand. On MariaDB and MySQL `optional` is what a server may refuse.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import textwrap
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from alembic.script import ScriptDirectory
from pglast import parse_sql
from pglast.enums import FunctionParameterMode
from pglast.stream import RawStream

from pyqueue_sql.schema.frozen import DIALECTS, MIGRATIONS, SEPARATOR
from tools import freeze_mysql, headers, house
from tools.house import LIVE
from tools.index import index

INDEX = LIVE / "README.md"
FROZEN = MIGRATIONS / "frozen"
RELEASES = FROZEN / "releases.json"
"""The revision of each release, and the checksums of what is frozen of it."""
HEADER = "-- frozen from sql/{} by tools.freeze; never edited\n"
INCLUDE = re.compile(r"^\\ir\s+(\S+)\s*$", re.MULTILINE)
ROLE = re.compile(r"\bcreate role (\w+)")
NOTHING_TO_DROP = {
    "AlterDefaultPrivilegesStmt",
    "AlterTableStmt",
    "CommentStmt",
    "DoStmt",
    "GrantRoleStmt",
    "GrantStmt",
    "IndexStmt",
    "InsertStmt",
}
LISTED = re.compile(
    r"drop (?:table|view) if exists |"
    r"drop (?:domain|function|procedure|sequence|table|type|view) (?!if exists )"
)
"""How a drop begins behind which there may be several names; those of MariaDB and MySQL say IF EXISTS."""
REVOKE_USAGE = """do $$
begin
    if (select count(*) from pg_catalog.pg_roles r where r.rolname = any ('{{{roles}}}')) = {count} then
        execute format('revoke usage on schema %I from {roles}', current_schema());
    end if;
end $$;"""
# Roles belong to the whole cluster. They stay, all of them, where another installation still grants them
# something, where they have members (the memberships would go too), and where they aren't ours to drop.
DROP_ROLES = """do $$
begin
    if not exists (select from pg_catalog.pg_auth_members m
        join pg_catalog.pg_roles r on r.oid = m.roleid join pg_catalog.pg_roles u on u.oid = m.member
        where r.rolname = any ('{{{roles}}}') and u.rolname <> all ('{{{roles}}}')
        and u.rolname <> current_user) then
        drop role if exists {roles};
    end if;
exception when dependent_objects_still_exist or insufficient_privilege then
    raise notice 'roles stay: %', sqlerrm;
end $$;"""


def manifest(live: Path) -> list[Path]:
    """Return the files that install.sql includes, in order.

    Args:
        live: the folder that it stands in.
    """
    return [live / name for name in INCLUDE.findall((live / "install.sql").read_text(encoding="utf-8"))]


def split(text: str) -> list[str]:
    """Return the statements of an SQL text, each with the comments before it.

    Args:
        text: SQL without meta-commands.

    Raises:
        pglast.parser.ParseError: the server would refuse it too.
    """
    found: list[str] = []
    start = 0
    for statement in parse_sql(text):
        # the length is 0 for a last statement without a semicolon
        at = statement.stmt_location or 0
        end = at + (statement.stmt_len or len(text) - at) + 1
        found.append(text[start:end].strip())
        start = end
    return found


def drop(statement: str) -> str | None:
    """Return the statement that undoes a statement, or None where that goes with something else.

    Args:
        statement: one that creates something, or says something about it.

    Raises:
        ValueError: nobody has said here how to undo that.
    """
    # untyped, because the grammar has every part of every node optional
    node: Any = parse_sql(statement)[0].stmt
    match type(node).__name__:
        case "CreateStmt":
            return f"drop table {node.relation.relname};"
        case "ViewStmt":
            return f"drop view {node.view.relname};"
        case "CreateTrigStmt":
            return f"drop trigger {node.trigname} on {node.relation.relname};"
        case "CreateSeqStmt":
            return f"drop sequence {node.sequence.relname};"
        case "CompositeTypeStmt":
            return f"drop type {node.typevar.relname};"
        case "CreateEnumStmt":
            return f"drop type {node.typeName[-1].sval};"
        case "CreateDomainStmt":
            return f"drop domain {node.domainname[-1].sval};"
        case "CreateFunctionStmt":
            outputs = (FunctionParameterMode.FUNC_PARAM_OUT, FunctionParameterMode.FUNC_PARAM_TABLE)
            types = [RawStream()(one.argType) for one in node.parameters or () if one.mode not in outputs]
            what = "procedure" if node.is_procedure else "function"
            return f"drop {what} {node.funcname[-1].sval}({', '.join(types)});"
        case name if name in NOTHING_TO_DROP:
            return None
        case _:
            raise ValueError(f"how is that undone? {statement}")


def together(drops: Iterable[str]) -> list[str]:
    """Return drops, neighbours of a kind as one statement where the server takes a list."""

    def beginning(one: str) -> str:
        listed = LISTED.match(one)
        return listed[0] if listed else ""

    found: list[str] = []
    for what, group in groupby(drops, beginning):
        if what:
            names = [one.removeprefix(what).removesuffix(";") for one in group]
            found.append(textwrap.fill(what + ", ".join(names) + ";", house.WIDTH, subsequent_indent="    "))
        else:
            found += group
    return found


def freeze(live: Path, *, first: bool) -> dict[str, list[str]]:
    """Return the statements of a revision by part.

    Args:
        live: the folder of install.sql.
        first: whether there is no revision before it.
    """
    files = manifest(live)
    tables = [file for file in files if house.kind(file) == "table"]
    up = [text for file in tables for text in split(file.read_text(encoding="utf-8"))]
    routines = [
        text for file in files if file not in tables for text in split(file.read_text(encoding="utf-8"))
    ]
    if not first:
        return {"routines": routines}
    down = [text for text in map(drop, reversed([*up, *routines])) if text]
    roles = [role for text in routines for role in ROLE.findall(text)]
    if roles:
        names = ", ".join(reversed(roles))
        down += [text.format(roles=names, count=len(roles)) for text in (REVOKE_USAGE, DROP_ROLES)]
    return {"up": up, "routines": routines, "down": list(dict.fromkeys(down))}


def texts(live: Path, *, first: bool) -> dict[str, str]:
    """Return what the frozen files of a revision have in them, by part.

    Args:
        live: the folder of a dialect, by its name postgresql or mysql.
        first: whether there is no revision before it.
    """
    parts = (freeze_mysql.freeze if live.name == "mysql" else freeze)(live, first=first)
    header = HEADER.format(live.name)
    if first:
        parts["down"] = together(parts["down"])
    return {part: header + SEPARATOR.join(found) + "\n" for part, found in parts.items()}


def newest(frozen: Path) -> str:
    """Return the id of the newest frozen revision.

    Args:
        frozen: the folder of frozen files of a dialect.
    """
    return max(file.name for file in frozen.glob("*.routines.sql")).removesuffix(".routines.sql")


def differing(live: Path, frozen: Path) -> list[str]:
    """Return the names of the frozen files of the newest revision that aren't what is live.

    Args:
        live: the folder of a dialect, by its name postgresql or mysql.
        frozen: its folder of frozen files.
    """
    revision = newest(frozen)
    first = len(list(frozen.glob("*.routines.sql"))) == 1
    names = {f"{revision}.{part}.sql": text for part, text in texts(live, first=first).items()}
    return [name for name, text in names.items() if (frozen / name).read_text(encoding="utf-8") != text]


def released() -> dict[str, dict[str, Any]]:
    """Return what was noted of each release, the oldest first: its revision and checksums."""
    return json.loads(RELEASES.read_text(encoding="utf-8")) if RELEASES.exists() else {}


def sums(revision: str) -> dict[str, str]:
    """Return the checksum of each frozen file of a revision, by its name with its dialect.

    Args:
        revision: the revision's id.
    """
    files = sorted(FROZEN.glob(f"*/{revision}.*.sql"))
    return {f"{one.parent.name}/{one.name}": hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


def altered() -> list[str]:
    """Return the frozen files that aren't any more what was released."""
    return [
        name
        for release in released().values()
        for name, found in release["sha256"].items()
        if sums(release["revision"]).get(name) != found
    ]


def write(revision: str) -> None:
    """Freeze what is live for a revision, and write the index and the first lines of routines.

    Args:
        revision: the revision's id.

    Raises:
        alembic.util.CommandError: there is no such revision.
        ValueError: it is part of a release.
    """
    ScriptDirectory(str(MIGRATIONS)).get_revision(revision)
    if any(one["revision"] == revision for one in released().values()):
        raise ValueError(f"{revision} is released: a change is a new revision")
    for path in headers.files():
        path.write_text(headers.with_header(path), encoding="utf-8")
    for dialect in DIALECTS:
        folder = FROZEN / dialect
        folder.mkdir(exist_ok=True)
        others = {file.name for file in folder.glob("*.routines.sql")} - {f"{revision}.routines.sql"}
        for part, text in texts(LIVE / dialect, first=not others).items():
            (folder / f"{revision}.{part}.sql").write_text(text, encoding="utf-8")
    INDEX.write_text(index(LIVE), encoding="utf-8")


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Freeze sql/ for a revision.")
    parser.add_argument("revision", nargs="?", help="the revision's id; not with --check")
    parser.add_argument("--check", action="store_true", help="say whether the newest ones are up to date")
    args = parser.parse_args()
    if args.check:
        stale = [
            (name, newest(FROZEN / dialect))
            for dialect in DIALECTS
            for name in differing(LIVE / dialect, FROZEN / dialect)
        ]
        written = {INDEX: index(LIVE)} | {path: headers.with_header(path) for path in headers.files()}
        stale += [
            (path.name, newest(FROZEN / DIALECTS[0]))
            for path, text in written.items()
            if path.read_text(encoding="utf-8") != text
        ]
        for name, revision in stale:
            print(f"{name} is not what is live: python -m tools.freeze {revision}", file=sys.stderr)
        return 1 if stale else 0
    if not args.revision:
        parser.error("which revision?")
    write(args.revision)
    return 0


if __name__ == "__main__":
    sys.exit(main())
