"""Traces of OpenTelemetry, carried from a push to the handler in the headers of the message.

Nothing is done where the application has imported no OpenTelemetry. Where it has, each push makes a span that
says that the message was created and puts its context into the headers; `processing` makes the span of the
handler, below that one.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator, Iterable, Mapping
from typing import Any

from pyqueue_sql.models import Message

NAME = "pyqueue_sql"
API = "opentelemetry.trace"
SYSTEM = "messaging.system"
OPERATION = "messaging.operation.name"
DESTINATION = "messaging.destination.name"
MESSAGE = "messaging.message.id"
ATTEMPT = "pyqueue.attempt"


def carried(kind: str, key: str | None, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of a push with the trace in their headers.

    Args:
        kind: the kind or the topic that is pushed into.
        key: of the message, None: as the database makes it.
        options: as they were given; headers of theirs stay.
    """
    return _beside(_created(kind, key), options)


def carried_by_each(
    kind: str, messages: Iterable[Mapping[str, Any]], options: Mapping[str, Any]
) -> tuple[Iterable[Mapping[str, Any]], Mapping[str, Any]]:
    """Return messages of one push and its options, with the trace in the headers of each."""
    fields = _created(kind, None)
    if not fields:
        return messages, options
    each = [_beside(fields, one) if isinstance(one, dict) and one.get("headers") else one for one in messages]
    return each, _beside(fields, options)


def _beside(fields: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return options with fields among their headers; those that aren't headers are left to be refused."""
    headers: object = options.get("headers")
    if not fields or not (headers is None or isinstance(headers, dict)):
        return options
    return {**options, "headers": {**fields, **(headers or {})}}


def _created(kind: str, key: str | None) -> dict[str, Any]:
    """Make the span of a message that was created, and return what carries it."""
    if API not in sys.modules:
        return {}
    from opentelemetry import propagate, trace

    attributes = {SYSTEM: "pyqueue", OPERATION: "create", DESTINATION: kind}
    if key is not None:
        attributes[MESSAGE] = key
    fields: dict[str, Any] = {}
    tracer = trace.get_tracer(NAME)
    with tracer.start_as_current_span(f"create {kind}", kind=trace.SpanKind.PRODUCER, attributes=attributes):
        propagate.inject(fields)
    return fields


@contextlib.contextmanager
def processing(message: Message, harmless: type[BaseException]) -> Generator[None]:
    """Make the span of a handler, below the one of the push.

    Args:
        message: what it works on.
        harmless: what it may raise without having failed.
    """
    if API not in sys.modules:
        yield
        return
    from opentelemetry import propagate, trace

    texts = {name: value for name, value in (message.headers or {}).items() if isinstance(value, str)}
    attributes: dict[str, str | int] = {
        SYSTEM: "pyqueue",
        OPERATION: "process",
        DESTINATION: message.kind,
        MESSAGE: message.key,
        ATTEMPT: message.attempts,
    }
    with trace.get_tracer(NAME).start_as_current_span(
        f"process {message.kind}",
        context=propagate.extract(texts),
        kind=trace.SpanKind.CONSUMER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            if not isinstance(error, harmless):
                span.record_exception(error)
                span.set_status(trace.StatusCode.ERROR, type(error).__name__)
            raise
