"""A handler: a function and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyqueue_sql.calls.options import DefineOptions
from pyqueue_sql.models import Message
from pyqueue_sql.worker.parsing import Misfit, Parse

Around = Callable[[Message], Any]
"""A generator function, or an async one, that yields once."""


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
    keep_result: bool = False
    """Whether what it returns is the result of the message."""
    settings: DefineOptions = field(default_factory=lambda: DefineOptions())
    """Settings of the kind, which a worker brings to the database when it starts."""
    cron: str | None = None
    """When a message with a null payload is pushed by itself; None: never."""
    time_zone: str | None = None
    """The zone of that; None: UTC."""
    around: Sequence[Around] = ()
    """What every handler of the application runs in, the outermost first."""

    def arguments(self, message: Message, context: object) -> tuple[Any, ...]:
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
            first = self.parse(message.payload)
        return (first, context) if self.wants_context else (first,)
