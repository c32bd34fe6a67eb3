"""`pyqueue top`, by its keys: what it shows, and what it does after a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import DataTable, Static

from pyqueue_sql.overview.models import KindLook, Overview, Totals
from pyqueue_sql.overview.rates import Rates
from pyqueue_sql.top.app import Top

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.conformance.harness import Harness, Session

PATIENCE_S = 30.0


def drive(
    harness: Harness, script: Callable[[Top, Pilot[None]], Awaitable[None]], read_only: bool = False
) -> None:
    """Run the application without a terminal, and press keys."""

    async def run() -> None:
        app = Top(harness.url, None, 3600, read_only)
        async with app.run_test(size=(160, 50)) as pilot:
            await until(pilot, lambda: table(app, "kinds").row_count > 0)
            await script(app, pilot)

    asyncio.run(run())


async def until(pilot: Pilot[None], condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it doesn't come"
        await pilot.pause(0.02)


def table(app: Top, name: str) -> DataTable[Any]:
    return app.screen_stack[0].query_one(f"#{name}", DataTable)


def text(app: Top, name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Static).render())


async def messages(app: Top, pilot: Pilot[None]) -> list[list[str]]:
    """The rows of the screen of messages, which is there before they are."""
    await until(pilot, lambda: any(one.row_count for one in app.screen.query("#messages").results(DataTable)))
    return cells(app.screen.query_one("#messages", DataTable))


def cells(shown: DataTable[Any]) -> list[list[str]]:
    return [[str(cell) for cell in shown.get_row_at(row)] for row in range(shown.row_count)]


@pytest.mark.long
@pytest.mark.core("postgresql", "mariadb")
def test_it_shows_what_there_is_and_changes_it_after_a_question(harness: Harness, queue: Session) -> None:
    queue.define("bills", history_seconds=3600)
    queue.push("bills", "late", {"to": "ann"}, delay_seconds=3600)
    queue.push("bills", "b/1", {"to": "[b]bob[/b]"})
    [message] = queue.reserve("bills")
    queue.nack(message.receipt, error="no such [account]", final=True)
    queue.heartbeat("w1", kinds=["bills"], timeout_seconds=600)

    async def script(app: Top, pilot: Pilot[None]) -> None:
        assert [row[:3] for row in cells(table(app, "kinds"))] == [
            ["bills", "0", "1"],
            ["bills.dead", "1", "0"],
        ]
        assert [row[0] for row in cells(table(app, "workers"))] == ["w1"]
        assert "1 of 1 workers alive" in text(app, "summary")
        # into the dead letter
        await pilot.press("down", "enter")
        [row] = await messages(app, pilot)
        assert (row[0], row[1], row[5]) == ("b/1", "ready", "no such [account]")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query("#details"))
        assert '"to": "[b]bob[/b]"' in text(app, "details")
        assert "no such [account]" in text(app, "details")
        await pilot.press("escape", "escape")
        # back to where it came from, but not without a yes
        await pilot.press("r")
        await until(pilot, lambda: app.screen.query("#question"))
        assert "bills.dead" in text(app, "question")
        await pilot.press("n", "r", "y")
        await until(pilot, lambda: queue.peek("bills.dead") == [])
        assert {one.key for one in queue.peek("bills")} == {"b/1", "late"}
        # what waits, now
        await pilot.press("up", "enter")
        keys = [row[0] for row in await messages(app, pilot)]
        await pilot.press(*["down"] * keys.index("late"), "t", "y")
        await until(pilot, lambda: {one.state for one in queue.peek("bills")} == {"ready"})
        await pilot.press("escape", "p", "y")
        await until(pilot, lambda: queue.stats("bills")[0].paused)

    drive(harness, script)


def test_read_only_it_changes_nothing(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a", delay_seconds=3600)

    async def script(app: Top, pilot: Pilot[None]) -> None:
        await pilot.press("p", "y", "r", "y", "enter")
        await messages(app, pilot)
        await pilot.press("t", "y")

    drive(harness, script, read_only=True)
    [row] = queue.stats("mail")
    assert (row.paused, row.scheduled) == (False, 1)


def test_rates_come_of_two_looks() -> None:
    def at(second: int, acked: int) -> Overview:
        kind = KindLook("mail", False, False, 0, 0, 0, 0, 0, False, None, None, None, Totals(acked=acked))
        return Overview(second * 1_000_000, (kind,), False, ())

    rates = Rates()
    rates.add(at(10, 100))
    assert (rates.rate("mail"), rates.spark("mail")) == (None, "")
    rates.add(at(12, 120))
    rates.add(at(14, 130))
    assert (rates.rate("mail"), rates.spark("mail")) == (5.0, "█▄")
