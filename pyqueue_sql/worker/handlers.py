"""Handlers by kind, and what each of them takes."""

from __future__ import annotations

import contextlib
import inspect
import math
import typing
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack, cast

from pyqueue_sql.calls.options import DefineOptions
from pyqueue_sql.models import Message
from pyqueue_sql.worker.context import AsyncContext, Context
from pyqueue_sql.worker.handler import Around, Handler
from pyqueue_sql.worker.parsing import parser
from pyqueue_sql.worker.task import OrderKey, Task

F = TypeVar("F", bound=Callable[..., Any])
A = TypeVar("A", bound=Around)
L = TypeVar("L", bound=Callable[[], Any])
T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

MAX_BATCH = 1000
RESULT_SECONDS = 86400.0
"""For how long a result is kept, where its handler doesn't say."""

Given = dict[str, tuple[Callable[..., Any], dict[str, Any]]]
"""Functions and options of decorators, by kind."""


class Handlers(Mapping[str, Handler]):
    """The handlers of an application, one a kind.

        handlers = Handlers()

        @handlers.on("emails")
        def send(email: Email) -> None: ...

    A handler takes the payload, as the annotation of its first parameter says: a plain type such as dict or
    bytes, or with pydantic a dataclass, a model or any type that it makes of JSON; or the `Message` itself,
    by that annotation or none. A second
    parameter is given a `Context`, or for a coroutine an `AsyncContext`.

    To return is to say that the message is done, whatever is returned (with `keep_result` that is its
    result), unless it is `Retry`, `Reject`,
    `Snooze` or `Move`, which may be raised as well. To raise anything else is a failed attempt, with the
    traceback as its error; so is to return a coroutine or a generator, since nobody runs it.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._given: Given = {}
        self._around: list[Around] = []
        self._lifespan: Callable[[], Any] | None = None

    def __getstate__(self) -> tuple[Given, list[Around], Callable[[], Any] | None]:
        return self._given, self._around, self._lifespan

    def __setstate__(self, state: tuple[Given, list[Around], Callable[[], Any] | None]) -> None:
        self.__init__()
        given, self._around, self._lifespan = state
        for kind, (function, options) in given.items():
            self.on(kind, **options)(cast("Callable[..., Any]", getattr(function, "function", function)))

    def __getitem__(self, kind: str) -> Handler:
        return self._handlers[kind]

    def __iter__(self) -> typing.Iterator[str]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)

    def on(
        self,
        kind: str,
        *,
        payload: Any = None,
        concurrency: int | None = None,
        max_messages: int = MAX_BATCH,
        timeout_seconds: float | None = None,
        max_seconds: float | None = None,
        keep_result: bool = False,
        cron: str | None = None,
        time_zone: str | None = None,
        settings: DefineOptions | None = None,
    ) -> Callable[[F], F]:
        """Return a decorator that makes a function or coroutine function the handler of a kind.

        Args:
            kind: the kind.
            payload: the type of the payload, in place of the annotation.
            concurrency: how many of this kind at once in one process; None: as many as the worker runs.
            max_messages: how many to take from the queue at once, at the most: 1 to 1000.
            timeout_seconds: how long a hold lasts before it is renewed; None: as the kind says.
            max_seconds: how long a handler may take. After that a coroutine is cancelled, which is a failed
                attempt; a function goes on, but its message may go to another. None: for ever.
            keep_result: whether what it returns is the result of the message, as JSON: see `wait_for_result`.
                The kind has to keep a history for that; without a `history_seconds` in the settings, a day.
            cron: push a message with a null payload at these times, by a schedule of the kind's name.
            time_zone: of that, as Europe/Berlin; None: UTC.
            settings: of the kind. A worker brings them and the schedule to the database when it starts, where
                its login may do that, as `queue_operator` may; else they are a warning in its log.

        Raises:
            ValueError: the kind has a handler, or a number is out of its range.
            TypeError: the kind is no text; or payloads can't be parsed as what it takes, or not without
                pydantic, the extra `worker`.
        """
        _check_kind(kind)
        if kind in self._handlers:
            raise ValueError(f"kind {kind} has a handler: {self._handlers[kind].function.__qualname__}")
        if not 1 <= max_messages <= MAX_BATCH:
            raise ValueError(f"max_messages {max_messages}: 1 to {MAX_BATCH}")
        if time_zone is not None and cron is None:
            raise ValueError(f"time_zone {time_zone}: of a cron, and there is none")
        for name, number in (
            ("concurrency", concurrency),
            ("timeout_seconds", timeout_seconds),
            ("max_seconds", max_seconds),
        ):
            if number is not None and not 0 < number < math.inf:
                raise ValueError(f"{name} {number}: more than 0, and finite")

        given: dict[str, Any] = {
            "payload": payload,
            "concurrency": concurrency,
            "max_messages": max_messages,
            "timeout_seconds": timeout_seconds,
            "max_seconds": max_seconds,
            "keep_result": keep_result,
            "cron": cron,
            "time_zone": time_zone,
            "settings": settings,
        }
        wanted_settings: DefineOptions = {**(settings or {})}
        if keep_result:
            wanted_settings.setdefault("history_seconds", RESULT_SECONDS)

        def decorate(function: F) -> F:
            wanted, wants_context = _signature(function, payload)
            self._handlers[kind] = Handler(
                kind,
                function,
                inspect.iscoroutinefunction(function),
                None if wanted in (Message, bytes) else parser(wanted),
                wanted is bytes,
                wants_context,
                concurrency,
                max_messages,
                timeout_seconds,
                max_seconds,
                keep_result,
                wanted_settings,
                cron,
                time_zone,
                self._around,
            )
            self._given[kind] = function, given
            return function

        return decorate

    def task(
        self,
        kind: str,
        *,
        payload: Any = None,
        concurrency: int | None = None,
        max_messages: int = MAX_BATCH,
        max_seconds: float | None = None,
        keep_result: bool = False,
        cron: str | None = None,
        time_zone: str | None = None,
        order_key: OrderKey | None = None,
        **settings: Unpack[DefineOptions],
    ) -> Callable[[Callable[Concatenate[T, P], R]], Task[T, P, R]]:
        """Return a decorator that makes a function the handler of a kind, and gives it a typed `push`.

            @handlers.task("emails", max_attempts=5, backoff_seconds=10, order_key=lambda email: email.to)
            def send(email: Email) -> None: ...

            send.push(queue, Email("ann@example.org", "hello"), key="welcome/ann")

        Args:
            kind: the kind.
            payload: as of `on`, and so are concurrency, max_messages, max_seconds, keep_result, cron and
                time_zone.
            concurrency: see there.
            max_messages: see there.
            max_seconds: see there.
            keep_result: see there.
            cron: see there.
            time_zone: see there.
            order_key: makes the order key of a payload: messages of the same one come one at a time.
            **settings: of the kind, see `DefineOptions`, brought to the database as those of `on`.

        Raises:
            ValueError, TypeError: as `on`.
        """
        _check_kind(kind)

        def decorate(function: Callable[Concatenate[T, P], R]) -> Task[T, P, R]:
            self.on(
                kind,
                payload=payload,
                concurrency=concurrency,
                max_messages=max_messages,
                max_seconds=max_seconds,
                keep_result=keep_result,
                cron=cron,
                time_zone=time_zone,
                settings=settings,
            )(function)
            task = Task(function, kind, order_key)
            # what another process imports by the name of the function is the task
            self._given[kind] = task, self._given[kind][1]
            return task

        return decorate

    def around(self, function: A) -> A:
        """Run every handler of these in a generator function that yields once: a decorator.

            @handlers.around
            def timed(message: Message) -> Iterator[None]:
                began = time.monotonic()
                yield
                print(message.kind, time.monotonic() - began)

        What the handler raises comes out of the `yield`; what leaves the generator counts. The first one is
        the outermost. An async generator function is for coroutines alone, another one for all handlers.

        Raises:
            TypeError: it is no generator function.
        """
        _check_generator(function)
        self._around.append(function)
        return function

    def lifespan(self, function: L) -> L:
        """Let a generator function without parameters make what the handlers of a process share: a decorator.

            @handlers.lifespan
            def clients() -> Iterator[Clients]:
                with httpx.Client() as client:
                    yield Clients(client)

        What it yields is `context.state` of each handler. It runs up to its `yield` before a worker takes
        anything, and on from there when all handlers have ended. It may be an async generator function.

        Raises:
            TypeError: it is no generator function.
            ValueError: there is one already.
        """
        _check_generator(function)
        if self._lifespan is not None:
            raise ValueError(f"there is a lifespan: {self._lifespan}")
        self._lifespan = function
        return function

    @contextlib.asynccontextmanager
    async def living(self) -> AsyncGenerator[Any]:
        """Give what the handlers of a process share while the block runs; None: there is no lifespan."""
        if self._lifespan is None:
            yield None
        elif inspect.isasyncgenfunction(self._lifespan):
            async with contextlib.asynccontextmanager(self._lifespan)() as state:
                yield state
        else:
            with contextlib.contextmanager(self._lifespan)() as state:
                yield state

    def only(self, kinds: Iterable[str]) -> Handlers:
        """Return those of some kinds.

        Raises:
            LookupError: one of them has no handler.
        """
        chosen = Handlers()
        chosen._around, chosen._lifespan = self._around, self._lifespan
        for kind in kinds:
            if kind not in self._handlers:
                raise LookupError(f"kind {kind} has no handler; those that have: {', '.join(self._handlers)}")
            chosen._handlers[kind], chosen._given[kind] = self._handlers[kind], self._given[kind]
        return chosen


def _check_kind(kind: object) -> None:
    """Refuse the function of a decorator that stands without a kind: nobody would ever call it."""
    if not isinstance(kind, str):
        raise TypeError(f'kind {kind}: text is wanted, as in @handlers.on("emails")')


def _check_generator(function: Callable[..., Any]) -> None:
    if not (inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)):
        raise TypeError(f"{function}: a generator function is wanted, with one yield")


def _signature(function: Callable[..., Any], payload: Any) -> tuple[Any, bool]:
    """Return what the first parameter takes, and whether there is a second one."""
    name = getattr(function, "__qualname__", repr(function))
    parameters = [
        one
        for one in inspect.signature(function).parameters.values()
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        and (one.default is one.empty or one.name == "context")
    ]
    if not 1 <= len(parameters) <= 2:
        raise TypeError(f"{name}: a handler takes a payload or message, and maybe a context")
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        if payload is None:
            raise TypeError(f"{name}: an annotation can't be looked up, so give payload=…: {error}") from None
        hints = {}
    wants = Context if not inspect.iscoroutinefunction(function) else AsyncContext
    if len(parameters) == 2 and hints.get(parameters[1].name, wants) is not wants:
        raise TypeError(f"{name}: its second parameter is given a {wants.__name__}")
    wanted = hints.get(parameters[0].name, Message) if payload is None else payload
    return wanted, len(parameters) == 2
