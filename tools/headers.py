"""The first lines of a routine's file: what it calls and which tables it changes, read off its body.

`python -m tools.freeze` writes them, so that nobody has to keep them. The idea comes from PgQ's headers.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from functools import cache
from pathlib import Path

from tools import house
from tools.expand_mysql import spell_out

OURS = ("-- calls: ", "-- changes: ")
NEXT = "--     "
"""Before what goes on with one of these lines."""
WIDTH = 118
NO_CODE = re.compile(r"--[^\n]*|/\*(?![!M]).*?\*/|'(?:[^'\\]|''|\\.)*'", re.DOTALL)
CALL = re.compile(r"\b(_?queue_\w+)\s*\(", re.IGNORECASE)
SET = re.compile(r"(?:^|,)\s*(\w+)\.\w+\s*=")
CHANGE = re.compile(
    r"\binsert\s+into\s+(?P<inserted>\w+)"
    r"|\bupdate\s+(?P<updated>(?:(?!;|\bset\b).)*?)\bset\s+(?P<set>(?:(?!;|\bwhere\b).)*)"
    r"|\bdelete\s+(?P<deleted>(?!from)\w+)?\s*from\s+(?P<rest>(?:(?!;|\bwhere\b).)*)",
    re.IGNORECASE | re.DOTALL,
)


@cache
def known(dialect: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the routines and of the tables of a dialect."""
    live = house.LIVE / dialect
    return (
        frozenset(house.name(path) for path in house.files(live, "routine", "function")),
        frozenset(house.name(path) for path in house.files(live, "table")),
    )


def body(text: str) -> str:
    """Return what a file creates, without what is said about it.

    Args:
        text: the file.
    """
    found = re.search(r"\bas \$\$(.*?)\$\$", text, re.DOTALL) or re.search(
        r"^(?:\w+: *)?begin\b(.*)^end(?: \w+)?;", text, re.DOTALL | re.MULTILINE
    )
    return NO_CODE.sub("''", found[1] if found else "")


def calls(code: str, dialect: str) -> set[str]:
    """Return the routines that a body calls."""
    return {*CALL.findall(code)} & known(dialect)[0]


def changes(code: str, dialect: str) -> set[str]:
    """Return the tables that a body changes."""
    tables = known(dialect)[1]
    found: set[str] = set()
    for one in CHANGE.finditer(code):
        if one["inserted"]:
            found.add(one["inserted"])
            continue
        within = one["updated"] or one["rest"] or ""
        words = re.findall(r"\w+", within)
        named = [(word, alias) for word, alias in itertools.pairwise([*words, ""]) if word in tables]
        aliases = {one["deleted"], *SET.findall(one["set"] or "")}
        found |= {word for word, its in named if its in aliases} or {word for word, _ in named[:1]}
    return found & tables


def header(path: Path) -> str:
    """Return the lines of the file of a routine that say what it calls and changes.

    Args:
        path: the file.
    """
    dialect = path.relative_to(house.LIVE).parts[0]
    code = body(path.read_text(encoding="utf-8"))
    if dialect == "mysql":
        code = spell_out(code)
    lines: list[str] = []
    for start, names in zip(
        OURS, (calls(code, dialect) - {house.name(path)}, changes(code, dialect)), strict=True
    ):
        if names:
            text = start + ", ".join(sorted(names))
            lines += textwrap.wrap(text, WIDTH, subsequent_indent=NEXT, break_on_hyphens=False)
    return "".join(f"{line}\n" for line in lines)


def with_header(path: Path) -> str:
    """Return the text of a file of a routine as it has to be.

    Args:
        path: the file.
    """
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    while lines and lines[0].startswith((*OURS, NEXT)):
        del lines[0]
    return header(path) + "".join(lines)


def files() -> list[Path]:
    """Return the files that have such lines."""
    return [
        path
        for dialect in ("postgresql", "mysql")
        for path in house.files(house.LIVE / dialect, "routine", "function", "trigger")
    ]
