"""Messages stay in their order though the server that numbers them comes back as another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect
from tests.faults.restarts import Mysql

if TYPE_CHECKING:
    from tests.faults.restarts import Restartable

pytestmark = [pytest.mark.slow, pytest.mark.servers("mariadb", "mysql")]

LONG_AGO = 1_700_000_000_000_000
IDS = (9, 2, 200, 127, 128)
"""Of the server, one after another; UUID_SHORT() begins with them, and loses its sign from 128 on."""


@pytest.mark.long
def test_a_server_with_another_id_goes_on_behind_what_is_there(restarted: Restartable) -> None:
    assert isinstance(restarted, Mysql)
    url = restarted.database("numbers")
    for number in IDS:
        restarted.change((f"--server-id={number}",))
        with connect(url) as connection:
            queue = Queue(connection)
            queue.push("lined", f"{number}", 1, scheduled_at=LONG_AGO, order_key="o")
            queue.push("tied", f"{number}", 1, scheduled_at=LONG_AGO)
    expected = [str(number) for number in IDS]
    with connect(url) as connection:
        queue = Queue(connection)
        assert [queue.pop("lined", 1)[0].key for _ in IDS] == expected
        assert [one.key for one in queue.pop("tied", len(IDS))] == expected
