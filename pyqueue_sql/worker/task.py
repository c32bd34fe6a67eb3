"""A handler by its own name: `send.push(queue, Email(…))`, and waiting for what it returned."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack, cast, overload

from pyqueue_sql.calls.aio import AsyncQueue
from pyqueue_sql.calls.client import Queue
from pyqueue_sql.calls.options import PushOptions
from pyqueue_sql.calls.results import wait_for_result, wait_for_result_async
from pyqueue_sql.models import Pushed
from pyqueue_sql.worker.parsing import plain

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
OrderKey = Callable[[Any], "str | None"]


class Task(Generic[T, P, R]):
    """A handler. Called, it is the function itself, at once and without a queue.

    Args:
        function: the handler.
        kind: its kind.
        order_key: of a payload, for each push that doesn't say one; None: messages come in any order.
    """

    def __init__(
        self, function: Callable[Concatenate[T, P], R], kind: str, order_key: OrderKey | None = None
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.kind = kind
        self._order_key = order_key

    def __reduce__(self) -> str:
        # another process imports it, as it would a function
        return self.function.__qualname__

    def __call__(self, payload: T, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(payload, *args, **kwargs)

    @overload
    def push(
        self, queue: AsyncQueue[Any], payload: T, key: str | None = None, **options: Unpack[PushOptions]
    ) -> Awaitable[Pushed]: ...

    @overload
    def push(
        self, queue: Queue[Any], payload: T, key: str | None = None, **options: Unpack[PushOptions]
    ) -> Pushed: ...

    def push(
        self,
        queue: Queue[Any] | AsyncQueue[Any],
        payload: T,
        key: str | None = None,
        **options: Unpack[PushOptions],
    ) -> Pushed | Awaitable[Pushed]:
        """Push a message for this handler; over an async queue it is to be awaited.

        Args:
            queue: its connection says which transaction the push is in.
            payload: what the handler takes: bytes, or what becomes JSON, as a dataclass or a pydantic model.
            key: what makes it that message; None: a time-ordered UUID.
            **options: see `PushOptions`.

        Raises:
            TypeError: the payload can't become JSON.
        """
        if self._order_key is not None:
            options.setdefault("order_key", self._order_key(payload))
        through = cast("Queue[Any]", queue)
        if isinstance(payload, bytes):
            return through.push_bytes(self.kind, key, payload, **options)
        return through.push(self.kind, key, plain(payload), **options)

    def result(self, queue: Queue[Any], key: str, timeout_seconds: float = 30.0) -> R:
        """Wait for what the handler returned, as JSON; it needs `keep_result`. See `wait_for_result`."""
        return wait_for_result(queue, self.kind, key, timeout_seconds)

    async def result_async(self, queue: AsyncQueue[Any], key: str, timeout_seconds: float = 30.0) -> Any:
        """Wait for what the handler returned, as JSON; see `result`."""
        return await wait_for_result_async(queue, self.kind, key, timeout_seconds)
