"""The index of `sql/`, sql/README.md: each table, routine and view, its purpose and its file in each dialect.

`python -m tools.freeze` writes it, from the files' own comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tools import house

INCLUDE = re.compile(r"^(?:\\ir|source)\s+(\S+)\s*$", re.MULTILINE)
COMMENT_ON = re.compile(
    r"comment on (?:table|view|function|trigger) [^$']*?\bis\s*(?:\$\$(.+?)\$\$|'((?:[^']|'')+)')", re.DOTALL
)
COMMENT = re.compile(r"\bcomment\s+'((?:[^']|'')+)'")
HEADING = re.compile(r"\A(?:--[^\n]*\n)+")
DIALECTS = ("postgresql", "mysql")
MANIFESTS = ("postgresql/install.sql", "mysql/install.sql", "mysql/optional.sql")
ABSENT = re.compile(r"^-- without (\S+): (.+)$", re.MULTILINE)
HEAD = """# The queue in SQL

Written by `python -m tools.freeze` from the comments in the files. A name that begins with `_` is
internal; mysql is MariaDB and MySQL. A message arrives, is delivered, and ends: `arrive/`, `deliver/` and
`end/` are these three verbs. The other rooms are what they need, or what a feature adds. Both dialects have
the same rooms.

The load orders: `postgresql/install.sql`, which psql takes as it is; `mysql/install.sql`, and
`mysql/optional.sql` for what some servers of MariaDB and MySQL refuse. The whole comments, parameters
with units, result, errors, locks, are in the server: `\\df+ queue_*` in psql, `show procedure status
like 'queue%'` in mariadb and mysql.
"""
TABLE = "| name | purpose | postgresql | mysql |\n|---|---|---|---|"


@dataclass
class Entry:
    """A line of the index."""

    name: str
    purpose: str
    files: dict[str, str] = field(default_factory=dict[str, str])
    """By dialect."""
    why: str = ""


def purpose(text: str) -> str:
    """Return the first sentence of the first comment in a file, of a table the one about the table.

    Args:
        text: the file.

    Raises:
        ValueError: it has none.
    """
    if found := COMMENT_ON.search(text):
        words = found[1] or found[2].replace("''", "'")
    elif comments := COMMENT.findall(text):
        # those of the columns come before that of the table
        words = comments[-1 if "create table" in text else 0].replace("''", "'")
    elif heading := HEADING.match(text):
        # a view or a trigger of MariaDB and MySQL has no comment in the server
        words = re.sub("(?m)^--", "", heading[0])
    else:
        raise ValueError(f"no comment in {text[:60]!r}")
    return re.split(r"(?<=[.;:]) |; |: ", " ".join(words.split()), maxsplit=1)[0].rstrip(".;:")


def differs(text: str) -> str:
    """Return why a file stands in one dialect only or isn't as in the other, or nothing.

    Args:
        text: the file.
    """
    found = re.search(r"^(?:-- )?differs: ((?:[^'\n]|'')+)", text, re.MULTILINE)
    return found[1].removesuffix("$$;").replace("''", "'").rstrip(".") if found else ""


def index(live: Path) -> str:
    """Return the text of sql/README.md.

    Args:
        live: the folder of the dialects.
    """
    lines: list[str] = []
    for room, entries in _rooms(live).items():
        about = live / "postgresql" / room / "README.md"
        lines += [f"\n## {room[0].upper()}{room[1:]}\n", f"{_about(about)}\n", TABLE]
        for one in entries.values():
            cells = [
                f"[{house.kind(Path(file))}]({file})" if (file := one.files.get(dialect)) else "—"
                for dialect in DIALECTS
            ]
            if one.why and "—" in cells:
                cells[cells.index("—")] = f"— {one.why}"
            line = " | ".join(cell.replace("|", "&#124;") for cell in (one.name, one.purpose, *cells))
            lines.append(f"| {line} |")
    return HEAD + "\n".join(lines) + "\n"


def _about(readme: Path) -> str:
    """Return the first paragraph of the README of a room."""
    return readme.read_text(encoding="utf-8").split("\n\n")[1].strip()


def _rooms(live: Path) -> dict[str, dict[tuple[str, str], Entry]]:
    """Return the entries by room, each by what it is and its name, in the order in which they are loaded."""
    rooms: dict[str, dict[tuple[str, str], Entry]] = {room: {} for room in house.ROOMS}
    for manifest in MANIFESTS:
        dialect = manifest.partition("/")[0]
        for included in INCLUDE.findall((live / manifest).read_text(encoding="utf-8")):
            file = live / dialect / included
            room = rooms.get(file.parent.name)
            if room is None:  # one for all rooms, such as the rights
                continue
            text = file.read_text(encoding="utf-8")
            key = (house.kind(file), house.name(file))
            # a routine of PostgreSQL may be a function there and no procedure
            same = ("routine", key[1])
            if key[0] == "function" and same in room and dialect not in room[same].files:
                key = same
            if key not in room:
                room[key] = Entry(key[1], purpose(text), why=differs(text))
            room[key].files[dialect] = f"{dialect}/{included}"
    why = absent(live)
    for room in rooms.values():
        for key, entry in room.items():
            entry.why = why.get(key, entry.why)
    return rooms


def absent(live: Path) -> dict[tuple[str, str], str]:
    """Return why a file of PostgreSQL isn't there for MariaDB and MySQL, by what it is and its name.

    Args:
        live: the folder of the dialects.
    """
    text = "".join((live / name).read_text(encoding="utf-8") for name in MANIFESTS[1:])
    found = ((Path(file), why) for file, why in ABSENT.findall(text))
    return {(house.kind(file), house.name(file)): why for file, why in found}
