"""What handlers said of their messages, and the calls that tell the database, as few as there can be."""

from __future__ import annotations

import os
import traceback
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.errors import InvalidReceipt, QueueError
from pyqueue_sql.worker.answers import Answer, Move, Reject, Retry, Snooze
from pyqueue_sql.worker.context import Lost
from pyqueue_sql.worker.delivery import ACK, Delivery, Settlement
from pyqueue_sql.worker.failures import Failure, clean
from pyqueue_sql.worker.parsing import Misfit, plain

if TYPE_CHECKING:
    from pyqueue_sql.calls.client import Queue
    from pyqueue_sql.models import Outcome

AWAY_SECONDS = 3
"""For a message whose handler got no connection, until it is tried again."""


class Concluding:
    """Makes what a handler returns or raises the settlement of its delivery.

    Args:
        delivery: it.
        url: of the database, whose password is kept out of errors.
        passes: whether an error is not of the handler, but ends whatever runs it.
    """

    def __init__(self, delivery: Delivery, url: str, passes: Callable[[BaseException], bool]) -> None:
        self._delivery = delivery
        self._url = url
        self._passes = passes
        self.answer: Any = None

    def __enter__(self) -> Concluding:
        self._process = os.getpid()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if os.getpid() != self._process:
            _leave(error)
        if error is not None and self._passes(error):
            return False
        try:
            self._delivery.settlement = self._settlement(error)
        except Exception as wrong:  # what it said can't be kept: its result is a circle, say
            self._delivery.settlement = self._settlement(wrong)
        return True

    def _settlement(self, error: BaseException | None) -> Settlement:
        delivery = self._delivery
        said = _made(self.answer) if error is None else error
        if error is None and not isinstance(said, Answer):
            return _result(said) if delivery.handler.keep_result else _done(said)
        if error is not None and not isinstance(error, Answer):
            delivery.failure = Failure.of(error, self._url)
        return settlement(said, delivery.failure)


def _made(answer: Any) -> Any:
    """Return an answer for the class of one, as `raise` makes it."""
    if isinstance(answer, type) and issubclass(answer, Answer):
        return answer()
    return cast("Any", answer)


def _leave(error: BaseException | None) -> NoReturn:
    """End a process that a handler forked and let come back: it would go on as another worker, with the same
    messages and the same connections."""
    status = error.code if isinstance(error, SystemExit) else error
    if status is not None and not isinstance(status, int):
        traceback.print_exception(error)
        status = 1
    os._exit(status or 0)


def _done(answer: Any) -> Settlement:
    """Raises TypeError: nothing has been done, for who called the handler got what is still to be run."""
    kind = cast("type[Any]", type(answer))
    if not issubclass(kind, Coroutine | Generator | AsyncGenerator):
        return ACK
    if not issubclass(kind, AsyncGenerator):
        answer.close()  # or Python warns that nobody awaited it
    raise TypeError(
        f"{getattr(answer, '__qualname__', 'it')} was not run: a handler is a function or a coroutine"
        f" function (async def), and this one returned a {kind.__name__}"
    )


def _result(answer: Any) -> Settlement:
    return Settlement("ack", {"result": plain(answer)})


def settlement(said: BaseException, failure: Failure | None) -> Settlement:
    """Return what is to become of a message whose handler returned or raised this, which may be a failure."""
    match said:
        case Snooze(delay_seconds=delay):
            return Settlement("nack", {"count": False, "delay_seconds": delay})
        case Move(to_kind=kind, options=options):
            return Settlement("move", {"to_kind": kind, **options})
        case Retry(error=error, delay_seconds=delay):
            given = {"error": clean(str(error or "Retry")), "delay_seconds": delay}
            return Settlement("nack", {name: value for name, value in given.items() if value is not None})
        case Reject(reason=reason):
            return Settlement("nack", {"final": True, "error": clean(str(reason))})
        case Misfit():
            return Settlement("nack", {"final": True, "error": clean(str(said))})
        case ConnectionFailed(away=True):  # of its transaction: an outage is no fault of the message
            error = clean(failure.text if failure else str(said))
            return Settlement("nack", {"count": False, "error": error, "delay_seconds": AWAY_SECONDS})
        case Lost():
            return ACK  # which will be lost, and say so
        case _:
            return Settlement("nack", {"error": failure.text if failure else clean(str(said))})


@dataclass(frozen=True, slots=True)
class Group:
    """Deliveries that one call settles."""

    settlement: Settlement
    deliveries: list[Delivery]

    def apply(self, queue: Queue[Any]) -> list[Outcome]:
        """Settle them; returns the outcomes in their order."""
        receipts = [one.receipt for one in self.deliveries]
        if self.settlement.verb == "ack":
            return queue.ack_many(receipts, **self.settlement.options)
        if self.settlement.verb == "nack":
            return queue.nack_many(receipts, **self.settlement.options)
        return queue.move_many(
            {"receipt": one.receipt, **one.settlement.options}
            for one in self.deliveries
            if one.settlement is not None
        )

    def apart(self, error: QueueError) -> list[Group]:
        """Return what to do in its place where the queue refused it: one by one, or a failed attempt."""
        if len(self.deliveries) > 1:
            return [group for one in self.deliveries for group in groups([one])]
        if isinstance(error, InvalidReceipt) or self.settlement.options.keys() == {"error"}:
            return []
        for one in self.deliveries:
            one.failure = Failure(clean(f"{type(error).__name__}: {error}"), error=error)
            one.settlement = Settlement("nack", {"error": one.failure.text})
        return groups(self.deliveries)


def groups(deliveries: Iterable[Delivery]) -> list[Group]:
    """Return deliveries with their settlements as one group a call."""
    found: dict[str, Group] = {}
    for one in deliveries:
        said = one.settlement
        if said is None:
            continue
        group = found.get(said.group)
        if group is None:
            group = found[said.group] = Group(said, [])
        group.deliveries.append(one)
    return list(found.values())


def settle(queue: Queue[Any], deliveries: Sequence[Delivery]) -> list[tuple[Delivery, str]]:
    """Settle deliveries over one connection, in the caller's thread; returns what became of each."""
    found: list[tuple[Delivery, str]] = []
    todo = groups(deliveries)
    while todo:
        group = todo.pop()
        try:
            outcomes = group.apply(queue)
        except QueueError as error:
            todo += group.apart(error)
        else:
            found += zip(group.deliveries, [one.outcome for one in outcomes], strict=True)
    return found
