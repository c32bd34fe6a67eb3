"""A replica of MySQL takes over for a source that waits for it: semi-synchronous replication."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pymysql
import pytest

from pyqueue_sql import Queue, QueueError
from pyqueue_sql.calls.connect import connect
from tests.faults.restarts import SAFE, Mysql, make_database
from tests.servers.binaries import UnavailableError, on_path, unpacked
from tests.servers.starting import throw_away
from tests.worker.helpers import until

if TYPE_CHECKING:
    from tests.faults.restarts import Restartable
    from tests.servers import Running

pytestmark = [pytest.mark.long, pytest.mark.servers("mysql")]

HELD = 5
PUSHED = 200
WAITS_MS = 600_000
"""How long the source waits for the replica before it goes on without it."""
COMMON = ("--gtid-mode=ON", "--enforce-gtid-consistency=ON")
SOURCE = ("--plugin-load-add=semisync_source.so",)
REPLICA = ("--plugin-load-add=semisync_replica.so", "--loose-rpl-semi-sync-replica-enabled=1")


def start(number: int, settings: tuple[str, ...]) -> Running:
    """Start a server with an id."""
    try:
        binaries = on_path("mysql")
    except UnavailableError:
        binaries = unpacked("mysql")
    return throw_away("mysql", binaries, (*SAFE, *COMMON, *settings, f"--server-id={number}"))


def run(url: str, *texts: str) -> list[tuple[object, ...]]:
    """Run statements, and return what the last one answers."""
    with connect(url) as connection, connection.cursor() as cursor:
        for text in texts:
            cursor.execute(text.encode())
        return list(cursor.fetchall())


def test_nothing_that_was_acknowledged_is_gone_when_the_replica_takes_over(server_name: str) -> None:
    assert server_name == "mysql"
    with ExitStack() as stack:
        source, replica = start(9, SOURCE), start(2, REPLICA)
        stack.callback(replica.stop)
        stack.callback(source.stop)
        there = urlsplit(source.url)
        # by now: it would wait with what it does at its start
        run(
            source.url,
            f"set global rpl_semi_sync_source_timeout = {WAITS_MS}",
            "set global rpl_semi_sync_source_enabled = on",
        )
        run(
            replica.url,
            f"change replication source to source_host = '127.0.0.1', source_port = {there.port},"
            f" source_user = '{there.username}', source_password = '{unquote(there.password or '')}',"
            " source_auto_position = 1, get_source_public_key = 1",
            "start replica",
        )
        clients = "show global status like 'Rpl_semi_sync_source_clients'"
        until(lambda: run(source.url, clients)[0][1] == "1")
        url = make_database(source.url, "queue")
        with connect(url) as connection:
            queue = Queue(connection)
            queue.push_many("mail", [{"key": f"held{n}", "payload": n} for n in range(HELD)])
            receipts = [one.receipt for one in queue.reserve("mail", "w", HELD)]
        pushed = list[str]()

        def push() -> None:
            with connect(url) as connection:
                number = 0
                while True:
                    try:
                        Queue(connection).push("mail", f"{number}", number)
                    except (QueueError, pymysql.Error):  # the source is gone
                        return
                    pushed.append(f"{number}")
                    number += 1

        thread = threading.Thread(target=push)
        thread.start()
        until(lambda: len(pushed) >= PUSHED)
        source.stop()
        thread.join()
        received = (
            "select count(*) from performance_schema.replication_applier_status_by_worker w"
            " where w.applying_transaction <> ''"
        )
        run(replica.url, "stop replica io_thread")
        until(lambda: "has read all relay log" in f"{run(replica.url, 'show processlist')}")
        until(lambda: run(replica.url, received) == [(0,)])
        run(replica.url, "stop replica", "reset replica all")
        with connect(f"{replica.url}/queue") as connection:
            queue = Queue(connection)
            assert {one.outcome for one in queue.ack_many(receipts)} == {"acked"}
            queue.push("mail", "last", 1)
            found = [one.key for one in queue.pop("mail", 10 * len(pushed))]
        # one more may be there, whose push nobody heard of
        assert found in ([*pushed, "last"], [*pushed, f"{len(pushed)}", "last"])


def test_a_group_with_several_primaries_has_workers_by_heartbeat_alone(restarted: Restartable) -> None:
    assert isinstance(restarted, Mysql)
    url = restarted.database("primaries")
    with connect(url) as connection:
        assert Queue(connection).heartbeat("w", session=True).expires_at is None
    restarted.change(
        ("--plugin-load-add=group_replication.so", "--loose-group-replication-single-primary-mode=OFF")
    )
    with connect(url) as connection:
        assert Queue(connection).heartbeat("w", session=True).expires_at is not None
