"""A trace goes from a push to its handler, in the headers of the message."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pyqueue_sql import InvalidPayload, Message, QueueError
from pyqueue_sql.worker import Handlers, Snooze

if TYPE_CHECKING:
    from tests.conformance.harness import Session
    from tests.worker.helpers import Workers


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """The spans that end meanwhile; a provider of the process can be set once, and would trace all tests."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


def one(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    [found] = [span for span in spans.get_finished_spans() if span.name == name]
    return found


def number(span: ReadableSpan | trace.Span) -> int:
    return span.get_span_context().span_id  # pyright: ignore[reportOptionalMemberAccess]


def test_a_handlers_span_is_below_the_pushs(
    queue: Session, workers: Workers, spans: InMemorySpanExporter
) -> None:
    handlers, inside = Handlers(), list[int]()

    @handlers.on("mail")
    def send(message: Message) -> None:
        inside.append(number(trace.get_current_span()))
        if message.key == "a":
            queue.push("bills", "a", headers={"tenant": "x"})

    @handlers.on("bills")
    async def bill(_: Message) -> None:
        await asyncio.sleep(0)
        inside.append(number(trace.get_current_span()))

    with trace.get_tracer("application").start_as_current_span("request") as request:
        queue.push("mail", "a")
        queue.push_many("many", [{"key": "b", "headers": {"tenant": "x"}}, {"key": "c"}])
        queue.publish("nobody", "d")
    workers.drain(handlers)
    names = ["create mail", "process mail", "create bills", "process bills"]
    chain = [one(spans, name) for name in names]
    above = [number(request), *map(number, chain[:-1])]
    assert [span.parent and span.parent.span_id for span in chain] == above
    assert inside == [number(chain[1]), number(chain[3])]
    attributes: dict[str, Any] = dict(chain[1].attributes or {})
    assert attributes == {
        "messaging.system": "pyqueue",
        "messaging.operation.name": "process",
        "messaging.destination.name": "mail",
        "messaging.message.id": "a",
        "pyqueue.attempt": 1,
    }
    headers = {message.key: message.headers or {} for message in queue.peek("many", 2)}
    assert headers["b"]["tenant"] == "x"
    assert headers["b"]["traceparent"] == headers["c"]["traceparent"]


def test_what_failed_is_an_error_of_its_span(
    queue: Session, workers: Workers, spans: InMemorySpanExporter
) -> None:
    handlers = Handlers()

    @handlers.on("fails")
    def fail(_: Message) -> None:
        raise LookupError("no such order")

    @handlers.on("waits")
    def wait(_: Message) -> None:
        raise Snooze(3600)

    queue.push("fails", "a")
    queue.push("waits", "a")
    workers.drain(handlers)
    failed, waited = one(spans, "process fails"), one(spans, "process waits")
    assert (failed.status.status_code, failed.status.description) == (trace.StatusCode.ERROR, "LookupError")
    assert [event.name for event in failed.events] == ["exception"]
    assert (waited.status.status_code, list(waited.events)) == (trace.StatusCode.UNSET, [])
    assert [message.state for message in queue.peek("waits")] == ["scheduled"], "it is a snooze all the same"


def test_a_trace_that_the_application_brings_goes_before(
    queue: Session, workers: Workers, spans: InMemorySpanExporter
) -> None:
    handlers, theirs = Handlers(), f"00-{1:032x}-{2:016x}-01"

    @handlers.on("mail")
    def send(_: Message) -> None: ...

    queue.push("mail", "a", headers={"traceparent": theirs})
    # a header that is no text is no trace
    queue.push("mail", "b", headers={"traceparent": 5})
    workers.drain(handlers)
    handled = {
        (span.attributes or {})["messaging.message.id"]: span
        for span in spans.get_finished_spans()
        if span.name == "process mail"
    }
    above = handled["a"].parent
    assert above is not None
    assert (above.trace_id, above.span_id) == (1, 2)
    assert handled["b"].parent is None
    made = [(span.attributes or {})["messaging.message.id"] for span in spans.get_finished_spans()[:2]]
    assert made == ["a", "b"]


@pytest.mark.usefixtures("spans")
@pytest.mark.parametrize("headers", [1.5, "text", ["a"]])
def test_headers_that_are_none_are_refused_as_ever(queue: Session, headers: Any) -> None:
    with pytest.raises(InvalidPayload, match="headers"):
        queue.push("mail", "a", headers=headers)
    with pytest.raises(QueueError, match="headers"):
        queue.push_many("mail", [{"key": "a", "headers": headers}])
    with pytest.raises(QueueError):
        queue.push_many("mail", [headers])


@pytest.mark.servers("postgresql")
def test_nobody_who_does_not_trace_loads_it(queue: Session) -> None:
    queue.push("mail", "a")
    text = "import sys, pyqueue_sql.worker; print([m for m in sys.modules if m.startswith('opentelemetry')])"
    done = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
