"""The extension for PostgreSQL, made of the frozen SQL: `python -m tools.extension` writes it to dist/.

Its version is that of the package. The script of a version is the SQL of its revision; an update is the
changes of the tables between two revisions and the routines of the newer one. `releases.json` beside the
frozen SQL says which release has which revision. `--pg-tle` prints the same for a server with pg_tle, where
nobody may put files.
"""

from __future__ import annotations

import argparse
import email.utils
import itertools
import re
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from alembic.script import ScriptDirectory
from pglast import parse_sql
from pglast.stream import RawStream

from pyqueue_sql.schema import frozen
from pyqueue_sql.schema.release import release
from pyqueue_sql.schema.revision import VERSION_TABLE
from tools import freeze, house, surface

NAME: Final = "pyqueue_sql"
ROOT: Final = house.LIVE.parent
FILES: Final = ROOT / "packaging" / "postgresql"
DEBIAN: Final = ROOT / "packaging" / "debian"
PROGRAMS: Final = ("debian/rules", "debian/tests/create-extension")
"""The files that are executed."""
ADOPTED: Final = "unpackaged"
"""The version of an extension that has just taken over a queue."""
TIME: Final = (2000, 1, 1, 0, 0, 0)
"""Of each file in the archive, so that the same sources make the same bytes."""

HEAD: Final = """-- {about}
-- made by tools.extension of the frozen SQL; never edited
\\echo Use "{command}" to load this file. \\quit
"""

PARTS: Final = FILES / "parts"
"""What the scripts have beside the frozen SQL."""

Texts = dict[str, str]
"""The content of files, by their names."""


def versions() -> dict[str, str]:
    """Return the revision of each release and of the present version, the oldest first."""
    [head] = ScriptDirectory(str(frozen.MIGRATIONS)).get_heads()
    return {**{number: one["revision"] for number, one in freeze.released().items()}, surface.version(): head}


def revisions(after: str | None, to: str) -> list[str]:
    """Return the revisions from one to another, the oldest first.

    Args:
        after: the one that is there; None: none is.
        to: the last one.
    """
    scripts = ScriptDirectory(str(frozen.MIGRATIONS))
    return [one.revision for one in scripts.iterate_revisions(to, after or "base")][::-1]


def routines(revision: str) -> list[str]:
    """Return the statements that make the routines of a revision."""
    way = reversed(revisions(None, revision))
    return next(found for one in way if (found := frozen.statements(one, "routines")))


def part(name: str, version: str = "", revision: str = "") -> str:
    """Return what the scripts have beside the frozen SQL.

    Args:
        name: of its file.
        version: of the extension.
        revision: which it has.
    """
    text = (PARTS / f"{name}.sql").read_text(encoding="utf-8")
    return text.replace("@VERSION@", version).replace("@REVISION@", revision)


def _joined(head: str, *statements: str) -> str:
    return "\n".join([head, *(f"{text.rstrip().removesuffix(';')};\n" for text in statements)])


def install(version: str, revision: str) -> str:
    """Return the script of `create extension`.

    Args:
        version: of the extension.
        revision: which it has.
    """
    head = HEAD.format(about=f"{NAME} {version}", command=f"create extension {NAME}")
    tables = [text for one in revisions(None, revision) for text in frozen.statements(one, "up")]
    number = part("version", revision=revision)
    return _joined(head, part("not_twice"), *tables, *routines(revision), number, part("dumped"))


def update(before: tuple[str, str], after: tuple[str, str]) -> str:
    """Return the script of `alter extension … update` from a version to the next.

    Args:
        before: the version that is there, and its revision.
        after: the next one, and its revision.
    """
    about = f"{NAME} {before[0]} to {after[0]}"
    head = HEAD.format(about=about, command=f"alter extension {NAME} update")
    if before[1] == after[1]:
        return f"{head}\n-- the SQL is the same\n"
    tables = [text for one in revisions(before[1], after[1]) for text in frozen.statements(one, "up")]
    news = routines(after[1])
    revision = f"update {VERSION_TABLE} set version_num = '{after[1]}'"
    return _joined(head, *tables, *in_the_way(routines(before[1]), news), *news, revision, part("dumped"))


def adopt(version: str, revision: str) -> Texts:
    """Return the scripts that take over a queue which something else installed.

    Args:
        version: of the extension.
        revision: the only one that is taken over.
    """
    command = f"create extension {NAME} version '{ADOPTED}'"
    head = HEAD.format(about="takes over a queue that pyqueue upgrade or install.sql made", command=command)
    check = part("adoptable", version, revision)
    ours = release(ScriptDirectory(str(frozen.MIGRATIONS)), revision, "postgresql")
    taken = part("adopt")
    for place, names in (("@RELATIONS@", {*ours.relations, VERSION_TABLE}), ("@CALLABLES@", ours.callables)):
        taken = taken.replace(place, ", ".join(sorted(names)))
    after = HEAD.format(about="all is there already", command=f"alter extension {NAME} update")
    return {
        f"{NAME}--{ADOPTED}.sql": _joined(head, check, taken, part("dumped")),
        f"{NAME}--{ADOPTED}--{version}.sql": after,
    }


def in_the_way(before: list[str], after: list[str]) -> list[str]:
    """Return the statements that drop what CREATE OR REPLACE can't replace.

    That is a function with other parameters or another result, and a view with other columns; and all views
    before such a function, because they may call it.

    Args:
        before: the statements of the older revision.
        after: those of the newer one.
    """
    made, news = _shapes(before), _shapes(after)
    changed = [name for name in made if name in news and made[name][0] != news[name][0]]
    functions = [made[name][1] for name in changed if name.startswith("function ")]
    views = [made[name][1] for name in reversed(made) if name.startswith("view ")]
    if functions:
        return [*views, *functions]
    return views if any(name.startswith("view ") for name in changed) else []


def _shapes(statements: list[str]) -> dict[str, tuple[Any, str]]:
    """Return what can't be replaced of each function and view, and the statement that drops it."""
    found: dict[str, tuple[Any, str]] = {}
    for text in statements:
        if not re.search(r"(?m)^create (?:or replace )?(?:function|view) ", text):
            continue
        node: Any = parse_sql(text)[0].stmt
        dropped = freeze.drop(text)
        assert dropped is not None
        if type(node).__name__ == "ViewStmt":
            found[f"view {node.view.relname}"] = (RawStream()(node.query), dropped)
        else:
            given = [(one.mode, one.name, RawStream()(one.argType)) for one in node.parameters or ()]
            returns = RawStream()(node.returnType) if node.returnType else None
            found[f"function {node.funcname[-1].sval}"] = ((given, returns), dropped)
    return found


def texts(known: dict[str, str]) -> Texts:
    """Return all files of the extension.

    Args:
        known: the revision of each version, the oldest first; the last one is the default.
    """
    [*older, newest] = known.items()
    version = newest[0]
    found = {
        name: (FILES / name).read_text(encoding="utf-8").replace("@VERSION@", version)
        for name in ("Makefile", "META.json", "README.md", f"{NAME}.control")
    }
    for path in sorted(one for one in DEBIAN.rglob("*") if one.is_file()):
        text = path.read_text(encoding="utf-8").replace("@VERSION@", version)
        found[f"debian/{path.relative_to(DEBIAN)}"] = text.replace("@DATE@", _date(version))
    for name in ("CHANGELOG.md", "LICENSE"):
        found[name] = (ROOT / name).read_text(encoding="utf-8")
    found[f"sql/{NAME}--{version}.sql"] = install(*newest)
    for before, after in itertools.pairwise([*older, newest]):
        found[f"sql/{NAME}--{before[0]}--{after[0]}.sql"] = update(before, after)
    return found | {f"sql/{name}": text for name, text in adopt(*newest).items()}


def _date(version: str) -> str:
    """Return the day of a release as Debian's changelog has it; before that the one of `TIME`."""
    heading = rf"(?m)^## {re.escape(version)} \((\d+)-(\d+)-(\d+)\)$"
    found = re.search(heading, surface.CHANGELOG.read_text(encoding="utf-8"))
    day = datetime(*map(int, found.groups()), tzinfo=UTC) if found else datetime(*TIME, tzinfo=UTC)
    return email.utils.format_datetime(day)


def write(folder: Path, known: dict[str, str]) -> list[Path]:
    """Write the files of the extension, and return them.

    Args:
        folder: where to.
        known: as of `texts`.
    """
    found: list[Path] = []
    for name, text in texts(known).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(_mode(name))
        found.append(path)
    return found


def _mode(name: str) -> int:
    return 0o755 if name in PROGRAMS else 0o644


def archive(folder: Path, known: dict[str, str]) -> Path:
    """Write the archive that PGXN takes, and return it.

    Args:
        folder: where to.
        known: as of `texts`.
    """
    name = f"{NAME}-{list(known)[-1]}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for file, text in sorted(texts(known).items()):
            entry = zipfile.ZipInfo(f"{name}/{file}", TIME)
            entry.external_attr = _mode(file) << 16
            made.writestr(entry, text, zipfile.ZIP_DEFLATED)
    return path


def pg_tle(known: dict[str, str]) -> str:
    """Return what installs the newest version by pg_tle.

    Args:
        known: as of `texts`.
    """
    version, revision = list(known.items())[-1]
    script = "".join(
        line for line in install(version, revision).splitlines(keepends=True) if not line.startswith("\\")
    )
    control = (FILES / f"{NAME}.control").read_text(encoding="utf-8")
    [comment] = re.findall(r"(?m)^comment = '(.*)'$", control)
    assert "$_tle_$" not in script
    return part("pg_tle", version).replace("@COMMENT@", comment).replace("@SCRIPT@", script)


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(description="Write the extension for PostgreSQL.")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder, dist/ unless given")
    parser.add_argument(
        "--pg-tle", action="store_true", help="print what installs it by pg_tle, write nothing"
    )
    args = parser.parse_args()
    known = versions()
    if args.pg_tle:
        sys.stdout.write(pg_tle(known))
        return 0
    folder = args.to / f"{NAME}-{list(known)[-1]}"
    write(folder, known)
    print(f"{folder}\n{archive(args.to, known)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
