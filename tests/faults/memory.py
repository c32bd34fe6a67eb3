"""A statement for which the server has no memory: nothing of it is done, and the next one goes on."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pyqueue_sql.calls.connect import connect, is_mysql
from pyqueue_sql.errors import QueueError
from tests.concurrency.crew import Outcome
from tests.conformance.harness import open_harness
from tests.faults.alone import DOCUMENTED, said
from tests.faults.promise import Size
from tests.faults.restarts import Restartable, database_of, name_of, restartable
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conformance.harness import Session

MEGABYTE: Final = 1 << 20
LIMIT_KB: Final = 500 * 1024
"""Of the address space of each process of a PostgreSQL, as `ulimit -v` sets it."""
SETTINGS: Final = {
    "postgresql": (),
    "mariadb": ("--max-session-mem-used=24M", "--max-allowed-packet=64M"),
    "mysql": (
        "--global-connection-memory-tracking=ON",
        "--connection-memory-limit=24M",
        "--max-allowed-packet=64M",
    ),
}
LARGEST: Final = {"postgresql": 90, "mariadb": 80, "mysql": 80}
"""Megabytes of a payload; half of them are within the limits."""


def no_memory(_: Restartable, url: str, __: Path, size: Size, seed: int) -> Outcome:
    """Calls with payloads that the server's limits have no room for, among those that they have."""
    name = name_of(url)
    limit = LIMIT_KB if name == "postgresql" else None
    with restartable(name, settings=SETTINGS[name], limit_kb=limit) as server:
        own = without_rights(database_of(server, "faults_no_memory"))
        return _try(own, size, seed, LARGEST[name] * MEGABYTE)


def without_rights(url: str) -> str:
    """Return the URL of a user of MariaDB or MySQL for whom its limits hold: not for its administrators."""
    if not is_mysql(url):
        return url
    password, parts = secrets.token_urlsafe(16), urlsplit(url)
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"create user small@'%' identified by '{password}'".encode())
        cursor.execute(f"grant all on {parts.path[1:]}.* to small@'%'".encode())
    return parts._replace(netloc=f"small:{password}@{parts.hostname}:{parts.port}").geturl()


def _try(url: str, size: Size, seed: int, largest: int) -> Outcome:
    chance, wrong, codes = chance_of(seed), Counter[str](), Counter[str]()
    refused = calls = ended = 0
    watching, harness = open_harness(url), open_harness(url)
    watched = watching.connect()
    while refused < size.faults:
        calls += 1
        large = "x" * chance.randrange(largest // 40, largest)
        watched.purge("k")
        watched.push_many("k", [{"key": f"{n}", "payload": n} for n in range(4)])
        held = [one.receipt for one in watched.reserve("k", None, 2, timeout_seconds=3600)]
        what = chance.choice(list(CALLS))
        session = harness.connect()  # notes in a table that it is there
        before = watching.everything()
        try:
            CALLS[what](session, large, held)
        except Exception as error:
            # what no packet has room for isn't sent
            code = error.sqlstate if isinstance(error, QueueError) else harness.refusal(error)
            if not code and not harness.is_lost(error):
                raise
            refused += 1
            codes[code or "connection lost"] += 1
            ended += not goes_on(session)
            if code and code not in DOCUMENTED:
                wrong[f"{what}: {code}, which is not documented: {error!s:.200}"] += 1
            if watching.everything() != before:
                wrong[f"{what}: refused by {code or 'the end of its session'}, and something is changed"] += 1
        else:
            if watching.everything() == before:
                wrong[f"{what} of {len(large)}: no error, and nothing is changed"] += 1
            for kind in ("k", "other"):
                for one in watched.peek(kind, 10):
                    if isinstance(one.payload, str) and len(one.payload) != len(large):
                        wrong[f"{what}: {len(large)} characters came back as {len(one.payload)}"] += 1
        harness.close()
        for kind in ("k", "other", "k.dead"):
            watched.ack_many([one.receipt for one in watched.reserve(kind, None, 100)])
        watched.ack_many(held)
        watched.purge("other")
    harness.close()
    watching.close()
    notes = [f"refused, {code}: {often}" for code, often in sorted(codes.items())]
    notes.append(f"sessions that ended with the call: {ended}")
    return Outcome(refused, calls, 0, calls, said(wrong), codes, notes)


def goes_on(session: Session) -> bool:
    """Whether a session still answers."""
    try:
        session.peek("k", 1)
    except Exception:
        return False
    return True


def _batch(session: Session, large: str, _: list[str]) -> object:
    return session.push_many("k", [{"key": "a", "payload": 1}, {"key": "b", "payload": large}, {"key": "c"}])


CALLS: Final[dict[str, Callable[[Session, str, list[str]], Any]]] = {
    "push": lambda session, large, _: session.push("k", "a", large),
    "push many": _batch,
    "replace": lambda session, large, _: session.push("k", "3", large, on_duplicate="replace"),
    "move": lambda session, large, held: session.move_many(
        [{"receipt": held[0], "to_kind": "other"}, {"receipt": held[1], "to_kind": "other", "payload": large}]
    ),
    "nack": lambda session, large, held: session.nack(held[0], payload=large),
}
