"""Calls that are larger than a packet of MariaDB or MySQL, which hangs up on them."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import AsyncQueue, InvalidPayload, Message, Queue
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.worker import Handlers, Move
from pyqueue_sql.worker.connecting import connect_async
from tests.conformance.fixtures import PACKET
from tests.worker.helpers import PATIENCE_SECONDS

if TYPE_CHECKING:
    from tests.conformance.harness import Harness, Session
    from tests.worker.helpers import Workers

pytestmark = [pytest.mark.servers("mariadb", "mysql"), pytest.mark.usefixtures("packets")]

TOO_LARGE = "x" * PACKET
SAYS = f"max_allowed_packet of the server is {PACKET}"


def test_a_result_that_does_not_fit_is_a_failed_attempt(queue: Session, workers: Workers) -> None:
    queue.define("report", max_attempts=1, history_seconds=3600)
    handlers = Handlers()

    @handlers.on("report", keep_result=True)
    def report(message: Message) -> str:
        return TOO_LARGE if message.key == "large" else "small"

    queue.push_many("report", [{"key": key, "payload": 1} for key in ("large", "small")])
    workers.drain(handlers)
    [dead] = queue.peek("report.dead")
    assert dead.key == "large"
    assert SAYS in dead.errors[-1]["error"]
    assert {one.key: one.result for one in queue.history("report")} == {"large": None, "small": "small"}


def test_what_fits_one_by_one_moves(queue: Session, workers: Workers) -> None:
    handlers = Handlers()
    payload = "y" * (PACKET // 2)
    together = threading.Barrier(4)

    @handlers.on("first")
    def first(_: Message) -> Move:
        together.wait(PATIENCE_SECONDS)
        return Move("second", payload=payload)

    queue.push_many("first", [{"key": f"{number}", "payload": number} for number in range(4)])
    workers.drain(handlers, concurrency=4)
    assert [one.payload == payload for one in queue.peek("second")] == [True] * 4


@pytest.mark.parametrize("left", [0, 1], ids=["that fits", "that is too large by a byte"])
def test_the_largest_call(harness: Harness, left: int) -> None:
    with connect(harness.url) as connection:
        queue = Queue(connection)
        around = len("call queue_push('mail', 'a', '\\\"\\\"', '{}')")
        largest = PACKET - 2 - around
        if left:
            with pytest.raises(InvalidPayload, match=SAYS):
                queue.push("mail", "a", "z" * (largest + left))
        else:
            queue.push("mail", "a", "z" * largest)
        assert len(queue.peek("mail")) == 1 - left, "the connection is still there"


def test_it_is_refused_by_coroutines_too(harness: Harness) -> None:
    async def run() -> Any:
        connection = await connect_async(harness.url)
        try:
            queue = AsyncQueue(connection)
            await queue.push("mail", "before", 1)
            with pytest.raises(InvalidPayload, match=SAYS):
                await queue.push("mail", "large", TOO_LARGE)
            await connection.commit()
        finally:
            connection.close()

    connect(harness.url).close()  # from then on MySQL knows the password
    asyncio.run(run())
    with connect(harness.url) as connection:
        assert [one.key for one in Queue(connection).peek("mail")] == ["before"], "of the same transaction"
