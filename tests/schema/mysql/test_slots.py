"""A message that names semaphores, where a reserve has read its kind before that was marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance.steps import keys

if TYPE_CHECKING:
    from tests.conformance.harness import Session

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
