"""An ASGI application for the route of the metrics, and a server of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST, start_http_server

from pyqueue_sql.metrics.collector import QueueCollector

Mapping = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Mapping]]
Send = Callable[[Mapping], Awaitable[None]]
App = Callable[[Mapping, Receive, Send], Awaitable[None]]


def registry(url: str, schema: str | None = None) -> CollectorRegistry:
    """Return a registry with the metrics of one queue; arguments are those of `QueueCollector`."""
    found = CollectorRegistry()
    found.register(QueueCollector(url, schema))
    return found


def metrics_app(url: str, schema: str | None = None) -> App:
    """Return an ASGI application that answers each GET with the metrics of a queue.

    Mount it: `app.mount("/metrics", metrics_app(url))` in Starlette and FastAPI. The look is in a thread, so
    that the event loop never waits for the database.

    Args:
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
        schema: where the queue is; None: the current schema.
    """
    of_queue = registry(url, schema)

    async def app(scope: Mapping, receive: Receive, send: Send) -> None:  # noqa: ARG001
        if scope["type"] != "http":
            raise ValueError(f"scope {scope['type']!r}: only http is answered")
        status, body, kind = 405, b"GET is answered\n", "text/plain"
        if scope["method"] in ("GET", "HEAD"):
            status, body = 200, await asyncio.to_thread(generate_latest, of_queue)
            kind = CONTENT_TYPE_LATEST
        headers = [(b"content-type", kind.encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    return app


def text(url: str, schema: str | None = None) -> str:
    """Return the metrics of a queue in the text format; arguments are those of `QueueCollector`."""
    return generate_latest(registry(url, schema)).decode()


def serve(url: str, schema: str | None, host: str, port: int) -> tuple[Any, Any]:
    """Start a server of the metrics in a thread, and return it and the thread; `shutdown` of it ends both."""
    return start_http_server(port, host, registry(url, schema))
