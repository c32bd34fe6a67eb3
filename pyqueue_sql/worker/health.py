"""The health check of a worker, over HTTP.

`/live` answers 200 as long as the event loop does. Every other path answers 200 while the worker takes
messages and its last heartbeat isn't too old, else 503: that is for readiness, since a worker that waits for
its database needn't be started again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

READ_SECONDS = 5.0
Health = Callable[[], Mapping[str, Any]]


class ListenError(OSError):
    """Nobody can be answered at the address of a health check."""


def parse(address: str) -> tuple[str, int]:
    """Return host and port of HOST:PORT, or of PORT alone, which is every address of this machine.

    Raises:
        ValueError: it is neither.
    """
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"health {address!r}: HOST:PORT or PORT, of 0 to 65535")
    return host.strip("[]") or "0.0.0.0", int(port)


@asynccontextmanager
async def serve(address: str | None, health: Health) -> AsyncGenerator[int | None]:
    """Answer while the block runs.

    Args:
        address: where, as `parse` takes it; None: nowhere.
        health: says how the worker is; `status` of it is `ok` where all is well.

    Yields:
        The port, None where there is none.

    Raises:
        ListenError: not there.
    """
    if address is None:
        yield None
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(READ_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                said = health()
                fine = head.split(b" ")[1:2] == [b"/live"] or said["status"] == "ok"
                status = HTTPStatus.OK if fine else HTTPStatus.SERVICE_UNAVAILABLE
                body = json.dumps(said).encode() + b"\n"
                writer.write(
                    f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: application/json\r\n"
                    f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, *parse(address))
    except (OSError, UnicodeError) as error:  # its host may be no name at all
        said = isinstance(error, OSError) and error.strerror
        raise ListenError(f"health {address!r}: {said or error}") from None
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
