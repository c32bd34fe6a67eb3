"""pgmq over one connection of psycopg: read and delete, each a statement.

arguments: install, 0 | enqueue | delay | work, COUNT, messages a call
"""

import importlib.resources

import psycopg
from psycopg.types.json import Jsonb

from bench.peers.clients import protocol


def enqueue(connection: psycopg.Connection, count: int, batch: int, delay_seconds: int = 0) -> None:
    """Send messages."""
    for start in range(0, count, batch):
        payloads = [Jsonb({"n": number}) for number in range(start, min(start + batch, count))]
        connection.execute(
            "select count(*) from pgmq.send_batch('bench', %s::jsonb[], %s::int)", (payloads, delay_seconds)
        )


def work(connection: psycopg.Connection, count: int, batch: int) -> None:
    """Read and delete messages."""
    while count > 0:
        rows = connection.execute(
            "select msg_id, message from pgmq.read('bench', 300, %s)", (batch,)
        ).fetchall()
        connection.execute(
            "select count(*) from pgmq.delete('bench', %s::bigint[])", ([row[0] for row in rows],)
        )
        if not rows:
            raise RuntimeError(f"{count} messages didn't come")
        count -= len(rows)


def main() -> None:
    count, batch = int(protocol.COUNT), int([*protocol.REST, 0][0])
    with psycopg.connect(protocol.URL, autocommit=True) as connection:
        if protocol.OPERATION == "install":
            connection.execute(
                importlib.resources.files("pgmq").joinpath("sql/pgmq.sql").read_text().encode()
            )
            connection.execute("select pgmq.create('bench')")
        protocol.ready()
        if protocol.OPERATION in ("enqueue", "delay"):
            enqueue(connection, count, batch, 3600 if protocol.OPERATION == "delay" else 0)
        elif protocol.OPERATION == "work":
            work(connection, count, batch)
        protocol.done()


if __name__ == "__main__":
    main()
