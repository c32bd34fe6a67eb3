"""A worker answers a health check."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.worker import Handlers, Worker, health, keeping
from pyqueue_sql.worker.logs import TextFormatter
from tests.worker.helpers import PATIENCE_SECONDS, Running, one_slow, until
from tests.worker.test_upkeep import logged

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


def asked(port: int) -> tuple[int, dict[str, Any]] | None:
    """Ask one that may not listen yet."""
    try:
        return ask(port, "/ready")
    except urllib.error.URLError:
        return None


def test_it_is_ready_until_it_stops(queue: Session, workers: Workers) -> None:
    handlers, _, release = one_slow(queue)
    port = free_port()
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


def test_before_its_first_heartbeat_it_is_not_ready_and_silent_since_its_own_start() -> None:
    handlers, port = Handlers(), free_port()
    handlers.on("mail")(lambda _: None)
    began = time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"postgresql://127.0.0.1:{mute.getsockname()[1]}/postgres"
        running = Running(Worker(url, handlers, health=f"127.0.0.1:{port}", notify=False))
        try:
            status, said = until(lambda: asked(port))
            passed = time.monotonic() - began
        finally:
            running.stop()
    assert (status, said["status"]) == (503, "no heartbeat")
    assert 0 <= said["heartbeat_seconds_ago"] <= passed
    with contextlib.suppress(ConnectionFailed):
        running.join()


def test_one_that_has_taken_all_it_was_told_is_not_ready(queue: Session, workers: Workers) -> None:
    handlers, _, release = one_slow(queue)
    port = free_port()
    running = workers.start(handlers, health=f"127.0.0.1:{port}", max_messages=1)
    try:
        until(lambda: queue.stats("slow")[0].reserved == 1)
        until(lambda: ask(port, "/ready")[0] == 503)
        assert ask(port, "/ready")[1]["status"] == "stopping"
    finally:
        release.set()
    running.join()


def test_port_0_is_one_that_is_free_and_stands_in_the_log(workers: Workers) -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    with logged(TextFormatter()) as log, workers.running(handlers, health="127.0.0.1:0"):
        [port] = until(lambda: re.findall(r"answers health checks.* port=(\d+)", log.getvalue()))
        assert ask(int(port), "/live")[0] == 200


def test_what_is_no_request_is_nothing_to_report(caplog: pytest.LogCaptureFixture) -> None:
    async def said_to(port: int, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        writer.write_eof()
        found = await reader.read()
        writer.close()
        return found

    async def run() -> list[bytes]:
        async with health.serve("127.0.0.1:0", lambda: {"status": "ok"}) as port:
            assert port is not None
            return [await said_to(port, one) for one in (b"", b"\r\n\r\n", b"x" * 10**5 + b"\r\n\r\n")]

    found = asyncio.run(run())
    assert [one[:12] for one in found] == [b"", b"HTTP/1.1 200", b""]
    assert caplog.messages == []


def test_who_asks_nothing_is_not_listened_to_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "READ_SECONDS", 0.05)

    async def run() -> bytes:
        async with health.serve("127.0.0.1:0", lambda: {"status": "ok"}) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /live HTTP/1.1\r\n")
            async with asyncio.timeout(PATIENCE_SECONDS):
                found = await reader.read()
            writer.close()
            return found

    assert asyncio.run(run()) == b""


def test_one_whose_address_is_taken_leaves_no_thread(harness: Harness) -> None:
    handlers, threads = Handlers(), set(threading.enumerate())
    handlers.on("mail")(lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        worker = Worker(harness.url, handlers, health=f"127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(health.ListenError):
            worker.run()
    until(lambda: set(threading.enumerate()) <= threads)


def test_an_address_that_is_none(harness: Harness) -> None:
    handlers = Handlers()
    handlers.on("mail")(lambda _: None)
    for address in ("", "localhost", "localhost:http", "localhost:70000"):
        with pytest.raises(ValueError, match=r"health '.*HOST:PORT"):
            Worker(harness.url, handlers, health=address)
    with pytest.raises(ValueError, match="for one process, not for 2"):
        Worker(harness.url, handlers, processes=2, health="8080")
