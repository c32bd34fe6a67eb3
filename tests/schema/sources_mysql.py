"""The SQL of sql/mysql as text, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pyqueue_sql.schema.routine_mysql import Routine, parse
from tools import house
from tools.freeze_mysql import read, split

if TYPE_CHECKING:
    from pathlib import Path

SQL = house.LIVE / "mysql"
NO_CODE = r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|--\s[^\n]*|#[^\n]*|/\*(?![!M]).*?\*/"


@dataclass(frozen=True)
class File:
    """The file of a routine, a function or a trigger."""

    path: Path
    statements: list[str]
    routine: Routine

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Mode and name of each parameter; those of a function are all `in`."""
        text = re.sub(r"\([^()]*\)", "", self.routine.parameters[1:-1])
        words = [one.split() for one in text.split(",") if one.strip()]
        modes = ("in", "out", "inout")
        return [(one[0], one[1]) if one[0] in modes else ("in", one[0]) for one in words]

    @property
    def code(self) -> str:
        """The body without comments, and with nothing between quotation marks."""
        return re.sub(
            NO_CODE, lambda found: "''" if found[0][0] in "'\"" else " ", self.routine.body, flags=re.DOTALL
        )

    @property
    def variables(self) -> set[str]:
        """What the body declares, but for cursors, conditions and handlers."""
        found = re.findall(r"\bdeclare\s+(\w+(?:\s*,\s*\w+)*)\s+(\w+)", self.code, re.IGNORECASE)
        kinds = ("cursor", "condition", "handler")
        return {name.strip() for names, kind in found if kind not in kinds for name in names.split(",")}


@cache
def files() -> dict[str, File]:
    """Return the files by what they create, `routine/queue_push`."""
    found: dict[str, File] = {}
    for path in house.files(SQL, "routine", "function", "trigger"):
        statements = split(read(path))
        [routine] = [one for text in statements if (one := parse(text.removesuffix(";")))]
        found[f"{house.kind(path)}/{house.name(path)}"] = File(path, statements, routine)
    return found


def same_comment(comment: str) -> str:
    """Return a comment without what it says of the difference to PostgreSQL, which comes last.

    That may be a line `out_…:` too, for PostgreSQL returns what a procedure has a parameter for.
    """
    return re.sub(r"(?m)^(?:differs: [^\0]*|out_\w+: .*\n?)", "", comment).rstrip("\n")
