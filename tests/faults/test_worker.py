"""A worker whose database goes away and comes back."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyqueue_sql import Message, Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.embedded import start_server
from pyqueue_sql.schema import migrate
from pyqueue_sql.worker import Handlers, Worker
from tests.worker.helpers import Running, until

pytestmark = pytest.mark.slow


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL gets to, whoever runs it."""
    folder = Path(tempfile.mkdtemp(prefix="pyqueue-test-"))
    folder.chmod(0o755)
    yield folder / "data"
    shutil.rmtree(folder)


def test_a_database_that_restarts_is_waited_for(folder: Path) -> None:
    handlers, seen, began = Handlers(), list[str](), list[str]()

    @handlers.on("mail")
    def send(message: Message) -> None:
        began.append(message.key)
        time.sleep(message.payload)
        seen.append(message.key)

    settings: dict[str, Any] = {"data_dir": folder}
    with start_server(**settings) as server:
        url, port = server.url, server.port
        migrate.upgrade(url)
        with connect(url) as connection:
            queue = Queue(connection)
            queue.push("mail", "before", 0)
            running = Running(Worker(url, handlers))
            until(lambda: "before" in seen)
            queue.push("mail", "during", 2)
            until(lambda: "during" in began)
    with start_server(port=port, **settings) as server, connect(server.url) as connection:
        queue = Queue(connection)
        until(lambda: queue.stats("mail")[0].acked_total == 2, 40)
        queue.push("mail", "after", 0)
        until(lambda: "after" in seen, 40)
        running.stop()
        running.join()
        assert began == ["before", "during", "after"]
        assert queue.stats("mail")[0].total == 0
