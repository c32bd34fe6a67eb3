"""From each revision to the newest and back: the same schema, and the messages are still there."""

import pytest

from pyqueue_sql import Queue, migrate
from tests.schema import lines
from tests.schema.catalogs import DEFINITIONS, HEAD, OLDER, RELEASES, connect, printed, rows


@pytest.mark.parametrize("older", OLDER)
def test_an_upgrade_from_an_older_revision_is_a_fresh_install(empty_url: str, older: str):
    migrate.upgrade(empty_url)
    head = rows(empty_url, DEFINITIONS)
    migrate.downgrade(empty_url)
    migrate.upgrade(empty_url, revision=older)
    assert migrate.current(empty_url) == older
    assert rows(empty_url, DEFINITIONS) != head
    migrate.upgrade(empty_url)
    assert rows(empty_url, DEFINITIONS) == head


@pytest.mark.parametrize("older", RELEASES)
def test_a_downgrade_to_an_older_release_is_a_fresh_install_of_it(empty_url: str, older: str):
    migrate.upgrade(empty_url, revision=older)
    old = rows(empty_url, DEFINITIONS)
    migrate.upgrade(empty_url)
    migrate.downgrade(empty_url, revision=older)
    assert rows(empty_url, DEFINITIONS) == old


@pytest.mark.parametrize("older", OLDER)
def test_what_is_printed_leads_from_an_older_revision_and_back(database_url: str, older: str):
    head = rows(database_url, DEFINITIONS)
    with connect(database_url) as connection:
        connection.execute(printed(migrate.downgrade, revision=older).encode())
        assert migrate.current(database_url) == older
        connection.execute(printed(migrate.upgrade, revision=f"{older}:head").encode())
    assert migrate.current(database_url) == HEAD
    assert rows(database_url, DEFINITIONS) == head


@pytest.mark.parametrize("older", OLDER)
@pytest.mark.parametrize("down", [False, True])
def test_messages_in_every_state_survive(database_url: str, older: str, down: bool):
    if not down:
        migrate.downgrade(database_url, revision=older)
    with connect(database_url) as connection:
        queue = Queue(connection)
        # not by the client: it asks for settings that an older revision doesn't have
        define = "select backoff_seconds, timeout_seconds from queue_define(%s, %s)"
        connection.execute(define, ["dying", '{"dead_letter_kind": "dead", "backoff_seconds": 7}'])
        for kind in ("ready", "held", "newer", "late", "dying"):
            queue.push(kind, "k", {"in": kind}, priority=3, headers={"a": "b"})
        queue.push("scheduled", "k", 1, delay_seconds=3600)
        queue.push_bytes("bytes", "k", b"\x00")
        held = {
            kind: queue.reserve(kind, "w", timeout_seconds=seconds)[0].receipt or ""
            for kind, seconds in (("held", 3600), ("newer", 3600), ("late", 0.001), ("dying", 3600))
        }
        assert queue.push("newer", "k", "newest", on_duplicate="replace").outcome == "held"
        queue.nack(held["dying"], final=True, error="no")
        if down:
            migrate.downgrade(database_url, revision=older)
        else:
            migrate.upgrade(database_url)
        states = {kind: queue.peek(kind)[0].state for kind in ("ready", "scheduled", "held", "late", "dead")}
        assert states == {
            "ready": "ready",
            "scheduled": "scheduled",
            "held": "reserved",
            "late": "expired",
            "dead": "ready",
        }
        for kind in ("held", "late", "newer"):
            assert queue.ack(held[kind]).outcome == "acked"
            assert queue.ack(held[kind]).outcome == "lost"
        assert [message.payload for message in queue.pop("newer")] == ["newest"]
        assert [message.payload_bytes for message in queue.pop("bytes")] == [b"\x00"]
        [ready] = queue.pop("ready")
        assert (ready.payload, ready.priority, ready.headers) == ({"in": "ready"}, 3, {"a": "b"})
        assert queue.redrive("dead").went == 1
        assert connection.execute(define, ["dying", '{"max_attempts": 2}']).fetchall() == [(7, 300)]
        assert connection.execute(define, ["another", None]).fetchall() == [(0, 300)]


def test_what_waits_in_a_line_is_delivered_by_a_release_without_lines(database_url: str):
    with connect(database_url) as connection:
        queue = Queue(connection)
        held = lines.stand(queue)
        migrate.downgrade(database_url, revision="0007_groups")
        lines.check_delivered(queue, held)
        migrate.upgrade(database_url)
        assert queue.push("orders", "3", 3, order_key="a").outcome == "created"
