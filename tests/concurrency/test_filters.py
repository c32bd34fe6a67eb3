"""Filters with many consumers at once (row M4): each message once, whatever happens meanwhile."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.concurrency.waiting import begun
from tests.conformance.steps import keys, receipts
from tests.sample import chance_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Session

CONSUMERS = 6
MESSAGES = 240
GIVE_UP_SECONDS = 120
FILTERS: list[dict[str, Any] | None] = [
    {"two": 0}, {"two": 1}, {"three": 0}, {"three": 1, "two": 0}, {"tags": ["a"]}, {"tags": ["b"]}, None,
]  # fmt: skip


@pytest.mark.parametrize("indexed", [False, True], ids=["scanned", "indexed"])
def test_consumers_with_overlapping_filters_get_each_message_once(
    queue: Session, connect: Connect, indexed: bool
) -> None:
    queue.define("job", filter_index=indexed)
    acked: list[str] = []
    wrong: list[str] = []
    errors: list[Exception] = []
    end = time.monotonic() + GIVE_UP_SECONDS

    def payload(number: int) -> dict[str, Any]:
        return {"two": number % 2, "three": number % 3, "tags": ["a"] if number % 5 else ["b", "c"]}

    def produce(session: Session) -> None:
        try:
            for start in range(0, MESSAGES, 10):
                numbers = range(start, start + 10)
                session.push_many("job", [{"key": f"{n}", "payload": payload(n)} for n in numbers])
                # what is not held is replaced by the same, and put into the index anew
                session.push("job", f"{start}", payload(start), on_duplicate="keep_time")
        except Exception as error:
            errors.append(error)

    def consume(session: Session, seed: int) -> None:
        chance = chance_of(seed)
        try:
            while len(set(acked)) < MESSAGES and time.monotonic() < end and not errors:
                where = chance.choice(FILTERS)
                held = session.reserve("job", None, chance.choice([1, 1, 5]), where=where)
                for message, receipt in zip(held, receipts(held), strict=True):
                    wanted = {} if where is None else where
                    if any(
                        not set(value) <= set(message.payload[name])
                        if isinstance(value, list)
                        else message.payload[name] != value
                        for name, value in wanted.items()
                    ):
                        wrong.append(f"{message.payload} for {where}")
                    if chance.random() < 0.2:
                        session.nack(receipt, payload=message.payload)
                    elif session.ack(receipt).outcome == "acked":
                        acked.append(message.key)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=produce, args=[connect()])]
    threads += [threading.Thread(target=consume, args=[connect(), n]) for n in range(CONSUMERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert not wrong
    # a key that is replaced once it was acked is a new message
    assert set(acked) == {f"{n}" for n in range(MESSAGES)}
    again = [key for key in set(acked) if acked.count(key) > 1]
    assert all(int(key) % 10 == 0 for key in again)


REPLACES: dict[str, Callable[[Session], object]] = {
    "push": lambda session: session.push("job", "a", {"t": 1}, on_duplicate="replace"),
    "push_many": lambda session: session.push_many(
        "job", [{"key": "a", "payload": {"t": 1}}, {"key": "b", "payload": 0}], on_duplicate="replace"
    ),
    "publish": lambda session: session.publish("news", "a", {"t": 1}, on_duplicate="replace"),
}


@pytest.mark.parametrize("way", REPLACES)
@pytest.mark.parametrize("first", ["define", "replace"])
def test_an_index_that_comes_while_a_message_is_replaced_has_what_is_new(
    queue: Session, connect: Connect, way: str, first: str
) -> None:
    queue.subscribe("news", "job")
    queue.push("job", "a", {"t": 0})
    calls = {"define": lambda session: session.define("job", filter_index=True), "replace": REPLACES[way]}
    ahead = connect(autocommit=False)
    calls.pop(first)(ahead)
    [later] = calls.values()
    with begun(connect(), later) as running:
        ahead.commit()
        running.result()
    assert keys(queue.reserve("job", None, 1, where={"t": 0})) == []
    assert keys(queue.reserve("job", None, 1, where={"t": 1})) == ["a"]
