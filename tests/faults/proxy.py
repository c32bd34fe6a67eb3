"""A proxy between clients and a server that loses answers, cuts, delays and trickles, as networks do, or
falls silent, as a server does that was halted."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

Fault: TypeAlias = Literal["lost answer", "cut", "delay", "trickle"]
"""The request goes through and its answer is lost, with the connection; the connection ends at any place; the
answer comes late; the answer comes in pieces."""
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
CHUNK: Final = 65_536
DELAY_SECONDS: Final = 0.2
PIECE: Final = 7
"""Bytes: no field of either protocol fits."""


class Proxy:
    """Listens on a port of its own.

    Args:
        url: of the database; `url` is that of the same by way of this proxy.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        login, _, _ = parts.netloc.rpartition("@")
        where = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = parts._replace(netloc=f"{login}@{where}" if login else where).geturl()
        self._lock = threading.Lock()
        self._links: list[_Link] = []
        self._silent = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def strike(self, fault: Fault, chance: random.Random) -> int:
        """Let something happen to a connection; returns how many faults that was."""
        with self._lock:
            self._links = [link for link in self._links if not link.closed]
            if not self._links:
                return 0
            link = chance.choice(self._links)
        if fault == "cut":
            link.close()
        else:
            link.fault = fault
        return 1

    def fall_silent(self) -> None:
        """From now on take in what is asked, on new connections as well, and answer nothing."""
        self._silent.set()

    def close(self) -> None:
        """End all connections, and take no more."""
        self._listener.close()
        with self._lock:
            for link in self._links:
                link.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._server, timeout=10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            link = _Link(client, server, self._silent)
            with self._lock:
                self._links.append(link)
            link.start()


class _Link:
    """A client's connection, and the one to the server that goes with it."""

    def __init__(self, client: socket.socket, server: socket.socket, silent: threading.Event) -> None:
        self.fault: Fault | None = None
        """What befalls the next answer."""
        self.closed = False
        self._client, self._server, self._silent = client, server, silent
        for one in (client, server):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def start(self) -> None:
        """Hand on what comes, both ways."""
        threading.Thread(target=self._pump, args=(self._client, self._server), daemon=True).start()
        threading.Thread(target=self._pump, args=(self._server, self._client), daemon=True).start()

    def close(self) -> None:
        """End both."""
        self.closed = True
        for one in (self._client, self._server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                if source is self._server and self._silent.is_set():
                    continue
                if source is self._server and self.fault is not None:
                    fault, self.fault = self.fault, None
                    if fault == "lost answer":
                        break
                    if fault == "delay":
                        time.sleep(DELAY_SECONDS)
                    else:
                        for at in range(0, min(len(data), 100 * PIECE), PIECE):
                            target.sendall(data[at : at + PIECE])
                            time.sleep(0.001)
                        data = data[100 * PIECE :]
                target.sendall(data)
        self.close()


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """Give a proxy in front of a database.

    Args:
        url: of the database.
    """
    one = Proxy(url)
    try:
        yield one
    finally:
        one.close()
