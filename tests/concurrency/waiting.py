"""Calls that wait for another session, and what another session has locked."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    from tests.conformance.harness import Harness, Session

T = TypeVar("T")
PATIENCE_S = 60


def until_it_waits(harness: Harness, session: Session, running: Future[Any]) -> None:
    """Return once the call of a session waits for another one."""
    deadline = time.monotonic() + PATIENCE_S
    while not harness.waits(session):
        assert not running.done(), f"it waited for nobody: {running.result()}"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@contextmanager
def waiting(harness: Harness, session: Session, call: Callable[[Session], T]) -> Iterator[Future[T]]:
    """Make a call that waits for another session, which ends in the course of the block."""
    harness.outlast(session)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(call, session)
        try:
            until_it_waits(harness, session, running)
            yield running
        except BaseException:
            harness.terminate(session)
            raise


@contextmanager
def begun(session: Session, call: Callable[[Session], T]) -> Iterator[Future[T]]:
    """Make a call that may wait for another session, or may not, and ends in the course of the block."""
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(call, session)
        wait([running], 0.1)
        yield running


def lock(session: Session, key: str, *, waits: bool = False) -> None:
    """Lock a message of kind k, and that it waits at a semaphore, as whoever is changing it does."""
    text = "select entry from delayed_queue where p_kind = 'k' and p_key = %s for update"
    [(entry,)] = session.execute(text, [key])
    if waits:
        session.execute("select entry from queue_semaphore_wait where entry = %s for update", [entry])
