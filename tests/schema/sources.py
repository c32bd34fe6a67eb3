"""The SQL of sql/postgresql as text and as syntax trees."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from pglast import ast, parse_plpgsql, parse_sql
from pglast.enums import FunctionParameterMode, ObjectType
from pglast.stream import RawStream

from tools import house

if TYPE_CHECKING:
    from pathlib import Path

SQL = house.LIVE / "postgresql"
OUTPUTS = (FunctionParameterMode.FUNC_PARAM_OUT, FunctionParameterMode.FUNC_PARAM_TABLE)


@dataclass(frozen=True)
class Routine:
    """The file of a routine."""

    path: Path
    statements: list[Any]
    texts: list[str]

    @property
    def name(self) -> str:
        """The name of the function that the file creates."""
        return self.statements[0].funcname[-1].sval

    @property
    def create(self) -> str:
        """The text of its CREATE FUNCTION."""
        return self.texts[0]

    @property
    def code(self) -> str:
        """The same without comments."""
        return re.sub(r"--.*", "", self.create)

    @property
    def parameters(self) -> list[tuple[str, bool]]:
        """Name, and whether it is a result, of each parameter."""
        return [(one.name, one.mode in OUTPUTS) for one in self.statements[0].parameters or ()]

    @property
    def signature(self) -> str:
        """Name and types of the parameters that go in."""
        types = [one.argType for one in self.statements[0].parameters or () if one.mode not in OUTPUTS]
        return f"{self.name}({', '.join(RawStream()(one) for one in types)})"

    @property
    def language(self) -> str:
        """The language it is written in."""
        return next(one.arg.sval for one in self.statements[0].options if one.defname == "language")

    @property
    def plpgsql(self) -> str:
        """The syntax tree of a PL/pgSQL routine, as JSON; "[]" for one in SQL."""
        return json.dumps(parse_plpgsql(self.create) if self.language == "plpgsql" else [])

    @property
    def variables(self) -> set[str]:
        """The variables of the body: neither the parameters nor what PL/pgSQL declares itself."""
        found = set(re.findall(r'"PLpgSQL_(?:var|rec)": \{"refname": ("(?:[^"\\]|\\.)*")', self.plpgsql))
        own = {"found", "(unnamed row)", "sqlstate", "sqlerrm", *(name for name, _ in self.parameters)}
        trigger = {"new", "old", *(json.loads(name) for name in found if name.startswith('"tg_'))}
        return {json.loads(name) for name in found} - own - trigger


@cache
def routines() -> dict[str, Routine]:
    """Return the routines by the name of their file."""
    found: dict[str, Routine] = {}
    for path in house.files(SQL, "routine"):
        text = path.read_text(encoding="utf-8")
        statements = parse_sql(text)
        slices = [
            slice(one.stmt_location, (one.stmt_location or 0) + (one.stmt_len or len(text)))
            for one in statements
        ]
        found[path.stem] = Routine(
            path, [one.stmt for one in statements], [text[one].strip() for one in slices]
        )
    return found


def included() -> list[str]:
    """Return the files that install.sql includes, relative to it, in order."""
    return re.findall(r"^\\ir\s+(\S+)\s*$", (SQL / "install.sql").read_text(encoding="utf-8"), re.MULTILINE)


def install_text() -> str:
    """Return install.sql as psql reads it, with its includes."""
    text = (SQL / "install.sql").read_text(encoding="utf-8")
    return re.sub(r"(?m)^\\ir\s+(\S+)\s*$", lambda found: (SQL / found[1]).read_text(encoding="utf-8"), text)


def revoked(kind: str) -> set[str]:
    """Return what grants.sql revokes from PUBLIC.

    Args:
        kind: the name of a pglast object type, such as OBJECT_FUNCTION.
    """
    found: set[str] = set()
    for one in parse_sql((SQL / "grants.sql").read_text(encoding="utf-8")):
        if (
            isinstance(one.stmt, ast.GrantStmt)
            and not one.stmt.is_grant
            and ObjectType(one.stmt.objtype).name == kind
        ):
            found |= {render(item) for item in one.stmt.objects or ()}
    return found


def render(item: Any) -> str:
    """Return the name of a table, or the name and the types of a function."""
    if isinstance(item, ast.RangeVar):
        return str(item.relname)
    types = ", ".join(RawStream()(one) for one in item.objargs or ())
    return f"{item.objname[-1].sval}({types})"


@cache
def served() -> dict[str, list[str]]:
    """Return what each index says it serves: names of routines and views."""
    found: dict[str, list[str]] = {}
    for path in house.files(SQL, "table"):
        said = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            said = line.partition("-- serves:")[2] or said
            if index := re.search(
                r"constraint (\w+) (?:primary key|unique)|create (?:unique )?index (\w+)", line
            ):
                found[index[1] or index[2]] = re.findall(r"queue_\w+|every routine", said)
                said = ""
    return found
