"""A write that was committed, and whose answer was lost, is tried again and is there once."""

from __future__ import annotations

import contextlib
import re
import select
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from pyqueue_sql.spark.arrow import arrow_schema, pa, spark_schema
from pyqueue_sql.spark.options import WRITE, parse
from pyqueue_sql.spark.sink import Writer
from tests.conformance.steps import drain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Session

COLUMNS = "p_kind text, payload text"


COUNT = 20


@contextmanager
def cut(url: str, statement: str) -> Iterator[tuple[str, list[bytes]]]:
    """Give a URL whose connection is cut, once, before the answer to a statement, and what was kept back.

    Args:
        url: of the database.
        statement: a regular expression.
    """
    if url.startswith("mysql"):
        url += "&ssl_disabled=true" if "?" in url else "?ssl_disabled=true"  # encrypted by default
    parts = urlsplit(url)
    kept_back: list[bytes] = []

    def relay(client: socket.socket) -> None:
        found = False
        with client, socket.create_connection((parts.hostname, parts.port)) as server:
            while True:
                for one in select.select([client, server], [], [])[0]:
                    said = one.recv(65536)
                    if not said:
                        return
                    if one is client:
                        found = found or (not kept_back and bool(re.search(statement.encode(), said.lower())))
                        server.sendall(said)
                    elif found:
                        kept_back.append(said)
                        return
                    else:
                        client.sendall(said)

    def listen(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                threading.Thread(target=relay, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, args=(listener,), daemon=True).start()
        yield url.replace(f":{parts.port}/", f":{listener.getsockname()[1]}/"), kept_back
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("atomic", "statement"),
    [("task", "commit(?!ted)"), ("job", "commit(?!ted)"), ("job", "queue_stage_publish")],
)
def test_a_write_whose_answer_is_lost_is_there_once(
    queue: Session, where: dict[str, str], atomic: str, statement: str
) -> None:
    rows = pa.record_batch(
        [["mail"] * COUNT, [f'{{"n": {n}}}' for n in range(COUNT)]], schema=arrow_schema(COLUMNS)
    )
    with cut(where["url"], statement) as (url, kept_back):
        options = parse({"url": url, "atomic": atomic, "reconnect_seconds": "20"}, WRITE)
        writer = Writer(options, spark_schema(COLUMNS))
        writer.commit([writer.write(iter([rows]))])
    assert kept_back
    assert sorted(one.payload["n"] for one in drain(queue, "mail")) == list(range(COUNT))
