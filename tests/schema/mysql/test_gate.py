"""A call that fails where it waits for an upgrade, at `queue_gate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from tests.schema.mysql.catalogs import run
from tests.schema.mysql.world import call
from tests.servers.databases import open_connection

if TYPE_CHECKING:
    from pymysql.connections import Connection

pytestmark = pytest.mark.servers("mariadb", "mysql")

CALLS: dict[str, list[Any]] = {
    "queue_push": ["mail", "a", "1", None],
    "queue_wait": ['"mail"', 0],
    "queue_peek": ["mail", 1, None],
    "queue_pop": ["mail", 1, None],
    "queue_ack": ["1-" + "0" * 32, None],
}


@pytest.mark.parametrize("routine", CALLS)
def test_what_comes_after_a_call_that_failed_at_the_gate_is_kept(
    connection: Connection[Any], url: str, routine: str
) -> None:
    with open_connection(url) as upgrade, open_connection(url) as session:
        run(session, "set session lock_wait_timeout = 1")
        run(upgrade, "lock tables queue_gate write")
        with pytest.raises(pymysql.Error, match="Lock wait timeout"):
            call(session, routine, *CALLS[routine])
        run(upgrade, "unlock tables")
        call(session, "queue_push", "mail", "b", "1", None)
    assert len(call(connection, "queue_pop", "mail", 9, None)) == 1
