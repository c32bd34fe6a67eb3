"""`pyqueue top`, by its keys: what it shows, and what it does after a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import DataTable, Static

from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.overview.models import Blocker, KindLook, Overview, Past, Totals, WorkerLook
from pyqueue_sql.overview.rates import Rates
from pyqueue_sql.top import app as top
from pyqueue_sql.top.app import Top
from pyqueue_sql.top.screens import Details

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
@pytest.mark.core("postgresql")
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


KINDS = tuple(
    KindLook(kind, False, False, 0, 0, 0, 0, 0, False, None, None, None, Totals()) for kind in ("a", "b", "c")
)
OLD = Blocker("session", "7", "ann", "psql", "idle in transaction", 301.0)
YOUNG = Blocker("session", "8", "bob", "psql", "active", 299.0)
DEAD, ALIVE = (WorkerLook("w", None, 0, 0, 1.0, upkeep=True, alive=alive) for alive in (False, True))


def watch(
    monkeypatch: pytest.MonkeyPatch,
    looks: list[Overview | Exception],
    script: Callable[[Top, Pilot[None]], Awaitable[None]],
) -> None:
    """Run the application with an interval of 0.05 s over looks that are made up, the last one for ever."""

    @contextmanager
    def made_up(url: str, schema: str | None) -> Generator[SimpleNamespace]:
        assert (url, schema) == ("url", "app")
        seen = looks.pop(0) if len(looks) > 1 else looks[0]
        if isinstance(seen, Exception):
            raise seen
        yield SimpleNamespace(overview=lambda: seen, schedules=list[Any])

    monkeypatch.setattr(top, "open_look", made_up)

    async def run() -> None:
        app = Top("url", "app", 0.05, read_only=False)
        async with app.run_test(size=(160, 50)) as pilot:
            await script(app, pilot)

    asyncio.run(run())


def test_it_looks_again_and_again_also_after_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    away = ConnectionFailed("nobody is there")
    looks: list[Overview | Exception] = [Overview(0, KINDS[:1], False, ()), away]

    async def script(app: Top, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "no answer: nobody is there" in text(app, "summary"))
        looks[:] = [Overview(1, KINDS[:2], False, ())]
        await until(pilot, lambda: table(app, "kinds").row_count == 2)
        assert text(app, "summary").startswith("2 kinds")

    watch(monkeypatch, looks, script)


@pytest.mark.long
def test_the_cursor_stays_where_it_is_while_others_come(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Overview | Exception] = [Overview(0, KINDS[:2], False, ())]

    async def script(app: Top, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: table(app, "kinds").row_count == 2)
        await pilot.press("down")
        looks[:] = [Overview(1, KINDS, False, ())]
        await until(pilot, lambda: table(app, "kinds").row_count == 3)
        await pilot.press("p")
        await until(pilot, lambda: app.screen.query("#question"))
        assert text(app, "question").startswith("Pause b?")

    watch(monkeypatch, looks, script)


def test_the_cursor_stays_on_its_row_while_others_come_and_go_above_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b, c = KINDS
    first, second = (WorkerLook(name, None, 0, 0, 1.0, upkeep=True, alive=True) for name in ("w1", "w2"))
    looks: list[Overview | Exception] = [Overview(0, (b, c), False, (second,))]

    async def script(app: Top, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: table(app, "kinds").row_count == 2)
        await pilot.press("down")
        for at, kinds, workers, under in (
            (1, (a, b, c), (first, second), "c"),
            (2, (c,), (second,), "c"),
            (3, (a, b), (second,), "a"),  # the one that was there is gone: what stands in its place
            (4, (b, a), (first, second), "a"),
        ):
            looks[:] = [Overview(at, kinds, False, workers)]
            await until(pilot, lambda: (app._seen and app._seen.at) == at)  # noqa: B023 # pyright: ignore[reportPrivateUsage]
            for name, row in ("kinds", under), ("workers", "w2"):
                shown = table(app, name)
                assert str(shown.get_row_at(shown.cursor_row)[0]) == row, (at, name)
        await pilot.press("p")
        await until(pilot, lambda: app.screen.query("#question"))
        assert text(app, "question").startswith("Pause a?")

    watch(monkeypatch, looks, script)


def test_a_look_that_comes_back_while_it_ends_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Overview(0, KINDS, False, ())
    ended = list[bool]()

    async def script(app: Top, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: table(app, "kinds").row_count == 3)
        await pilot.press("q")
        await app._shutdown()  # pyright: ignore[reportPrivateUsage]
        for what in (app._show, app.push_screen):  # pyright: ignore[reportPrivateUsage]
            await asyncio.to_thread(app._tell, what, seen, [])  # pyright: ignore[reportPrivateUsage]
        ended.append(True)

    watch(monkeypatch, [seen], script)
    assert ended


@pytest.mark.parametrize(
    ("workers", "blockers", "said"),
    [
        ((ALIVE,), (YOUNG, OLD), "kept by session 7 (ann, psql, idle in transaction) for 5 min"),
        ((ALIVE,), (YOUNG,), None),
        ((DEAD,), (YOUNG,), "no living worker does the upkeep"),
        ((), (), "no living worker does the upkeep"),
    ],
)
def test_the_first_line_warns(
    monkeypatch: pytest.MonkeyPatch,
    workers: tuple[WorkerLook, ...],
    blockers: tuple[Blocker, ...],
    said: str | None,
) -> None:
    async def script(app: Top, pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "workers alive" in text(app, "summary"))
        _, *warnings = text(app, "summary").splitlines()
        assert len(warnings) == (said is not None)
        assert said is None or said in warnings[0]

    watch(monkeypatch, [Overview(0, KINDS, False, workers, blockers=blockers)], script)


def test_of_a_message_that_is_gone_the_history_is_shown_and_nothing_moves_the_terminal() -> None:
    past = Past(1, "acked", None, 0, 0, 86_400_000_000, 2, "w", None)
    lines = Details(None, None, [past])._lines()  # pyright: ignore[reportPrivateUsage]
    assert lines == ["The message is gone.", "", "history", "1970-01-02 00:00:00 acked, attempts 2"]
    past = Past(1, "acked\x1b[2J", None, 0, 0, 0, 2, "w", None)
    assert "\x1b" not in "".join(Details(None, None, [past])._lines())  # pyright: ignore[reportPrivateUsage]


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
