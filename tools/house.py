"""The plan of `sql/`: a room a concept, the same ones in both dialects.

A file is named after the object that it creates. What is no routine says so before its ending: `.table.sql`,
`.view.sql`, `.trigger.sql`, and `.function.sql` for what is a function on MariaDB and MySQL, where
a routine is a procedure.

`python -m tools.house` prints what there is of the things of which there should be little. What may be is
what there is today: who makes it less lowers it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

LIVE: Final = Path(__file__).parents[1] / "sql"
ROOMS: Final = (
    *("base", "messages", "arrive", "deliver", "cursor", "wake", "end", "history", "turns", "limits"),
    *("groups", "topics", "schedules", "log", "filters", "staging", "workers", "settings", "upkeep"),
)
"""In the order in which the manifests load them."""
DOCUMENTATION: Final = re.compile(
    r"^comment on \w+ [^$;']*?\bis\s*(?:\$\$.*?\$\$|'(?:[^']|'')*');$|^ {4}comment '(?:[^']|'')*'",
    re.DOTALL | re.MULTILINE,
)
"""What the server keeps of an object for people; the reference is made of it, so it may be long."""
WIDTH: Final = 120
KINDS: Final = ("table", "routine", "function", "trigger", "view")


def name(path: Path) -> str:
    """Return the name of the object that a file creates."""
    return path.name.partition(".")[0]


def kind(path: Path) -> str:
    """Return what a file creates, one of `KINDS`."""
    found = path.name.split(".")[1:-1]
    return found[0] if found else "routine"


def files(live: Path, *kinds: str) -> list[Path]:
    """Return the files of a dialect that create something, by name.

    Args:
        live: the folder of the dialect.
        kinds: of which of `KINDS`; none: of all.
    """
    found = [path for path in live.glob("*/*.sql") if not kinds or kind(path) in kinds]
    return sorted(found, key=lambda path: (name(path), kind(path)))


def file(live: Path, name_: str, kind_: str = "routine") -> Path:
    """Return the file of one object.

    Args:
        live: the folder of the dialect.
        name_: of the object.
        kind_: one of `KINDS`.

    Raises:
        ValueError: there is none, or more than one.
    """
    [found] = [path for path in files(live, kind_) if name(path) == name_]
    return found


def _lines(paths: Iterable[Path]) -> int:
    """Return how many lines are in files, without those that are comments alone or of documentation."""
    texts = (DOCUMENTATION.sub("", path.read_text(encoding="utf-8")) for path in paths)
    return sum(not line.startswith("--") for text in texts for line in text.splitlines())


def _wide(path: Path) -> int:
    """Return how many lines of a file are too wide, but for comments of a table, which can't be broken."""
    spared = r" *comment |.*-- serves:" if kind(path) == "table" else r"$."
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(len(line) > WIDTH and not re.match(spared, line) for line in lines)


def measures() -> dict[str, tuple[int, int]]:
    """Return what there is of each thing of which there should be little, and how much of it there may be."""
    postgresql, mysql = LIVE / "postgresql", LIVE / "mysql"
    names = [{name(path) for path in files(live, "routine", "function")} for live in (postgresql, mysql)]
    frozen = (LIVE.parent / "migrations" / "frozen").glob("*/*.sql")
    return {
        "routines on PostgreSQL": (len(files(postgresql, "routine")), 207),
        "routines on MariaDB and MySQL": (len(files(mysql, "routine")), 206),
        "lines of routines' code": (_lines([*files(postgresql, "routine"), *files(mysql, "routine")]), 14475),
        f"lines over {WIDTH} wide": (sum(map(_wide, LIVE.rglob("*.sql"))), 0),
        "routines without a twin": (len(names[0] ^ names[1]), 59),
        "lines frozen": (_lines(frozen), 17221),
    }


def main() -> int:
    """Print the measures; returns 1 where one is past what it may be."""
    status = 0
    for what, (found, most) in measures().items():
        print(f"{what:32}{found:8,}   at most {most:,}{'' if found <= most else '   TOO MANY'}")
        status |= found > most
    return status


if __name__ == "__main__":
    sys.exit(main())
