"""When a worker reaps, ticks and prunes, by a clock of the test's own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pymysql
import pytest

from pyqueue_sql import Reaped, Refused
from pyqueue_sql.worker import upkeep
from pyqueue_sql.worker.upkeep import (
    PRUNE_ROWS,
    PRUNE_SECONDS,
    REAP_SECONDS,
    REFUSED_SECONDS,
    SOON_SECONDS,
    TICK_SECONDS,
    Upkeep,
)

if TYPE_CHECKING:
    from collections.abc import Callable

HEARTBEAT_SECONDS = 30.0


class World:
    """A queue, the link to it, and the keeper that knows whose turn it is."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.asked = 0
        self.called: Counter[str] = Counter()
        self.pruned = 0
        self.refuses = False
        self.dead: list[Reaped] = []
        self.reopened_at = float("-inf")
        self.link = self
        self.is_asked = True
        self.heartbeat_seconds = HEARTBEAT_SECONDS

    def monotonic(self) -> float:
        self.asked += 1
        return self.now

    async def call(self, work: Callable[[Any], Any]) -> Any:
        return work(self)

    def reap(self) -> list[Reaped]:
        self.called["reap"] += 1
        return self.dead

    def tick(self) -> None:
        self.called["tick"] += 1
        if self.refuses:
            raise Refused("not now")

    def prune(self, _: int) -> int:
        self.called["prune"] += 1
        return self.pruned

    async def after(self, seconds: float) -> dict[str, int]:
        """Return what is called until so much later, at once."""
        self.called.clear()
        self.now += seconds
        before = self.asked
        while self.asked < before + 10:
            await asyncio.sleep(0)
        return dict(self.called)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(upkeep, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(upkeep, "time", SimpleNamespace(monotonic=world.monotonic))
    return world


def run(world: World, *steps: tuple[float, dict[str, int]], keeper: Any = None) -> None:
    """Let a worker do its upkeep, and compare what it calls after each step."""

    async def all_() -> None:
        link: Any = world
        task = asyncio.create_task(Upkeep(keeper or link, link).run())
        for seconds, called in steps:
            assert await world.after(seconds) == called
        task.cancel()

    asyncio.run(all_())


def test_each_duty_has_its_time(world: World) -> None:
    run(
        world,
        (0, {"reap": 1, "tick": 1, "prune": 1}),
        (REAP_SECONDS / 2, {}),
        (REAP_SECONDS / 2, {"reap": 1}),
        (TICK_SECONDS, {"reap": 1, "tick": 1}),
        (PRUNE_SECONDS * 0.7, {"reap": 1, "tick": 1}),
        (PRUNE_SECONDS * 0.3, {"reap": 1, "tick": 1, "prune": 1}),
    )


def test_while_there_is_much_to_prune_it_goes_on_soon(world: World) -> None:
    world.pruned = PRUNE_ROWS
    run(
        world,
        (0, {"reap": 1, "tick": 1, "prune": 1}),
        (SOON_SECONDS / 2, {}),
        (PRUNE_SECONDS / 2, {"reap": 1, "tick": 1, "prune": 1}),
    )


def test_nobody_does_it_who_is_not_asked(world: World) -> None:
    world.is_asked = False
    run(world, (0, {}), (PRUNE_SECONDS, {}))


def test_what_is_refused_is_tried_again_later_and_said_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.refuses = True
    with caplog.at_level(logging.WARNING, "pyqueue_sql"):
        run(
            world,
            (0, {"reap": 1, "tick": 1, "prune": 1}),
            (REFUSED_SECONDS * 0.7, {"reap": 1}),
            (REFUSED_SECONDS * 0.3, {"reap": 1, "tick": 1, "prune": 1}),
        )
    assert caplog.messages == ["tick: not now"]


@pytest.mark.parametrize("whose", ["its own", "the keeper's"])
def test_who_lost_a_connection_gives_others_time_to_come_back(
    world: World, caplog: pytest.LogCaptureFixture, whose: str
) -> None:
    world.dead = [Reaped("gone", 3)]
    keeper = None
    if whose == "its own":
        world.reopened_at = world.now
    else:
        link = SimpleNamespace(reopened_at=world.now)
        keeper = SimpleNamespace(is_asked=True, heartbeat_seconds=HEARTBEAT_SECONDS, link=link)
    with caplog.at_level(logging.WARNING, "pyqueue_sql"):
        run(
            world,
            (0, {"tick": 1, "prune": 1}),
            (HEARTBEAT_SECONDS - 0.1, {"tick": 1}),
            keeper=keeper,
        )
        assert caplog.messages == []
        run(world, (0.2, {"reap": 1, "tick": 1, "prune": 1}), keeper=keeper)
    assert caplog.messages == ["worker gone is gone"]


@pytest.mark.parametrize("passes", [True, False])
def test_what_passes_by_itself_is_no_refusal(passes: bool) -> None:
    """It is for the link to try again, on another connection maybe."""
    error = pymysql.err.OperationalError(2013 if passes else 1370, "no")

    def work(_: object) -> float:
        raise error

    duty = upkeep._Duty("prune", work)  # pyright: ignore[reportPrivateUsage]
    queue: Any = None
    with pytest.raises(pymysql.err.OperationalError) if passes else contextlib.nullcontext():
        assert duty.attempt(queue) == (upkeep.REFUSED_SECONDS, "no")


@pytest.mark.parametrize("number", [1205, 1213], ids=["a lock that did not come", "a deadlock"])
def test_what_the_server_gave_up_for_others_again_and_again_waits(number: int) -> None:
    """Made again by the link it would keep the other duties waiting, a minute each time."""

    def work(_: object) -> float:
        raise pymysql.err.OperationalError(number, "no")

    duty = upkeep._Duty("prune", work)  # pyright: ignore[reportPrivateUsage]
    queue: Any = None
    assert duty.attempt(queue) == (upkeep.GIVEN_UP_SECONDS, "no")
