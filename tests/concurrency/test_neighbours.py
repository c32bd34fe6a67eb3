"""A call for one kind locks nothing of another, wherever the two lie side by side in an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.steps import keys, outcomes, receipts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.fixtures import Connect
    from tests.conformance.harness import Session

CALLS: dict[str, Callable[[Session], object]] = {
    "reserve": lambda session: session.reserve("a"),
    "reserve many": lambda session: session.reserve("a", None, 5),
    "reserve where": lambda session: session.reserve("a", None, 5, where={"n": 1}),
    "next": lambda session: session.next([], "a", None, 5),
    "pop": lambda session: session.pop("a", 5),
    "remove": lambda session: session.remove("a", "z"),
    "purge": lambda session: session.purge("a"),
}


@pytest.mark.parametrize("there", [0, 1, 2])
@pytest.mark.parametrize("call", CALLS)
def test_a_kind_is_left_to_others_by_an_open_transaction_of_its_neighbour(
    queue: Session, connect: Connect, call: str, there: int
) -> None:
    for key in "vw":
        queue.push("b", key, {"n": 1})
    (held,) = queue.reserve("b")
    for key in "xy":
        queue.push("b", key, {"n": 1})
    for number in range(there):
        queue.push("a", f"{number}", {"n": 1})
    neighbour = connect(autocommit=False)
    for _ in range(2):
        CALLS[call](neighbour)
    assert keys(queue.reserve("b")) == ["w"]
    assert outcomes(queue.ack_many(receipts([held]))) == ["acked"]
    assert keys(queue.pop("b", 5)) == ["x", "y"]
    assert queue.push("b", "v", 0).outcome == "created"
