"""A server that begins each session of its users without autocommit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from tests.doctor.logins import Watched

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.servers("mariadb", "mysql")


@pytest.fixture
def turned_off(watched: Watched) -> Iterator[None]:
    """The driver isn't told of that: what the server says of itself comes before."""
    watched.execute("set global init_connect = 'set autocommit = 0'")
    yield
    watched.execute("set global init_connect = ''")


@pytest.mark.usefixtures("turned_off")
@pytest.mark.parametrize("read_committed", [False, True])
def test_what_is_answered_is_done(watched: Watched, read_committed: bool) -> None:
    kind = f"mail {read_committed}"
    with connect(watched.admin, read_committed=read_committed) as connection:
        assert Queue(connection).push(kind, "a", 1).outcome == "created"
        with connection.cursor() as cursor:  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            cursor.execute("select @@session.autocommit")
            assert cursor.fetchone() == (1,)
    [held] = watched.queue.reserve(kind)
    assert held.key == "a"
    watched.queue.ack(held.receipt)


@pytest.mark.usefixtures("turned_off")
def test_a_transaction_is_one(watched: Watched) -> None:
    with connect(watched.admin, autocommit=False) as connection:
        Queue(connection).push("mail", "a", 1)
    assert watched.queue.get("mail", "a") is None
