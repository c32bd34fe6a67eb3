"""The index of `sql/`, sql/README.md: each table, routine and view, its purpose and its file in each dialect.

`python -m tools.freeze` writes it, from the files' own comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

SECTION = re.compile(r"^-- ([a-z][a-z :]+)$")
INCLUDE = re.compile(r"^(?:\\ir|source)\s+(\S+)\s*$")
COMMENT_ON = re.compile(
    r"comment on (?:table|view|function|trigger) [^$']*?\bis\s*(?:\$\$(.+?)\$\$|'((?:[^']|'')+)')", re.DOTALL
)
COMMENT = re.compile(r"\bcomment\s+'((?:[^']|'')+)'")
HEADING = re.compile(r"\A(?:--[^\n]*\n)+")
MANIFESTS = ("postgresql/install.sql", "mysql/install.sql", "mysql/optional.sql")
HEAD = """# The queue in SQL

Written by `python -m tools.freeze` from the comments in the files. A name that begins with `_` is
internal; mysql is MariaDB and MySQL.

The load orders: `postgresql/install.sql` for psql; `mysql/install.sql`, and `mysql/optional.sql` for what
some servers refuse, for mariadb and mysql. The whole comments, parameters with units, result, errors, locks,
are in the server: `\\df+ queue_*` in psql, `show procedure status like 'queue%'` in mariadb and mysql.
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
    return found[1].replace("''", "'").rstrip(".") if found else ""


def index(live: Path) -> str:
    """Return the text of sql/README.md.

    Args:
        live: the folder of the dialects.
    """
    lines: list[str] = []
    for title, entries in _sections(live).items():
        lines += [f"\n## {title[0].upper()}{title[1:]}\n", TABLE]
        for one in entries.values():
            cells = [
                f"[{Path(file).parent.name}]({file})" if (file := one.files.get(dialect)) else "—"
                for dialect in ("postgresql", "mysql")
            ]
            if one.why and "—" in cells:
                cells[cells.index("—")] = f"— {one.why}"
            line = " | ".join(cell.replace("|", "&#124;") for cell in (one.name, one.purpose, *cells))
            lines.append(f"| {line} |")
    return HEAD + "\n".join(lines) + "\n"


def _sections(live: Path) -> dict[str, dict[tuple[str, str], Entry]]:
    """Return the entries by the title of their section, each by the folder and the name of its file."""
    sections: dict[str, dict[tuple[str, str], Entry]] = {}
    known: dict[tuple[str, str], Entry] = {}
    for manifest in MANIFESTS:
        dialect = manifest.partition("/")[0]
        for title, name in _included(live / manifest):
            file = live / dialect / name
            text = file.read_text(encoding="utf-8")
            key = (file.parent.name, file.stem)
            # a routine of PostgreSQL may be a function there and no procedure
            same = ("routines", file.stem)
            if key[0] == "functions" and same in known and dialect not in known[same].files:
                key = same
            if key not in known:
                known[key] = Entry(file.stem, purpose(text), why=differs(text))
                sections.setdefault(title, {})[key] = known[key]
            known[key].files[dialect] = f"{dialect}/{name}"
    for (folder, name), why in absent(live).items():
        known[folder, name].why = why
    return {title: entries for title, entries in sections.items() if entries}


def absent(live: Path) -> dict[tuple[str, str], str]:
    """Return why a file of PostgreSQL isn't there for MariaDB and MySQL, by its folder and name.

    Args:
        live: the folder of the dialects.
    """
    text = "".join((live / name).read_text(encoding="utf-8") for name in MANIFESTS[1:])
    found = re.findall(r"^-- without (\w+)/(\w+): (.+)$", text, re.MULTILINE)
    return {(folder, name): why for folder, name, why in found}


def _included(manifest: Path) -> Iterable[tuple[str, str]]:
    """Yield the title of the section and the name of each file that has a comment."""
    title = ""
    for line in manifest.read_text(encoding="utf-8").splitlines():
        if heading := SECTION.match(line):
            title = heading[1]
        elif (included := INCLUDE.match(line)) and "/" in included[1]:
            yield title, included[1]
