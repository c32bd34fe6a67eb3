"""A worker answers a health check."""

from __future__ import annotations

import json
import socket
import threading
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message
from pyqueue_sql.worker import Handlers, Worker, keeping
from tests.worker.helpers import until

if TYPE_CHECKING:
    from tests.conformance.harness import Harness, Session
    from tests.worker.helpers import Workers


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def ask(port: int, path: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_is_ready_until_it_stops(queue: Session, workers: Workers) -> None:
    handlers, release, port = Handlers(), threading.Event(), free_port()

    @handlers.on("slow")
    def wait(_: Message) -> None:
        release.wait()

    queue.push("slow", "a")
    running = workers.start(handlers, health=f"127.0.0.1:{port}")
    try:
        until(lambda: queue.stats("slow")[0].reserved == 1)
        until(lambda: ask(port, "/ready")[1].get("held") == 1)
        status, said = ask(port, "/ready")
        assert (status, said["status"], said["held"]) == (200, "ok", 1)
        running.stop()
        until(lambda: ask(port, "/ready")[0] == 503)
        assert ask(port, "/ready")[1]["status"] == "stopping"
        assert ask(port, "/live")[0] == 200
    finally:
        release.set()
    running.join()


def test_without_a_heartbeat_it_is_not_ready(
    queue: Session, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    handlers, port = Handlers(), free_port()
    handlers.on("mail")(lambda _: None)
    running = workers.start(handlers, health=f"127.0.0.1:{port}", heartbeat_seconds=30)
    until(lambda: queue.workers())
    until(lambda: ask(port, "/ready")[0] == 200)
    monkeypatch.setattr(keeping.Keeper, "silent_seconds", 31.0)
    assert (ask(port, "/ready")[1]["status"], ask(port, "/live")[0]) == ("no heartbeat", 200)
    running.stop()
    running.join()


def test_an_address_that_is_none(harness: Harness) -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    for address in ("", "localhost", "localhost:http", "localhost:70000"):
        with pytest.raises(ValueError, match=r"health '.*HOST:PORT"):
            Worker(harness.url, handlers, health=address)
    with pytest.raises(ValueError, match="for one process, not for 2"):
        Worker(harness.url, handlers, processes=2, health="8080")
