"""A queue whose roles are there, with something secret in all that can hold it, and logins of one role."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.doctor.findings import ROLES
from pyqueue_sql.schema import migrate
from tests.servers.plugin import POOL

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "sesame-4711"


@dataclass(frozen=True)
class Watched:
    """The queue, and who looks at it."""

    url: str
    queue: Queue[Any]
    """Its owner's."""
    logins: dict[str, str]
    """URLs of logins by the one role that each has; `nobody` has none."""

    @property
    def observer(self) -> str:
        """The URL of a login with the role `queue_observer`."""
        return self.logins["queue_observer"]

    @property
    def operator(self) -> str:
        """The URL of a login with the role `queue_operator`."""
        return self.logins["queue_operator"]

    @property
    def admin(self) -> str:
        """The URL of a login with the role `queue_admin`."""
        return self.logins["queue_admin"]

    def execute(self, text: str) -> list[tuple[Any, ...]]:
        """Run a statement as the owner; returns the rows."""
        return execute(self.queue, text)


def execute(queue: Queue[Any], text: str) -> list[tuple[Any, ...]]:
    """Run a statement on the connection of a queue; returns the rows."""
    with queue.connection.cursor() as cursor:
        cursor.execute(text)
        return list(cursor.fetchall()) if cursor.description else []


@pytest.fixture(scope="module")
def kept() -> Iterator[tuple[contextlib.ExitStack, dict[str, Watched]]]:
    """What the tests of a module share on MariaDB and MySQL, where an installation takes long."""
    with contextlib.ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def watched(
    request: pytest.FixtureRequest, server_name: str, kept: tuple[contextlib.ExitStack, dict[str, Watched]]
) -> Iterator[Watched]:
    """A queue with messages in all states, a group, a schedule, a worker; `SECRET` in each of them."""
    stack, found = kept
    if server_name == "postgresql":
        with contextlib.ExitStack() as of_test:
            yield _watched(of_test, request.getfixturevalue("database_url"), server_name)
        return
    if server_name not in found:
        # roles are made by who may make them, and no other test is to find them there
        url = stack.enter_context(request.config.stash[POOL].databases[server_name].empty())
        migrate.upgrade(url)
        found[server_name] = _watched(stack, url, server_name)
    yield found[server_name]


def _watched(stack: contextlib.ExitStack, url: str, server_name: str) -> Watched:
    queue = Queue(stack.enter_context(connect(url, read_committed=True)))
    if server_name != "postgresql":
        stack.callback(lambda: execute(queue, f"drop role {', '.join(ROLES)}"))
    _furnish(queue)
    logins = {role: stack.enter_context(login(url, queue, server_name, role)) for role in (*ROLES, "nobody")}
    return Watched(url, queue, logins)


def _furnish(queue: Queue[Any]) -> None:
    inside = {"password": SECRET}
    queue.define("mail", history_seconds=3600, log_seconds=3600)
    queue.group("crew", "next", inside)
    for key in ("a", "b", "c"):
        queue.push("mail", key, inside, headers={"token": SECRET}, group="crew")
    queue.push_bytes("mail", "raw", SECRET.encode())
    queue.semaphore("smtp", 1)
    queue.push("mail", "late", inside, delay_seconds=3600, semaphores=["smtp"])
    queue.schedule("nightly", "mail", inside, every_seconds=86400, headers={"token": SECRET})
    queue.heartbeat("w1", kinds=["mail"], timeout_seconds=3600)
    held = {one.key: one for one in queue.reserve("mail", "w1", 3, timeout_seconds=3600)}
    queue.ack(held["a"].receipt, result=SECRET)
    queue.nack(held["b"].receipt, error=f"no such {SECRET}", final=True)
    queue.push("mail", "c", inside, on_duplicate="replace")  # pending, since c is held


@contextlib.contextmanager
def login(url: str, queue: Queue[Any], server_name: str, role: str, name: str | None = None) -> Iterator[str]:
    """Make a login of one role, and give its URL.

    Args:
        url: of the owner.
        queue: the owner's.
        server_name: of which server.
        role: what it is; `nobody`: nothing.
        name: of the login; None: a new one.
    """
    name, password = name or f"seen_{secrets.token_hex(4)}", secrets.token_hex(8)
    parts = urlsplit(url)
    if server_name == "postgresql":
        member = "" if role == "nobody" else f"in role {role}"
        execute(queue, f"create role {name} login password '{password}' {member}")
    else:
        execute(queue, f"create user {name} identified by '{password}'")
    if server_name != "postgresql" and role != "nobody":
        execute(queue, f"grant {role} to {name}")
        whose = "for" if server_name == "mariadb" else "to"
        execute(queue, f"set default role {role} {whose} {name}")
    try:
        yield f"{parts.scheme}://{name}:{password}@{parts.netloc.rpartition('@')[2]}{parts.path}"
    finally:
        execute(queue, f"drop {'role' if server_name == 'postgresql' else 'user'} {name}")
