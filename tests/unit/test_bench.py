"""The bench runs and writes what it promises; no time is asserted here."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from bench import report, servers
from bench.cases import about, cases
from bench.figure import Bars, Curve, Figure
from bench.postgresql import inbox, pgbench, sides, wrapper
from bench.run import Run

ONLY_THE_BENCH_HAS = ("asyncpg", "matplotlib", "pgmq", "pgqueuer", "procrastinate")
PROMISED = {
    "postgresql": {
        "push": "push one by one",
        "push_many": "push_many of 1,000 keyed messages",
        "inbox": "inbox by COPY",
        "one_by_one": "reserve + ack one by one, against pgmq and the floor",
        "next": "queue_next, against pgmq",
        "batches": "reserve + ack in batches of 100, against pgmq and the floor",
        "snapshot": "one snapshot held open",
        "wal": "WAL bytes a message",
        "backlog": "delayed and ready messages, kinds",
        "keuss": "Keuss's scenario",
        "peers": "PgQueuer, Procrastinate, graphile-worker, pg-boss",
        "conditions": "the same and pgmq, fresh, under a snapshot, behind a million delayed",
        "wrapper": "the Python client against the driver",
    },
    "mariadb": {
        "lifecycle": "reserve + ack against plain statements",
        "next": "queue_next against plain statements",
        "push": "push_many against a plain INSERT",
        "inbox": "the inbox against LOAD DATA",
        "backlog": "the delayed backlog",
        "read_view": "an open read view",
        "redo": "redo bytes a message",
        "workers": "50 workers, no 1213",
    },
}
PROMISED["mysql"] = PROMISED["mariadb"]


def figure(ours: list[float], other: list[float], target: float | None, **more: Any) -> Figure:
    return Figure("reading", "pyqueue", "a peer", "messages/s", 8, {}, ours, other, target, **more)


@pytest.fixture
def run(database_url: str, tmp_path: Path) -> Run:
    return Run(database_url, True, 1, 0.2, tmp_path, {"synchronous_commit": "off"})


def test_the_ratio_is_of_medians_and_above_one_where_ours_is_better() -> None:
    assert figure([1, 30, 2], [1, 1, 1], 2.0).ratio == 2
    assert figure([1, 30, 2], [1, 1, 1], 2.0).reached
    assert not figure([1, 1, 1], [2, 2, 2], 0.6).reached
    assert figure([4], [8], 1, less_is_better=True).ratio == 2
    assert figure([0], [8], 1, less_is_better=True).ratio == math.inf
    assert figure([0], [0], 1, less_is_better=True).reached
    assert figure([1], [8], None).reached


def test_calls_that_warm_a_session_up_and_what_comes_after_the_first_end_do_not_count() -> None:
    first = [("0", str(n), "1000", "0", str(second), "0") for n, second in enumerate(range(10, 20))]
    second = [("1", str(n), "2000", "0", str(second), "500000") for n, second in enumerate(range(11, 16))]
    load = pgbench.load([*first, *second], warm=2)
    assert load.transactions == 15
    # from 12.5, when both have had two, to 15.5, when the second ends
    assert load.tps == pytest.approx(6 / 3)
    assert sorted(load.latencies_ms) == [1, 1, 1, 2, 2, 2]
    # from 13.5, 3.5 s after the first of all ended
    assert pgbench.load([*first, *second], warm=2, warm_seconds=3.5).tps == pytest.approx(4 / 2)


def test_a_run_leaves_the_files_of_others(run: Run) -> None:
    written = [report.write(run), report.write(run)]
    assert len({*written}) == len({*run.out.glob("*.json")}) == 2


@pytest.mark.long
def test_a_run_writes_every_figure_with_all_that_a_reader_needs(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(inbox, "QUICK_ROWS", 1000)
    monkeypatch.setattr(wrapper, "QUICK_CALLS", 1)
    inbox.run(run)
    wrapper.run(run)
    run.compare("too much asked", lambda: 1, lambda: 2, other_name="a peer", unit="messages/s", target=1e9)
    run.limit("waiting", [0.5], 1.0, unit="s")
    run.draw(Curve("A curve", "x", "y", {"pyqueue": [(0.0, 1.0), (1.0, 2.0)]}))
    run.draw(Bars("Some bars", "jobs/s", {"fresh": {"pyqueue": 2.0, "a peer": 1.0}}))
    run.leave_out("a peer", "it isn't there")

    path = report.write(run)

    found = json.loads(path.read_text())
    assert path.name.endswith("-postgresql.json")
    assert len(found["figures"]) == len(run.figures) == 2 + 16 + 1 + 1
    for one in found["figures"]:
        assert {"name", "ratio", "unit", "clients", "repetitions", "target", "settings", "note"} <= set(one)
        assert one["settings"] == {"synchronous_commit": "off"}
        for side in (one["ours"], one["other"]):
            assert 0 < side["min"] <= side["median"] <= side["max"], one
            assert len(side["values"]) == one["repetitions"]
    assert {"cpu", "cores", "memory_gb", "kernel", "disk_fdatasync_ms"} <= set(found["machine"])
    assert found["versions"]["server"].startswith("PostgreSQL 1")
    assert {"shared_buffers", "fsync", "synchronous_commit", "wal_level"} <= set(found["settings"])
    assert found["curves"][0]["lines"]["pyqueue"] == [[0, 1], [1, 2]]
    assert found["bars"][0]["groups"] == {"fresh": {"pyqueue": 2, "a peer": 1}}
    plots = {".png", ".svg"} if importlib.util.find_spec("matplotlib") else set()
    assert {file.suffix for file in path.parent.iterdir()} == {".json", *plots}
    password = urlsplit(run.url).password
    assert not password or password not in path.read_text()

    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("too much asked") and line.endswith("NOT REACHED") for line in lines)
    assert not any(line.startswith("waiting") and "NOT REACHED" in line for line in lines)
    assert "a peer: LEFT OUT, it isn't there" in lines
    markdown = report.markdown(found)
    assert markdown.count("\n| ") == 1 + len(found["figures"])
    assert "NOT REACHED" in markdown and "LEFT OUT" in markdown


@pytest.mark.long
@pytest.mark.parametrize(("side", "batch"), [(sides.Pyqueue, 1), (sides.Pyqueue, 100), (sides.Floor, 1)])
def test_a_rate_counts_messages_and_fills_up_what_it_needs(
    run: Run, side: type[sides.Side], batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sides, "GUESS", {1: 500, 100: 4000})
    here = side(run.url)
    assert here.rate(run, batch, 2) > 0
    assert here.run(f"select count(*) from {here.table}").fetchall()[0][0] == here.stock > 0


@pytest.mark.parametrize("server", servers.NAMES)
def test_every_promised_figure_has_a_case(server: str) -> None:
    names = [case.NAME for case in cases(server)]
    assert len(set(names)) == len(names)
    assert set(PROMISED[server]) <= set(names)
    assert all(about(case) for case in cases(server))


def test_listing_the_cases_needs_nothing_that_only_the_bench_has() -> None:
    text = f"""import runpy, sys
sys.modules.update(dict.fromkeys({ONLY_THE_BENCH_HAS}))
sys.argv[1:] = ["--list"]
runpy.run_module("bench", run_name="__main__")"""
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0, done.stderr
    for server, promised in PROMISED.items():
        for name in promised:
            assert any(line.split()[:2] == [server, name] for line in done.stdout.splitlines())
