"""What is made of a look at a queue: metrics, rates, findings and plots, without a database."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pyqueue_sql.doctor import use
from pyqueue_sql.metrics import collector
from pyqueue_sql.overview.models import (
    Blocker,
    Dead,
    KindLook,
    Line,
    MessageLook,
    Overview,
    Past,
    Totals,
    WorkerLook,
)
from pyqueue_sql.overview.rates import Rates
from pyqueue_sql.web import life, plots

SECOND = 1_000_000
NOW = 2_000_000_000 * SECOND
KIND = KindLook("mail", False, False, 0, 0, 0, 0, 0, False, None, None, None, Totals())
WORKER = WorkerLook("w", None, NOW, NOW, 30.0, True, True)


def look(*kinds: KindLook, workers: tuple[WorkerLook, ...] = (), now: int = NOW, **more: Any) -> Any:
    """A look in which these are found."""
    seen = Overview(now, kinds, False, workers)
    return SimpleNamespace(now=lambda: now, overview=lambda **_: seen, workers=lambda _: workers, **more)


def found(check: Any, seen: Any) -> list[tuple[str, str]]:
    """The levels and texts of what a check finds."""
    return [(one.level, one.found) for one in check(seen)]


def test_every_number_of_a_look_is_its_metric() -> None:
    totals = Totals(acked=11, popped=12, nacked=13, moved=14, dead=15, expired=16, lost=17)
    kind = replace(
        KIND, paused=True, is_more=True, ready=1, scheduled=2, reserved=3, expired=4, waiting=5,
        totals=totals, oldest_ready_at=NOW - 6 * SECOND, oldest_reserved_at=NOW - 7 * SECOND,
    )  # fmt: skip
    workers = (WORKER, replace(WORKER, upkeep=False), replace(WORKER, alive=False))
    ages = (21.0, None, 22.0, 20.0)
    blockers = tuple(Blocker("session", "1", None, None, None, seconds) for seconds in ages)
    seen = Overview(NOW, (kind,), False, workers, (Line("smtp", 31, 32, 33),), blockers, Dead(41, None), True)
    families = [
        *collector._of_kinds(seen),  # pyright: ignore[reportPrivateUsage]
        *collector._of_workers(seen),  # pyright: ignore[reportPrivateUsage]
        *collector._of_semaphores(seen),  # pyright: ignore[reportPrivateUsage]
        *collector._of_server(seen),  # pyright: ignore[reportPrivateUsage]
    ]
    samples = {
        (one.name.removeprefix("pyqueue_"), *one.labels.values()): one.value
        for family in families
        for one in family.samples
    }
    states = ("ready", "scheduled", "reserved", "expired", "waiting")
    assert samples == {
        **{("messages", "mail", state): number for number, state in enumerate(states, 1)},
        ("more", "mail"): 1,
        ("paused", "mail"): 1,
        ("oldest_ready_seconds", "mail"): 6,
        ("longest_held_seconds", "mail"): 7,
        ("ended_total", "mail", "acked"): 11,
        ("ended_total", "mail", "popped"): 12,
        ("nacked_total", "mail"): 13,
        ("ended_total", "mail", "moved"): 14,
        ("ended_total", "mail", "dead"): 15,
        ("expired_total", "mail"): 16,
        ("lost_total", "mail"): 17,
        ("workers", "yes"): 2,
        ("workers", "no"): 1,
        ("upkeep_workers",): 1,
        ("semaphore_capacity", "smtp"): 31,
        ("semaphore_held", "smtp"): 32,
        ("semaphore_waiting", "smtp"): 33,
        ("oldest_transaction_seconds",): 22,
        ("dead_rows",): 41,
    }
    [oldest, _] = collector._of_server(replace(seen, sees_sessions=False))  # pyright: ignore[reportPrivateUsage]
    assert oldest.samples == []


def test_rates_are_of_what_ended_since_the_last_look() -> None:
    def at(second: int, **ended: int) -> Overview:
        kinds = tuple(
            replace(KIND, kind=kind, ready=1, totals=Totals(acked=number, nacked=1000))
            for kind, number in ended.items()
        )
        return Overview(second * SECOND, kinds, False, ())

    rates = Rates()
    rates.add(at(10, mail=100))
    rates.add(at(10, mail=200))
    assert rates.values("mail") == (), "no time has passed"
    rates.add(at(12, mail=220, sms=6))
    assert (rates.values("mail"), rates.values("sms")) == ((10.0,), (3.0,))
    rates.add(at(14, mail=2, sms=8))
    assert rates.values("mail") == (10.0, 0.0), "it was dropped meanwhile, and began again"
    assert ([*rates.ready], [*rates.ended]) == ([1, 1, 2, 2], [13.0, 1.0])


def test_a_backlog_is_what_nobody_takes_that_should_be_taken() -> None:
    old, young = NOW - (use.OLD_S + 1) * SECOND, NOW - use.OLD_S * SECOND
    waiting = replace(KIND, ready=1, oldest_ready_at=old)
    assert found(use.backlog, look(replace(waiting, oldest_ready_at=young)))[0][0] == "ok"
    assert found(use.backlog, look(replace(waiting, kind="mail.dead")))[0][0] == "ok"
    assert found(use.backlog, look(waiting)) == [
        ("warning", "ready for more than 5 min: mail (for 5 min, and no living worker takes it)")
    ]
    there = look(waiting, workers=(replace(WORKER, alive=False), replace(WORKER, kinds=("mail",))))
    assert found(use.backlog, there) == [("warning", "ready for more than 5 min: mail (for 5 min)")]
    paused = replace(waiting, paused=True)
    assert [level for level, _ in found(use.backlog, look(paused))] == ["ok", "note"]
    assert [level for level, _ in found(use.backlog, look(replace(paused, ready=0)))] == ["ok"]


def test_what_is_held_for_too_long() -> None:
    for seconds, level in ((use.HELD_S, "ok"), (use.HELD_S + 1, "warning")):
        kind = replace(KIND, oldest_reserved_at=NOW - seconds * SECOND)
        assert found(use.held, look(kind, KIND))[0][0] == level


def test_upkeep_is_done_by_the_living_that_do_it() -> None:
    dead, idle = replace(WORKER, alive=False), replace(WORKER, upkeep=False)
    assert found(use.upkeep, look(workers=(dead, idle))) == [
        ("warning", "no registered worker that is alive does it (1 without upkeep)")
    ]
    assert found(use.upkeep, look(workers=(dead, idle, WORKER))) == [
        ("ok", "1 living workers do it or would")
    ]
    assert found(use.workers, look(workers=(dead, idle))) == [
        ("warning", "without a heartbeat, and not freed: w")
    ]
    assert found(use.workers, look(workers=(idle,))) == [("ok", "1 registered, all alive")]


@pytest.mark.parametrize(
    ("ahead", "level"), [(0, "ok"), (1.9, "ok"), (-1.9, "ok"), (2.1, "warning"), (-2.1, "warning")]
)
def test_clocks(ahead: float, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW / SECOND)
    [(found_level, text)] = found(use.clock, look(now=NOW + round(ahead * SECOND)))
    assert found_level == level
    assert level == "ok" or f"{'ahead of' if ahead > 0 else 'behind'} the clock" in text


def test_dead_letters_are_worse_where_they_are_new() -> None:
    def said(**kinds: tuple[int, int]) -> list[tuple[str, str]]:
        since = list[int]()

        def dead_letters(kind: str, at: int) -> tuple[int, int]:
            since.append(at)
            return kinds[kind]

        more = {"dead_letter_kinds": lambda: list(kinds), "dead_letters": dead_letters}
        answer = found(use.dead_letters, look(**more))
        assert {*since} <= {NOW - use.NEW_S * SECOND}
        return answer

    assert said(a=(0, 0)) == [("ok", "there is none")]
    assert said(a=(3, 0), b=(0, 0)) == [("note", "none is new; older ones are in a (3)")]
    assert said(a=(3, 0), b=(5, 2)) == [("warning", "new in the last 60 min: b (2 new, 5 in all)")]
    assert said(a=(use.AT_MOST, 1))[0][1].endswith(f"a (1 new, {use.AT_MOST} or more in all)")


def test_the_life_of_a_dead_letter_is_told_in_its_order_and_each_failure_once() -> None:
    errors = ({"at": 3, "attempt": 1, "by": "w", "error": "no"}, {"at": 6, "attempt": 2, "error": "never"})
    before = Past(7, "dead", "mail.dead", 1, 5, 6, 2, "w", errors)
    now = MessageLook(
        "mail.dead", "k", "ready", 8, 0, 6, 6, None, 0, None, None, "mail", "k", None, None, errors
    )
    assert [(one.at, one.what, one.text, one.error) for one in life.steps(now, [before], "k")] == [
        (1, "created", "came into the kind", None),
        (3, "failed", "delivery 1 failed, with w", "no"),
        (5, "held", "taken by w", None),
        (6, "failed", "delivery 2 failed, with somebody", "never"),
        (6, "dead", "dead after 2 deliveries to", None),
        (6, "created", "came into the kind as a dead letter of", None),
        (6, "due", "due", None),
    ]
    alone = life.steps(now, [], "k")  # the history of its kind is gone, or never was
    assert [one.what for one in alone] == ["failed", "failed", "created", "due"]


def test_a_line_is_as_high_as_the_plot_and_flat_where_nothing_happens() -> None:
    assert plots.line([1.0], 100, 22) is None
    assert plots.line([0.0, 2.0, 1.0], 100, 22) == plots.Line("0.0,21.0 50.0,1.0 100.0,11.0", 2, 1)
    assert plots.line([0.0, 0.0], 100, 22) == plots.Line("0.0,21.0 100.0,21.0", 0, 0)
