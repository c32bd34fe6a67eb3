"""Metrics, and all that is made of them: exporters' queries, alert rules, the dashboard."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import promql_parser
import pytest
import yaml
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from pyqueue_sql import cli
from pyqueue_sql.metrics import asgi, collector, metrics_app
from pyqueue_sql.overview import NotSeen, open_look
from pyqueue_sql.overview.models import Blocker, Dead, KindLook, Line, Overview, Totals, WorkerLook

if TYPE_CHECKING:
    from tests.conformance.harness import Clock, Harness, Session

MONITORING = Path(__file__).parents[2] / "examples" / "monitoring"


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Name and values of labels, in the order of the labels' names, of each sample."""
    return {
        (one.name, *(one.labels[name] for name in sorted(one.labels))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


@pytest.fixture
def used(queue: Session) -> Session:
    """A queue in which something of everything has happened."""
    queue.semaphore("smtp", 2)
    queue.push("mail", "a", semaphores=["smtp"])
    for key in ("b", "c", "d"):
        queue.push("mail", key)
    queue.push("later", "a", delay_seconds=60)
    held = {one.key: one.receipt for one in queue.reserve("mail", max_messages=4)}
    queue.ack(held["b"])
    queue.nack(held["c"], error="no", final=True)
    queue.heartbeat("w", timeout_seconds=600)
    return queue


def test_metrics_say_what_there_is(harness: Harness, clock: Clock, used: Session) -> None:
    clock.advance(30)
    used.push("mail", "e")
    clock.advance(5)
    found = samples(asgi.text(harness.url))
    assert found["pyqueue_up",] == 1
    states = [found["pyqueue_messages", "mail", state] for state in ("ready", "reserved", "scheduled")]
    assert states == [1, 2, 0]
    assert found["pyqueue_messages", "later", "scheduled"] == 1
    assert found["pyqueue_oldest_ready_seconds", "mail"] == 5
    assert found["pyqueue_longest_held_seconds", "mail"] == 35
    assert (found["pyqueue_ended_total", "mail", "acked"], found["pyqueue_ended_total", "mail", "dead"]) == (
        1,
        1,
    )
    assert (found["pyqueue_workers", "yes"], found["pyqueue_upkeep_workers",]) == (1, 1)
    assert (found["pyqueue_semaphore_capacity", "smtp"], found["pyqueue_semaphore_held", "smtp"]) == (2, 1)


def test_they_are_served_and_mounted_and_printed(harness: Harness, used: Session) -> None:
    used.push("mail", "f")
    app = Starlette(routes=[Mount("/metrics", app=metrics_app(harness.url))])
    answer = TestClient(app).get("/metrics/")
    assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/plain")
    mounted = samples(answer.text)
    assert TestClient(app).post("/metrics/").status_code == 405
    server, _ = asgi.serve(harness.url, None, "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as response:
            served = samples(response.read().decode())
    finally:
        server.shutdown()
        server.server_close()
    printed = CliRunner().invoke(cli.main, ["metrics", "--url", harness.url])
    assert printed.exit_code == 0
    for one in (mounted, served, samples(printed.output)):
        assert one["pyqueue_messages", "mail", "ready"] == 1


def test_where_the_database_does_not_answer_that_is_the_metric(harness: Harness, queue: Session) -> None:
    queue.push("mail", "a")
    scheme, _, rest = harness.url.partition("://")
    url = f"{scheme}://somebody:hush@127.0.0.1:1/{rest.rpartition('/')[2]}"
    printed = CliRunner().invoke(cli.main, ["metrics", "--url", url])
    assert printed.exit_code == 1
    assert samples(printed.output) == {("pyqueue_up",): 0}
    assert "hush" not in printed.output


SECOND = 1_000_000
MAIL = KindLook(
    *("mail", True, False, 1, 2, 3, 4, 5, False, None, 90 * SECOND, 80 * SECOND),
    Totals(acked=6, popped=7, nacked=8, moved=9, dead=10, expired=11, lost=12),
)
MANY = KindLook("many", False, False, 0, 0, 0, 0, 0, True, None, None, 101 * SECOND, Totals())
WORKERS = (
    WorkerLook("a", None, 0, 0, 1.0, upkeep=False, alive=True),
    WorkerLook("b", None, 0, 0, 1.0, upkeep=True, alive=True),
    WorkerLook("c", None, 0, 0, 1.0, upkeep=True, alive=False),
)
BLOCKERS = (
    Blocker("session", "1", None, None, None, 4.0),
    Blocker("session", "2", None, None, None, 70.0),
    Blocker("replication slot", "s", None, None, None, None),
)


def looks_of(monkeypatch: pytest.MonkeyPatch, seen: Overview | Exception) -> list[tuple[str, str | None]]:
    """Let each look see that; returns where looks were taken, as they come."""
    taken: list[tuple[str, str | None]] = []

    @contextmanager
    def made_up(url: str, schema: str | None) -> Generator[SimpleNamespace]:
        taken.append((url, schema))
        if isinstance(seen, Exception):
            raise seen
        yield SimpleNamespace(overview=lambda: seen)

    monkeypatch.setattr(collector, "open_look", made_up)
    return taken


def test_each_metric_is_what_the_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Overview(
        *(100 * SECOND, (MAIL, MANY), False, WORKERS, (Line("smtp", 3, 2, 1),), BLOCKERS, Dead(13, 14)),
        sees_sessions=True,
    )
    taken = looks_of(monkeypatch, seen)
    found = samples(asgi.text("url", "app"))
    assert taken == [("url", "app")]
    states = {"ready": 1, "scheduled": 2, "reserved": 3, "expired": 4, "waiting": 5}
    ends = {"acked": 6, "popped": 7, "moved": 9, "dead": 10}
    of_mail = {
        **{("pyqueue_messages", "mail", state): count for state, count in states.items()},
        **{("pyqueue_ended_total", "mail", outcome): count for outcome, count in ends.items()},
        ("pyqueue_more", "mail"): 0,
        ("pyqueue_paused", "mail"): 1,
        ("pyqueue_oldest_ready_seconds", "mail"): 10,
        ("pyqueue_longest_held_seconds", "mail"): 20,
        ("pyqueue_nacked_total", "mail"): 8,
        ("pyqueue_expired_total", "mail"): 11,
        ("pyqueue_lost_total", "mail"): 12,
    }
    assert {name: value for name, value in found.items() if name[1:2] == ("mail",)} == of_mail
    of_many = {name[0]: value for name, value in found.items() if name[1:] == ("many",)}
    assert (of_many["pyqueue_more"], of_many["pyqueue_paused"]) == (1, 0)
    # a delivery that began while the look was taken
    assert (of_many["pyqueue_oldest_ready_seconds"], of_many["pyqueue_longest_held_seconds"]) == (0, 0)
    assert {name: value for name, value in found.items() if name[1:2] not in (("mail",), ("many",))} == {
        ("pyqueue_up",): 1,
        ("pyqueue_workers", "yes"): 2,
        ("pyqueue_workers", "no"): 1,
        ("pyqueue_upkeep_workers",): 1,
        ("pyqueue_semaphore_capacity", "smtp"): 3,
        ("pyqueue_semaphore_held", "smtp"): 2,
        ("pyqueue_semaphore_waiting", "smtp"): 1,
        ("pyqueue_oldest_transaction_seconds",): 70,
        ("pyqueue_dead_rows",): 13,
    }


def test_what_a_login_does_not_see_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    looks_of(monkeypatch, Overview(100 * SECOND, (MAIL,), False, ()))
    names = {name for name, *_ in samples(asgi.text("url"))}
    assert "pyqueue_paused" in names
    assert not names & {"pyqueue_oldest_transaction_seconds", "pyqueue_dead_rows"}


def test_a_login_that_sees_nothing_is_no_answer_and_a_fault_is_none_either(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks_of(monkeypatch, NotSeen("permission denied"))
    assert samples(asgi.text("url")) == {("pyqueue_up",): 0}
    assert "no metrics: permission denied" in caplog.text
    looks_of(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        asgi.text("url")


went_on = threading.Event()


def ask(method: str) -> tuple[int, bytes]:
    """Ask the application as a server does; returns the status and what was sent."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("nothing is read of a request")

    async def run() -> None:
        # the loop goes on while somebody looks
        asyncio.get_running_loop().call_soon(went_on.set)
        await metrics_app("url")({"type": "http", "method": method}, receive, send)

    went_on.clear()
    asyncio.run(run())
    return sent[0]["status"], sent[1]["body"]


def test_the_event_loop_goes_on_and_head_has_no_body(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def slow(*_: object) -> Generator[SimpleNamespace]:
        assert went_on.wait(10), "the event loop waits for the database"
        yield SimpleNamespace(overview=lambda: Overview(0, (), False, ()))

    monkeypatch.setattr(collector, "open_look", slow)
    status, body = ask("GET")
    assert status == 200
    assert b"pyqueue_up 1.0" in body
    assert ask("HEAD") == (200, b"")


def names_of(url: str) -> set[str]:
    return {name for name, *_ in samples(asgi.text(url))}


@pytest.mark.servers("postgresql")
def test_alerts_and_dashboard_ask_for_metrics_that_there_are(harness: Harness, used: Session) -> None:
    used.pause("paused")
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())
    board = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    asked = [(rule["alert"], rule["expr"]) for group in rules["groups"] for rule in group["rules"]]
    asked += [
        (panel["title"], target["expr"].replace("$kind", ".*"))
        for panel in board["panels"]
        for target in panel["targets"]
    ]
    there, missing = names_of(harness.url), list[str]()
    for title, expression in asked:
        promql_parser.parse(expression)  # raises where it is none
        missing += [
            f"{title}: {name}" for name in re.findall(r"\bpyqueue_\w+", expression) if name not in there
        ]
    assert len(asked) > 15
    assert not missing
    assert all(
        {"summary", "remedy"} <= set(rule["annotations"]) for g in rules["groups"] for rule in g["rules"]
    )
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


@pytest.mark.servers("postgresql")
def test_queries_of_postgres_exporter_answer_what_they_declare(harness: Harness, used: Session) -> None:
    used.push("mail", "f")
    groups: dict[str, Any] = yaml.safe_load((MONITORING / "postgres_exporter.yaml").read_text())
    found: dict[str, list[dict[str, Any]]] = {}
    with open_look(harness.url) as look:
        for name, group in groups.items():
            declared = [column for one in group["metrics"] for column in one]
            cursor: Any = look.connection.cursor()
            rows = cursor.execute(group["query"]).fetchall()
            assert [column.name for column in cursor.description] == declared
            found[name] = [dict(zip(declared, row, strict=True)) for row in rows]
    assert found["pyqueue_messages"] == [
        {"kind": "later", "in_line": 0, "in_timetable": 1},
        {"kind": "mail", "in_line": 3, "in_timetable": 0},
        {"kind": "mail.dead", "in_line": 1, "in_timetable": 0},
    ]
    [ended] = [row for row in found["pyqueue_ended"] if row["kind"] == "mail"]
    assert (ended["acked"], ended["dead"]) == (1, 1)
    assert found["pyqueue_workers"] == [{"registered": 1, "heard_of": 1}]


@pytest.mark.servers("mariadb", "mysql")
def test_queries_of_sql_exporter_answer_what_they_declare(harness: Harness, used: Session) -> None:
    used.push("mail", "f")
    collector = yaml.safe_load((MONITORING / "sql_exporter.collector.yml").read_text())
    found: dict[str, list[dict[str, Any]]] = {}
    with open_look(harness.url) as look:
        for metric in collector["metrics"]:
            cursor: Any = look.connection.cursor()
            cursor.execute(metric["query"])
            columns = [column[0] for column in cursor.description]
            assert columns == [*metric.get("key_labels", []), *metric["values"]]
            found[metric["metric_name"]] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    assert found["pyqueue_messages_in_line"] == [
        {"kind": "mail", "messages": 3},
        {"kind": "mail.dead", "messages": 1},
    ]
    assert found["pyqueue_messages_in_timetable"] == [{"kind": "later", "messages": 1}]
    [ended] = [row for row in found["pyqueue_ended_total"] if row["kind"] == "mail"]
    assert (ended["acked"], ended["dead"]) == (1, 1)
    assert found["pyqueue_workers_heard_of"] == [{"workers": 1}]
