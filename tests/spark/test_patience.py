"""Who is waited for and for how long, what a task writes again, and who keeps the holds; without Spark."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.errors import InvalidOption
from pyqueue_sql.spark import batches, holding
from pyqueue_sql.spark.arrow import pa
from pyqueue_sql.spark.batches import Standing, patiently
from pyqueue_sql.spark.kept import Kept
from pyqueue_sql.spark.options import READ_STREAM, STREAM_PATIENCE_SECONDS, WRITE, Options, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "postgresql://127.0.0.1:1/nowhere"
AWAY = ConnectionFailed("nobody is there", away=True)
WRONG = ConnectionFailed("another password is wanted")


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, which take no time."""
    found: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: 1000 + sum(found), sleep=found.append)
    monkeypatch.setattr(batches, "time", clock)
    return found


def failing(*errors: Exception) -> Any:
    """What fails so, and then succeeds."""
    left = list(errors)

    def work(*_: object) -> str:
        if left:
            raise left.pop(0)
        return "done"

    return work


def test_a_server_that_is_away_is_waited_for_and_no_longer_than_that(slept: list[float]) -> None:
    patient = Options(URL, reconnect_seconds=30.0)
    assert patiently(patient, failing(AWAY, AWAY)) == "done"
    assert len(slept) == 2
    with pytest.raises(ConnectionFailed, match="password"):
        patiently(patient, failing(AWAY, WRONG))
    assert len(slept) == 3
    with pytest.raises(ValueError, match="ours"):
        patiently(patient, failing(ValueError("ours")))
    slept.clear()
    with pytest.raises(ConnectionFailed, match="nobody"):
        patiently(patient, failing(*[AWAY] * 1000))
    assert 25 < sum(slept) <= 30


def test_a_write_of_a_batch_waits_for_nobody_unless_it_says_so(slept: list[float]) -> None:
    assert [one.patience for one in (Options(URL), Options(URL, streams=True))] == [
        0,
        STREAM_PATIENCE_SECONDS,
    ]
    assert Options(URL, streams=True, reconnect_seconds=0.0).patience == 0
    ending = parse({"url": URL, "stream": "s", "batch": "1"}, WRITE)
    assert [parse({"url": URL}, WRITE).patience, ending.patience] == [0, STREAM_PATIENCE_SECONDS]
    with pytest.raises(ConnectionFailed):
        patiently(Options(URL), failing(AWAY))
    assert slept == []


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each connection that was opened was waited for; the ones that are closed are gone."""
    found: list[bool] = []

    @contextmanager
    def connected(_: Options, *, patient: bool) -> Iterator[object]:
        found.append(patient)
        yield object()

    monkeypatch.setattr(batches, "connected", connected)
    return found


def test_a_connection_stays_and_is_another_after_a_failure(slept: list[float], opened: list[bool]) -> None:
    options = Options(URL, reconnect_seconds=30.0)
    standing = Standing(options)
    assert [standing.do(failing()) for _ in range(3)] == ["done"] * 3
    assert opened == [False], "one that never was there isn't waited for"
    assert standing.do(failing(AWAY, AWAY)) == "done"
    assert (opened, len(slept)) == ([False, True, True], 2)
    standing.close()
    Standing(options, was_there=True).do(failing())
    assert opened[3:] == [True]


def test_what_was_written_can_be_written_again() -> None:
    given = [pa.record_batch({"n": list(range(size))}) for size in (3, 0, 2)]
    asked = list[int]()

    def once() -> Iterator[Any]:
        for one in given:
            asked.append(one.num_rows)
            yield one

    with Kept(once()) as kept:
        half = iter(kept)
        assert next(half).equals(given[0])
        for _ in range(2):
            assert [one.to_pylist() for one in kept] == [one.to_pylist() for one in given]
    assert asked == [3, 0, 2]


def test_holds_are_kept_while_the_reader_is_there_and_given_back_when_it_has_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options, extended = Options(URL, timeout_seconds=30.0), list[tuple[str, int, float]]()
    lines = [dataclasses.asdict(options), ["first", 1], 10, ["second", 2], 10, 10, None, 10, ["third", 3]]
    waits = list[float]()

    class Said:
        """What the reader has said; a number is how long it says nothing."""

        def put(self, _: str) -> None:
            pass

        def get(self, timeout: float) -> str:
            waits.append(timeout)
            said = lines.pop(0) if lines else ""
            if isinstance(said, int):
                raise holding.queue.Empty
            return json.dumps(said) if said != "" else ""

    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(lines.pop(0)) + "\n"))
    monkeypatch.setattr(holding.queue, "Queue", Said)
    monkeypatch.setattr(holding, "extend", lambda _, *given: extended.append(given))
    holding.main()
    assert extended == [("first", 1, 30), ("second", 2, 30), ("second", 2, 30), ("third", 3, 0)]
    assert {*waits} == {10}


def test_where_the_process_that_keeps_the_holds_is_killed_another_one_keeps_those_of_the_next_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = list[Any]()
    popen = holding.subprocess.Popen

    def start(*given: Any, **named: Any) -> Any:
        started.append(popen(*given, **named))
        return started[-1]

    monkeypatch.setattr(holding.subprocess, "Popen", start)
    holds = holding.Holding(Options(URL))
    try:
        holds.keep("first", 1)
        for source in ("second", "third"):
            started[-1].kill()
            started[-1].wait()
            holds.let_go()
            holds.keep(source, 1)
        assert [one.poll() is None for one in started] == [False, False, True]
    finally:
        holds.close()
    assert started[-1].returncode == 0


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("partitions", ["1", "1000"], ["0", "1001", "-1", "1.5", ""]),
        ("max_messages", ["1", "1000000"], ["0", "1000001"]),
        ("timeout_seconds", ["1", "31536000", "1.5"], ["0.9", "31536001", "nan", "soon"]),
        ("kind", ["k", "k" * 200], ["", "k" * 201]),
        ("commit", ["source", "SINK"], ["both"]),
    ],
)
def test_the_bounds_of_options(name: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        parse({"url": URL, "kind": "m", name: value}, READ_STREAM)
    for value in bad:
        with pytest.raises(InvalidOption, match=name):
            parse({"url": URL, "kind": "m", name: value}, READ_STREAM)


def test_the_bounds_of_reconnecting() -> None:
    for value, seconds in (("0", 0.0), ("86400", 86_400.0)):
        assert parse({"url": URL, "kind": "m", "reconnect_seconds": value}, WRITE).patience == seconds
    with pytest.raises(InvalidOption, match="reconnect_seconds"):
        parse({"url": URL, "kind": "m", "reconnect_seconds": "86401"}, WRITE)
