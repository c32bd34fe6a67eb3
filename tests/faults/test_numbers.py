"""Messages stay in their order though the server that numbers them comes back as another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from pyqueue_sql import Queue
from pyqueue_sql.connect import connect
from tests.faults.restarts import Mysql
from tests.servers.starting import UnavailableError

pytestmark = pytest.mark.slow

LONG_AGO = 1_700_000_000_000_000
IDS = (9, 2, 200, 127, 128)
"""Of the server, one after another; UUID_SHORT() begins with them, and loses its sign from 128 on."""


@pytest.fixture(params=["mariadb", "mysql"])
def server(request: pytest.FixtureRequest) -> Iterator[Mysql]:
    with contextlib.ExitStack() as stack:
        try:
            server = Mysql(request.param)
        except UnavailableError as error:
            pytest.skip(str(error))
        stack.callback(server.stop)
        yield server


def test_a_server_with_another_id_goes_on_behind_what_is_there(server: Mysql) -> None:
    url = server.database("numbers")
    for number in IDS:
        server.change((f"--server-id={number}",))
        with connect(url) as connection:
            queue = Queue(connection)
            queue.push("lined", f"{number}", 1, scheduled_at=LONG_AGO, order_key="o")
            queue.push("tied", f"{number}", 1, scheduled_at=LONG_AGO)
    expected = [str(number) for number in IDS]
    with connect(url) as connection:
        queue = Queue(connection)
        assert [queue.pop("lined", 1)[0].key for _ in IDS] == expected
        assert [one.key for one in queue.pop("tied", len(IDS))] == expected
