"""The observer sees kinds, keys, states, counters and workers, and reaches nothing that is in a message."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Queue
from pyqueue_sql.calls.connect import connect as open_connection
from pyqueue_sql.metrics import asgi
from pyqueue_sql.overview import open_look
from pyqueue_sql.overview.look import NotSeen
from pyqueue_sql.top.app import Top
from tests.doctor.logins import SECRET, Watched, execute
from tests.doctor.rights import OBSERVED, OBSERVED_COLUMNS
from tests.doctor.test_top import cells, messages, table, text, until
from tests.rules import each

if TYPE_CHECKING:
    from textual.pilot import Pilot


@pytest.fixture
def observer(watched: Watched) -> str:
    """The URL of a login that is an observer."""
    return watched.observer


def test_nothing_that_it_can_read_has_a_secret_in_it(
    observer: str, watched: Watched, server_name: str
) -> None:
    with open_look(observer) as look:
        for name in sorted(OBSERVED | set(OBSERVED_COLUMNS)):
            wanted = OBSERVED_COLUMNS.get(name, "*").split()
            if server_name == "postgresql":
                wanted = [one for one in wanted if one != "ready_kind"]
            rows = look.rows(f"select {', '.join(wanted)} from {name}")
            assert rows or name in (
                "queue_subscriptions",
                "queue_readers",
                "queue_semaphore_permit",
                "queue_semaphore_wait",
            )
            assert SECRET not in str(rows)
    with open_look(watched.url) as look:  # it is there for its owner
        assert SECRET in str(look.rows("select payload, headers from delayed_queue"))


def test_it_knows_whether_it_sees_the_sessions_of_others(observer: str, watched: Watched) -> None:
    for url, sees in ((observer, False), (watched.url, True)):
        with open_look(url) as look:
            assert look.sees_sessions() is sees
            assert look.overview().sees_sessions is sees


@each(
    "text_",
    [
        "select * from delayed_queue",
        "select * from queue_messages",
        "select * from queue_history",
        "select count(*) from delayed_queue q where cast(q.payload as char(9)) like '%sesame%'",
        "select q.p_key from delayed_queue q order by q.payload",
        "select q.p_key from queue_messages q group by q.p_key, q.headers",
        "select h.result from queue_history h",
        "select m.error from queue_group_member m",
        "select l.payload from queue_log l",
        "select s.payload from queue_stage s",
        "select i.payload from queue_inbox i",
        "delete from delayed_queue",
        "update queue_kind set paused = true",
        "insert into queue_inbox (p_kind, payload) values ('mail', '1')",
    ],
)
def test_what_would_show_or_change_something_is_refused(observer: str, text_: str) -> None:
    with open_connection(observer) as connection:
        refused: set[Any] = set()
        try:
            execute(Queue(connection), text_)
        except Exception as error:
            refused = {getattr(error, "sqlstate", None), *error.args[:1]}
    assert refused & {"42501", 1142, 1143}, refused


def test_a_look_shows_what_is_there_and_not_what_is_in_it(observer: str) -> None:
    with open_look(observer) as look:
        now = look.now()
        seen = look.overview()
        found = look.messages("mail", 10, now)
        assert not look.sees_contents
        assert look.contents("mail", "c") is None
        past = look.past("mail", "a", 10)
        dead = look.by_key("mail.dead", 10, now)
        schedules = look.schedules()
        [group] = look.groups(10, 10)
        members = look.members("crew", 10)
    assert [(one.kind, one.total) for one in seen.kinds] == [("mail", 3), ("mail.dead", 1)]
    assert {one.key: one.state for one in found} == {"c": "reserved", "raw": "ready", "late": "scheduled"}
    assert [(one.outcome, one.errors) for one in past] == [("acked", None)]
    assert [(one.key, one.source_kind, one.errors) for one in dead] == [("b", "mail", None)]
    assert [one.name for one in schedules] == ["nightly"]
    assert (group.name, group.then_kind, group.members) == ("crew", "next", 3)
    assert {one.key for one in members} == {"a", "b", "c"}
    assert [one.worker for one in seen.workers] == ["w1"]
    assert SECRET not in str((seen, found, past, dead, schedules, group, members))


def test_its_metrics_are_those_of_the_owner(observer: str, watched: Watched) -> None:
    def of(url: str) -> list[str]:
        lines = asgi.text(url).splitlines()
        return [
            one
            for one in lines
            if not one.startswith(("pyqueue_oldest", "pyqueue_longest", "pyqueue_dead_rows"))
        ]

    found = of(observer)
    assert found == of(watched.url)
    assert "pyqueue_up 1.0" in found


def test_top_works_and_shows_no_contents(observer: str) -> None:
    async def run() -> None:
        app = Top(observer, None, 3600, False)
        async with app.run_test(size=(160, 50)) as pilot:
            await until(pilot, lambda: table(app, "kinds").row_count > 0)
            await script(app, pilot)

    async def script(app: Top, pilot: Pilot[None]) -> None:
        assert [row[0] for row in cells(table(app, "schedules"))] == ["nightly"]
        await pilot.press("down", "enter")
        [row] = await messages(app, pilot)
        assert (row[0], row[5]) == ("b", "")
        await pilot.press("enter")
        await until(pilot, lambda: app.screen.query("#details"))
        shown = text(app, "details")
        assert "not for this login" in shown
        assert SECRET not in shown
        # and it changes nothing
        await pilot.press("escape", "escape", "up", "p", "y")
        await until(pilot, lambda: any("denied" in one.message for one in app._notifications))

    asyncio.run(run())


def test_an_operator_sees_what_is_in_messages(watched: Watched) -> None:
    with open_look(watched.operator) as look:
        found, raw = look.contents("mail", "late"), look.contents("mail", "raw")
        [dead] = look.by_key("mail.dead", 10, look.now())
        assert look.overview().kind("mail") is not None
        with pytest.raises(NotSeen):
            look.rows("select q.secret from delayed_queue q")
    assert found is not None
    assert (found.payload, found.headers) == ({"password": SECRET}, None)
    assert raw is not None
    assert raw.payload_bytes == SECRET.encode()
    assert dead.error == f"no such {SECRET}"
