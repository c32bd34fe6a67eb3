"""Checks of what is installed: its revision, and whether its routines are those of that revision."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyqueue_sql.calls.connect import is_mysql
from pyqueue_sql.doctor.findings import Check, Finding, listed
from pyqueue_sql.errors import MigrationError
from pyqueue_sql.schema import migrate

INSTALLATION = Check("installation", "client and routines have to fit each other")
ROUTINES = Check(
    "routines", "a routine that somebody changed does something else than this documentation says"
)
FUNCTIONS = Check(
    "functions",
    "without them a SELECT can't push or reserve, and what lands in queue_inbox becomes a message only with"
    " the next reserve or tick",
)
UPGRADE = "pyqueue upgrade"
NEWER = "install the version of pyqueue_sql that it comes from, or a newer one"
OF_AN_EXTENSION = "alter extension pyqueue_sql update"


def installation(url: str, schema: str | None) -> Iterable[Finding]:
    """Whether a queue is there, and of which revision."""
    there, newest = migrate.current(url, schema=schema), migrate.newest()
    if there is None:
        yield INSTALLATION.error(
            "no queue is installed here by pyqueue upgrade", f"{UPGRADE}, or say --schema"
        )
    elif migrate.is_newer(there):
        yield INSTALLATION.warning(f"revision {there}; this version of pyqueue has {newest}", NEWER)
    elif there != newest:
        how = OF_AN_EXTENSION if migrate.extension(url, schema=schema) else UPGRADE
        yield INSTALLATION.warning(f"revision {there}; this version of pyqueue has {newest}", how)
    else:
        yield INSTALLATION.ok(f"revision {there}, the newest")


def routines(url: str, schema: str | None) -> Iterable[Finding]:
    """Whether routines, tables and views are those of the revision."""
    try:
        found = migrate.differing(url, schema=schema)
    except MigrationError as error:
        there = migrate.current(url, schema=schema)
        newer = there is not None and migrate.is_newer(there)
        yield ROUTINES.unknown(str(error), NEWER if newer else "run the doctor as the owner of the queue")
        return
    if found:
        if migrate.extension(url, schema=schema):
            how = "load them again from the script of the extension, as its owner"
        else:
            how = f"{UPGRADE} makes all of them again; no message is touched"
        yield ROUTINES.error(listed(found), how)
    else:
        yield ROUTINES.ok("all as the revision has them")


def functions(url: str, schema: str | None) -> Iterable[Finding]:
    """What a MariaDB or MySQL server refused to install."""
    if not is_mysql(url):
        return
    if found := migrate.left_out(url, schema=schema):
        yield FUNCTIONS.note(
            f"left out by the server: {listed(found)}",
            f"set global log_bin_trust_function_creators = 1, then {UPGRADE}; CALL works without",
        )
    else:
        yield FUNCTIONS.ok("all are there")


CHECKS: tuple[tuple[Check, Callable[[str, str | None], Iterable[Finding]]], ...] = (
    (INSTALLATION, installation),
    (ROUTINES, routines),
    (FUNCTIONS, functions),
)
