"""Kinds that live on servers of their own: one on PostgreSQL, another on MariaDB or MySQL."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from examples.homes.homes import Homes, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conformance.harness import Harness

pytestmark = pytest.mark.servers("mariadb", "mysql")


@pytest.fixture
def homes(database_url: str, harness: Harness) -> Iterator[Homes]:
    """Orders live on PostgreSQL, mail on the other server."""
    opened = Homes({None: database_url, "mail": harness.url})
    yield opened
    opened.close()


def total(homes: Homes, kind: str) -> int:
    """Return how many messages of a kind there are at its home."""
    return sum(one.total for one in homes.of(kind).stats(kind))


def test_a_message_goes_from_one_server_to_another(homes: Homes) -> None:
    homes.of("orders").push("orders", "o1", {"n": 1}, priority=3, headers={"lang": "fr"})
    homes.of("orders").push_bytes("orders", "o2", b"\x00\xff")
    for message in homes.of("orders").reserve("orders", max_messages=2):
        assert homes.forward(message, "mail").outcome == "acked"
    assert total(homes, "orders") == 0
    assert not homes.of("orders").stats("mail")  # the other server has it
    first, second = homes.of("mail").reserve("mail", max_messages=2)
    assert (first.key, first.payload, first.priority, first.headers) == ("o1", {"n": 1}, 3, {"lang": "fr"})
    assert (second.key, second.payload_bytes) == ("o2", b"\x00\xff")


def test_within_a_home_it_is_a_move(homes: Homes) -> None:
    homes.of("orders").push("orders", "o1", {"n": 1})
    [message] = homes.of("orders").reserve("orders")
    assert homes.forward(message, "packed").outcome == "moved"
    assert (total(homes, "orders"), total(homes, "packed")) == (0, 1)


@pytest.mark.parametrize("done_there", [False, True])
def test_who_dies_between_the_push_and_the_ack_sends_it_again_and_it_is_there_once(
    homes: Homes, monkeypatch: pytest.MonkeyPatch, done_there: bool
) -> None:
    homes.of("mail").define("mail", dedup_seconds=3600)
    homes.of("orders").push("orders", "o1", {"n": 1})
    [message] = homes.of("orders").reserve("orders")
    with monkeypatch.context() as patch:
        patch.setattr(homes.of("orders"), "ack", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            homes.forward(message, "mail")
    if done_there:
        assert len(homes.of("mail").pop("mail")) == 1
    homes.of("orders").nack(message.receipt)  # as its timeout does
    [again] = homes.of("orders").reserve("orders")
    assert homes.forward(again, "mail").outcome == "acked"
    assert (total(homes, "orders"), total(homes, "mail")) == (0, 0 if done_there else 1)


@pytest.mark.parametrize("count", [2, 8])
def test_a_key_has_one_part_and_parts_are_of_a_size(count: int) -> None:
    keys = [f"order/{number}" for number in range(8000)]
    parts = Counter(part_of("mail", key, count) for key in keys)
    assert sorted(parts) == [f"mail-{number}" for number in range(count)]
    assert max(parts.values()) < 1.2 * len(keys) / count
