"""What every handler runs in, what the handlers of a process share, and starts as the code changes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pyqueue_sql import Message
from pyqueue_sql.worker import AsyncContext, Context, Handlers, Reject
from tests.worker.helpers import PATIENCE_SECONDS, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.harness import Harness, Session
    from tests.worker.helpers import Workers

imported = Handlers()
COMMAND = [sys.executable, "-c", "from pyqueue_sql.cli import main; main()", "worker", "application"]


@imported.around
def noted(_: Message) -> Iterator[None]:
    """Of a module, so that another process can import it."""
    yield


@imported.lifespan
def alive() -> Iterator[str]:
    yield "shared"


@imported.on("mail")
def send(_: Message) -> None:
    pass


def test_handlers_run_inside_of_what_is_around_them(queue: Session, workers: Workers) -> None:
    handlers, seen = Handlers(), list[str]()

    @handlers.around
    def outer(message: Message) -> Iterator[None]:
        seen.append(f"outer {message.key}")
        try:
            yield
        except LookupError as error:
            raise Reject(f"not found: {error}") from error
        seen.append(f"outer {message.key} done")

    @handlers.around
    async def inner(message: Message) -> AsyncIterator[None]:
        seen.append(f"inner {message.key}")
        yield
        seen.append(f"inner {message.key} done")

    @handlers.on("coroutines")
    async def coroutine(message: Message) -> None:
        seen.append(message.key)

    @handlers.on("functions")
    def function(message: Message) -> None:
        seen.append(message.key)
        raise LookupError("order 7")

    queue.push("coroutines", "a")
    workers.drain(handlers)
    assert seen == ["outer a", "inner a", "a", "inner a done", "outer a done"]
    seen.clear()
    queue.push("functions", "b")
    workers.drain(handlers.only(["functions"]))
    assert seen == ["outer b", "b"]
    [dead] = queue.peek("functions.dead")
    assert dead.errors[-1]["error"] == "not found: order 7"


@pytest.mark.parametrize("is_async", [False, True])
def test_handlers_share_what_the_lifespan_yields(queue: Session, workers: Workers, is_async: bool) -> None:
    handlers, seen = Handlers(), list[Any]()

    def plain() -> Iterator[dict[str, int]]:
        seen.append("opened")
        yield {"client": 7}
        seen.append("closed")

    async def asynchronous() -> AsyncIterator[dict[str, int]]:
        seen.append("opened")
        yield {"client": 7}
        seen.append("closed")

    if is_async:
        handlers.lifespan(asynchronous)
    else:
        handlers.lifespan(plain)

    @handlers.on("functions")
    def function(_: Message, context: Context) -> None:
        seen.append(context.state["client"])

    @handlers.on("coroutines")
    async def coroutine(_: Message, context: AsyncContext) -> None:
        seen.append(context.state["client"])

    queue.push("functions", "a")
    queue.push("coroutines", "a")
    workers.drain(handlers)
    assert seen == ["opened", 7, 7, "closed"]


def test_another_process_has_them_too() -> None:
    copy: Handlers = pickle.loads(pickle.dumps(imported.only(["mail"])))
    assert list(copy["mail"].around) == [noted]
    with pytest.raises(ValueError, match="there is a lifespan"):
        copy.lifespan(alive)


def test_what_is_no_generator_is_refused() -> None:
    handlers = Handlers()
    for decorate in (handlers.around, handlers.lifespan):
        with pytest.raises(TypeError, match="a generator function is wanted"):
            decorate(lambda *_: None)


APPLICATION = """
from pyqueue_sql.worker import Handlers

handlers = Handlers()

@handlers.on("{}")
def handle(message):
    pass
"""


@pytest.mark.servers("postgresql")
@pytest.mark.slow
def test_a_worker_starts_again_when_its_code_changes(
    harness: Harness, queue: Session, tmp_path: Path
) -> None:
    application = tmp_path / "application.py"
    application.write_text(APPLICATION.format("first"))
    process = subprocess.Popen(
        [*COMMAND, "--reload"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYQUEUE_URL": harness.url, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )
    try:
        for number, kind in enumerate(("first", "second")):
            application.write_text(APPLICATION.format(kind))
            queue.push(kind, "a")
            until(lambda kind=kind: queue.stats(kind)[0].acked_total == 1, PATIENCE_SECONDS)
            assert len([one for one in queue.workers() if one.kinds == [kind]]) == 1, number
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_SECONDS)
        until(lambda: queue.workers() == [])
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
