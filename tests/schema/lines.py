"""What waits in lines when a release comes that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyqueue_sql import Queue


def stand(queue: Queue[Any]) -> dict[str, str]:
    """Have messages wait behind held ones, by order key and by semaphore; return the receipts by kind."""
    for number in range(3):
        queue.push("orders", f"{number}", number, order_key="a")
    queue.push("orders", "late", 3, order_key="a", delay_seconds=3600)
    queue.semaphore("printer", 1)
    for number in range(3):
        queue.push("prints", f"{number}", number, semaphores=["printer"])
    held = {kind: queue.reserve(kind, "w")[0].receipt or "" for kind in ("orders", "prints")}
    for kind in held:
        assert queue.reserve(kind, "w") == []
    return held


def check_delivered(queue: Queue[Any], held: dict[str, str]) -> None:
    """Check that the others are delivered, the delayed one but scheduled, and that the held ones end."""
    for kind, receipt in held.items():
        assert [message.key for message in queue.reserve(kind, "w", 10)] == ["1", "2"]
        assert queue.ack(receipt).outcome == "acked"
    [late] = [message for message in queue.peek("orders") if message.state == "scheduled"]
    assert late.key == "late"
