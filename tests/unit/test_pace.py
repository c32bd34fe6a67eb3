"""How much a worker takes at once, and when it looks again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pyqueue_sql.worker import Handlers
from pyqueue_sql.worker.board import Board
from pyqueue_sql.worker.delivery import Delivery
from pyqueue_sql.worker.pace import MOST_AHEAD, Backoff, Pace
from pyqueue_sql.worker.watching import LOOKS_SECONDS, Watch


def test_what_is_quick_is_taken_in_ever_larger_batches() -> None:
    pace, sizes = Pace(1, 1), list[int]()
    assert pace.ahead("kind") == 0
    for _ in range(8):
        pace.got("kind", max(1, pace.ahead("kind")))
        pace.took("kind", 1e-6)
        sizes.append(pace.ahead("kind"))
    assert sizes == sorted(sizes)
    assert sizes[-1] == MOST_AHEAD


def test_what_is_slow_is_not_taken_ahead() -> None:
    pace = Pace(8, 1)
    pace.got("kind", 1000)
    pace.took("kind", 10.0)
    assert pace.ahead("kind") == 0
    pace.took("other", 0.001)
    assert pace.ahead("other") > 0


def test_what_is_taken_ahead_is_by_the_handlers_that_there_are_and_the_kinds_that_share_them() -> None:
    for slots, kinds, limit, ahead in ((8, 1, None, 40), (8, 1, 2, 10), (8, 1, 100, 40), (8, 2, None, 20)):
        pace = Pace(slots, kinds)
        pace.got("kind", 1000)
        pace.took("kind", 0.1)
        assert pace.ahead("kind", limit) == ahead


def test_what_runs_for_long_counts_before_it_ends() -> None:
    pace = Pace(1, 1)
    pace.got("kind", 1000)
    pace.took("kind", 0.0001)
    many = pace.ahead("kind")
    for _ in range(30):
        pace.takes("kind", 60.0)
    assert pace.ahead("kind") == 0 < many


def test_a_whole_batch_is_taken_ahead_as_soon_as_there_is_room_for_one_and_no_single_message() -> None:
    handlers, message = Handlers(), SimpleNamespace(kind="mail")
    handlers.on("mail", max_messages=10)(lambda message: None)  # noqa: ARG005
    board, quick, rooms = Board(handlers, 1, lambda: None), 1e-6, list[int]()
    given: Any = message
    for batch in range(4):
        board.add([Delivery(given, handlers["mail"], f"{batch}/{n}", 0.0, 0.0) for n in range(10)])
        board.pace.took("mail", quick)
        rooms.append(board.room("mail"))
    assert rooms == [10, 10, 10, 0], "41 may wait, four times the last batch and one"


def test_there_is_room_for_as_many_as_can_run_at_once() -> None:
    handlers = Handlers()
    handlers.on("few", concurrency=2)(lambda _: None)
    handlers.on("many")(lambda _: None)

    @handlers.on("coroutines")
    async def coroutine(_: object) -> None: ...

    board = Board(handlers, 6, lambda: None)

    def rooms() -> list[int]:
        return [board.room(kind) for kind in ("few", "many", "coroutines")]

    def add(kind: str) -> None:
        given: Any = SimpleNamespace(kind=kind)
        board.add([Delivery(given, handlers[kind], f"{len(board.held)}", 0.0, 0.0)])

    assert rooms() == [2, 6, 6]
    add("few")
    assert rooms() == [1, 5, 6]
    taken = board.take(False)
    assert taken is not None
    assert rooms() == [1, 5, 6]
    for kind in ("few", "many", "coroutines"):
        add(kind)
    assert rooms() == [0, 3, 5]
    board.pace.took("few", 60.0)
    assert board.take(False, taken) is not None
    assert board.room("few") == 1


def test_what_is_too_much_goes_back_from_the_end() -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    board = Board(handlers, 1, lambda: None)
    given: Any = SimpleNamespace(kind="mail")
    board.add([Delivery(given, handlers["mail"], f"{number}", 0.0, 0.0) for number in range(5)])
    board.pace.took("mail", 60.0)
    assert [one.receipt for one in board.surplus()] == ["4", "3", "2", "1"]
    first = board.take(False)
    assert first is not None and first.receipt == "0"


def test_pauses_grow_and_differ() -> None:
    pauses = [Backoff(1.0, 8.0) for _ in range(50)]
    rounds = [[one.pause() for one in pauses] for _ in range(6)]
    for number, found in enumerate(rounds):
        most = min(8.0, 2.0**number)
        assert all(0.1 * most <= one <= most for one in found)
        assert max(found) - min(found) > 0.3 * most, "they come back together"


@pytest.fixture
def watch() -> Watch:
    """One that was just found empty, at 100 seconds."""
    watch = Watch(15.0, LOOKS_SECONDS)
    assert (watch.at, watch.by_reserve) == (0.0, True)
    watch.empty(100.0)
    return watch


def test_looks_after_a_kind_was_empty(watch: Watch) -> None:
    for seconds in LOOKS_SECONDS:
        assert (watch.at, watch.by_reserve) == (100 + seconds, False)
        watch.looked(watch.at, False, None)
    assert 113 < watch.at <= 115
    assert watch.by_reserve


def test_a_message_that_falls_due_is_looked_for_then(watch: Watch) -> None:
    for _ in LOOKS_SECONDS:
        watch.looked(watch.at, False, 5.0)
    assert (watch.at, watch.by_reserve) == (106.25, False)
    watch.looked(106.25, False, 0.0)
    assert watch.at > 106.25, "it turns in a circle"
    watch.looked(107.0, True, 0.0)
    assert watch.at <= 107.0 and watch.by_reserve


def test_looking_does_not_put_off_the_poll(watch: Watch) -> None:
    now = 100.0
    while not watch.by_reserve:
        now = max(watch.at, now)
        watch.looked(now, False, 1.0)
        assert now < 116
    assert 113 < watch.at <= 115


def test_after_some_polls_in_vain_one_asks_instead(watch: Watch) -> None:
    for _ in LOOKS_SECONDS:
        watch.looked(watch.at, False, None)
    did, before = "", 100.0
    for _ in range(30):
        assert 13.4 < watch.at - before <= 15
        did, before = did + ("r" if watch.by_reserve else "l"), watch.at
        if watch.by_reserve:
            watch.empty(watch.at)
        else:
            watch.looked(watch.at, False, None)
    assert did == "rrrrrrrrl" * 3 + "rrr"


def test_a_look_in_place_of_a_poll_tells_when_the_next_message_is_due(watch: Watch) -> None:
    for _ in LOOKS_SECONDS:
        watch.looked(watch.at, False, None)
    while watch.by_reserve:
        watch.empty(watch.at)
    now = watch.at
    watch.looked(now, False, 5.0)
    assert (watch.at, watch.by_reserve) == (now + 5.0, False)
    watch.looked(watch.at, True, None)
    assert watch.by_reserve


def test_what_is_ready_and_never_comes_is_not_asked_for_all_the_time(watch: Watch) -> None:
    now, reserves = 100.0, 0
    while now < 110:
        now = max(now + 0.001, watch.at)
        if watch.by_reserve:
            reserves += 1
            watch.empty(now)
        else:
            watch.looked(now, True, None)
    assert 15 < reserves < 25, "ten until the pauses are a second long, and then one a second"
    watch.looked(now, False, None)
    watch.looked(now, True, None)
    assert (watch.at, watch.by_reserve) == (now, True), "that is ready anew"


def test_an_event_is_followed_at_once_and_one_beside_it_by_looks(watch: Watch) -> None:
    for _ in LOOKS_SECONDS:
        watch.looked(watch.at, False, None)
    watch.stir()
    assert not watch.by_reserve
    watch.hint()
    assert (watch.at, watch.by_reserve) == (0.0, True)
    watch.stir()
    assert watch.by_reserve, "it was forgotten"


def test_without_looks_there_is_the_poll() -> None:
    watch = Watch(2.0, ())
    watch.empty(10.0)
    assert 11.8 <= watch.at <= 12.0
    assert watch.by_reserve
    watch.stir()
    assert watch.at == 0.0
