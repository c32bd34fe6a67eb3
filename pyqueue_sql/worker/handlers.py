"""Handlers by kind, and what each of them takes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from pyqueue_sql.models import Message
from pyqueue_sql.worker.context import AsyncContext, Context
from pyqueue_sql.worker.parsing import Misfit, Parse, parser

F = TypeVar("F", bound=Callable[..., Any])
Contextual: TypeAlias = Context | AsyncContext

MAX_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Handler:
    """What works off the messages of one kind."""

    kind: str
    function: Callable[..., Any]
    is_async: bool
    """Whether it is a coroutine function, run in the event loop; else it runs in threads."""
    parse: Parse | None
    """Makes the first argument of the payload; None: that is the message."""
    takes_bytes: bool
    wants_context: bool
    concurrency: int | None
    """How many of this kind at once in one process; None: as many as there is room for."""
    max_messages: int
    """How many it takes at once from the queue, at the most."""
    timeout_seconds: float | None
    """How long a hold lasts before it is renewed; None: as the kind says."""
    max_seconds: float | None
    """For how long a hold is renewed; None: for as long as the handler runs."""

    def arguments(self, message: Message, context: Contextual | None) -> tuple[Any, ...]:
        """Return what the function is called with.

        Raises:
            Misfit: the payload is not of the type that it takes.
        """
        if self.takes_bytes:
            if message.payload_bytes is None:
                raise Misfit("payload: bytes are wanted, not JSON")
            first: Any = message.payload_bytes
        elif self.parse is None:
            first = message
        elif message.payload_bytes is not None:
            raise Misfit("payload: JSON is wanted, not bytes")
        else:
            first = self.parse(message.payload, "payload")
        return (first, context) if self.wants_context else (first,)


class Handlers(Mapping[str, Handler]):
    """The handlers of an application, one a kind.

        handlers = Handlers()

        @handlers.on("emails")
        def send(email: Email) -> None: ...

    A handler takes the payload, as the annotation of its first parameter says: a dataclass, a pydantic model,
    or a plain type such as dict or bytes; or the `Message` itself, by that annotation or none. A second
    parameter is given a `Context`, or for a coroutine an `AsyncContext`.

    To return is to say that the message is done, whatever is returned, unless it is `Retry`, `Reject`,
    `Snooze` or `Move`, which may be raised as well. To raise anything else is a failed attempt, with the
    traceback as its error.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._given: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}

    def __getstate__(self) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
        return self._given

    def __setstate__(self, given: dict[str, tuple[Callable[..., Any], dict[str, Any]]]) -> None:
        self.__init__()
        for kind, (function, options) in given.items():
            self.on(kind, **options)(function)

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

        Raises:
            ValueError: the kind has a handler, or a number is out of its range.
            TypeError: payloads can't be parsed as what it takes.
        """
        if kind in self._handlers:
            raise ValueError(f"kind {kind} has a handler: {self._handlers[kind].function.__qualname__}")
        if not 1 <= max_messages <= MAX_BATCH:
            raise ValueError(f"max_messages {max_messages}: 1 to {MAX_BATCH}")
        for name, number in (
            ("concurrency", concurrency),
            ("timeout_seconds", timeout_seconds),
            ("max_seconds", max_seconds),
        ):
            if number is not None and number <= 0:
                raise ValueError(f"{name} {number}: more than 0")

        given: dict[str, Any] = {
            "payload": payload,
            "concurrency": concurrency,
            "max_messages": max_messages,
            "timeout_seconds": timeout_seconds,
            "max_seconds": max_seconds,
        }

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
            )
            self._given[kind] = function, given
            return function

        return decorate

    def only(self, kinds: Iterable[str]) -> Handlers:
        """Return those of some kinds.

        Raises:
            LookupError: one of them has no handler.
        """
        chosen = Handlers()
        for kind in kinds:
            if kind not in self._handlers:
                raise LookupError(f"kind {kind} has no handler; those that have: {', '.join(self._handlers)}")
            chosen._handlers[kind], chosen._given[kind] = self._handlers[kind], self._given[kind]
        return chosen


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
