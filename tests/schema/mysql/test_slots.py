"""A message that names semaphores, where a reserve has read its kind before that was marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.steps import keys

if TYPE_CHECKING:
    from tests.conformance.harness import Clock, Session

pytestmark = pytest.mark.servers("mariadb", "mysql")


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("where", [None, {"a": 1}])
def test_a_reserve_that_does_not_see_the_mark_of_the_kind_takes_a_slot(
    queue: Session, most: int, where: dict[str, Any] | None
) -> None:
    queue.semaphore("s", 1)
    queue.push_many("mail", [{"key": key, "payload": {"a": 1}, "semaphores": ["s"]} for key in "ab"])
    queue.execute("update queue_kind set semaphores = false where p_kind = 'mail'")
    assert keys(queue.reserve("mail", None, most, where=where)) == ["a"]
    assert queue.reserve("mail", None, most, where=where) == []
    queue.execute("update queue_kind set semaphores = true where p_kind = 'mail'")
    assert queue.reserve("mail", None, most, where=where) == []
    assert [(one.held, one.waiting) for one in queue.semaphores()] == [(1, 1)]


def test_what_ends_on_the_way_to_it_is_counted(queue: Session, clock: Clock) -> None:
    queue.push("mail", "last", 0, priority=1, max_attempts=1)
    assert keys(queue.reserve("mail", timeout_seconds=1)) == ["last"]
    queue.semaphore("s", 1)
    queue.push("mail", "a", 0, semaphores=["s"])
    queue.execute("update queue_kind set semaphores = false where p_kind = 'mail'")
    clock.advance(2)
    assert keys(queue.reserve("mail")) == ["a"]
    stats = queue.stats("mail")[0]
    assert (stats.dead_total, stats.expired_total, stats.reserved_total) == (1, 1, 2)
