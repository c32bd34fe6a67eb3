"""What is frozen of `sql/mysql`: the statements of its two manifests, without the client's own commands.

See tools.freeze.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools import house
from tools.expand_mysql import expand

SOURCE = re.compile(r"^source\s+(\S+)\s*$", re.MULTILINE)
DELIMITER = re.compile(r"^delimiter\s+(\S+)\s*$", re.IGNORECASE)
CREATED = re.compile(
    r"^create\s+(?:or\s+replace\s+)?(table|view|procedure|function|trigger)\s+(?:if\s+not\s+exists\s+)?(\w+)",
    re.IGNORECASE | re.MULTILINE,
)
NOTHING_TO_DROP = re.compile(r"^(create role|grant|drop)\b", re.IGNORECASE | re.MULTILINE)
"""Roles belong to all databases of the server."""
QUIET = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--\s[^\n]*|#[^\n]*|/\*.*?\*/|\$\$|[;\n]|[^'\"`;\n#/$-]+|.",
    re.DOTALL,
)
"""A piece of SQL: what stands in quotation marks or in a comment is one, so is what may end a statement."""


def manifest(live: Path, name: str = "install.sql") -> list[Path]:
    """Return the files that a manifest includes, in order.

    Args:
        live: the folder that it stands in.
        name: install.sql or optional.sql.
    """
    return [live / found for found in SOURCE.findall((live / name).read_text(encoding="utf-8"))]


def read(path: Path) -> str:
    """Return the text of a file as a client of the server reads it.

    Args:
        path: the file, of `sql/mysql`.
    """
    return expand(path.read_text(encoding="utf-8"))


def split(text: str) -> list[str]:
    """Return the statements of a file, each with the comments before it, ended by a semicolon.

    Args:
        text: SQL as the client reads it, with `delimiter` lines.

    Raises:
        ValueError: the last statement has no end.
    """
    found: list[str] = []
    mark, piece, line = ";", "", ""
    pieces = QUIET.findall(text)
    at = 0
    while at < len(pieces):
        one = pieces[at]
        at += 1
        if not line.strip() and one.lower().startswith("delimiter "):
            # the rest of the line may have come in several pieces
            while at < len(pieces) and pieces[at] != "\n":
                one += pieces[at]
                at += 1
            command = DELIMITER.match(one)
            if command:
                mark = command[1]
                continue
        if one == mark:
            found.append(f"{piece.strip()};")
            piece = line = ""
            continue
        piece += one
        line = "" if one == "\n" else line + one
    if re.sub(r"--\s[^\n]*|\s", "", piece):
        raise ValueError(f"a statement without its end: {piece.strip()[:60]!r}")
    return found


def drop(statement: str) -> str | None:
    """Return the statement that undoes a statement, or None where that goes with something else.

    Args:
        statement: one that creates something, or says something about it.

    Raises:
        ValueError: nobody has said here how to undo that.
    """
    created = CREATED.search(statement)
    if created:
        return f"drop {created[1].lower()} if exists {created[2]};"
    if NOTHING_TO_DROP.search(statement):
        return None
    raise ValueError(f"how is that undone? {statement}")


def freeze(live: Path, *, first: bool) -> dict[str, list[str]]:
    """Return the statements of a revision by part.

    Args:
        live: the folder of install.sql and optional.sql.
        first: whether there is no revision before it.
    """
    parts: dict[str, list[str]] = {"up": [], "routines": [], "optional": []}
    for file in manifest(live):
        part = "up" if house.kind(file) == "table" else "routines"
        parts[part] += split(read(file))
    for file in manifest(live, "optional.sql"):
        parts["optional"] += split(read(file))
    if not first:
        del parts["up"]
        return parts
    created = [text for texts in parts.values() for text in texts]
    parts["down"] = list(dict.fromkeys(text for text in map(drop, reversed(created)) if text))
    return parts
