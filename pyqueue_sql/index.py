"""The index of `sql/`, sql/README.md: each table, routine and view, its purpose and its file.

For developers; `python -m pyqueue_sql.freeze` writes it, from the files' own comments.
"""

import re
from collections.abc import Iterable
from pathlib import Path

SECTION = re.compile(r"^-- (.+)$")
INCLUDE = re.compile(r"^\\ir\s+(\S+)\s*$")
COMMENT = re.compile(
    r"comment on (?:table|view|function|trigger) [^$']*?\bis\s*(?:\$\$(.+?)\$\$|'((?:[^']|'')+)')", re.DOTALL
)
HEAD = """# The queue in SQL

Written by `python -m pyqueue_sql.freeze` from the comments in the files; `install.sql` is the load order. A
name that begins with `_` is internal. `\\df+ queue_*` in psql shows the whole comments: parameters with
units, result, errors, locks.
"""


def purpose(text: str) -> str:
    """Return the first sentence of the first comment in a file.

    Args:
        text: the file.

    Raises:
        ValueError: it has none.
    """
    found = COMMENT.search(text)
    if not found:
        raise ValueError(f"no comment in {text[:60]!r}")
    words = " ".join((found[1] or found[2].replace("''", "'")).split())
    return re.split(r"(?<=[.;:]) |; |: ", words, maxsplit=1)[0].rstrip(".;:")


def index(live: Path) -> str:
    """Return the text of sql/README.md.

    Args:
        live: the folder of install.sql.
    """
    return HEAD + "\n".join(_lines(live)) + "\n"


def _lines(live: Path) -> Iterable[str]:
    section = ""
    for line in (live / "install.sql").read_text(encoding="utf-8").splitlines():
        if heading := SECTION.match(line):
            section = heading[1]
        elif included := INCLUDE.match(line):
            file = live / included[1]
            if file.parent == live:
                continue
            if section:
                yield f"\n## {section[0].upper()}{section[1:]}\n\n| name | purpose |\n|---|---|"
                section = ""
            name = f"[{file.stem}]({live.name}/{included[1]})"
            yield f"| {name} | {purpose(file.read_text(encoding='utf-8')).replace('|', '&#124;')} |"
