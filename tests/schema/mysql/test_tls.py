"""Whom a connection trusts, by the certificates that MySQL makes for itself; MariaDB has none in the tests.

What it is asked for stands in the URL, for PyMySQL and for aiomysql alike.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.worker.connecting import connect_async
from tests.unit.test_worker_options import CA

if TYPE_CHECKING:
    from collections.abc import Callable

CIPHER = "show session status like 'Ssl_cipher'"


def cipher_of_pymysql(url: str) -> str:
    """Return what the connection is encrypted with, nothing where it isn't."""
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(CIPHER)
        return cursor.fetchall()[0][1]


def cipher_of_aiomysql(url: str) -> str:
    """Return the same of one for coroutines."""

    async def ask() -> str:
        with closing(await connect_async(url)) as connection:
            async with connection.cursor() as cursor:
                await cursor.execute(CIPHER)
                return (await cursor.fetchall())[0][1]

    return asyncio.run(ask())


@pytest.mark.servers("mysql")
@pytest.mark.parametrize("cipher_of", [cipher_of_pymysql, cipher_of_aiomysql])
def test_a_server_is_trusted_by_who_signed_its_certificate(
    innodb_url: str, tmp_path: Path, cipher_of: Callable[[str], str]
) -> None:
    with connect(innodb_url) as connection, connection.cursor() as cursor:
        cursor.execute("select concat(@@datadir, @@ssl_ca)")
        own = cursor.fetchall()[0][0]
    (tmp_path / "other.pem").write_text(CA)
    other = tmp_path / "other.pem"
    assert cipher_of(f"{innodb_url}?ssl_ca={own}")
    assert cipher_of(f"{innodb_url}?ssl_ca={other}&ssl_verify_cert=false")
    for refused in (
        f"ssl_ca={other}",
        f"ssl_ca={own}&ssl_verify_identity=true",  # it names another host
        "ssl_verify_cert=true",  # the system's authorities didn't sign it
        "ssl_verify_identity=true",
    ):
        with pytest.raises(ConnectionFailed, match="certificate verify failed"):
            cipher_of(f"{innodb_url}?{refused}")


@pytest.mark.servers("mysql")
def test_a_file_that_is_none_is_named(innodb_url: str, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").touch()
    for name in ("absent.pem", "empty.pem"):
        with pytest.raises(ConnectionFailed, match=name) as failed:
            connect(f"{innodb_url}?ssl_ca={tmp_path / name}")
        assert not failed.value.away, "to try again would be of no use"


@pytest.mark.parametrize("cipher_of", [cipher_of_pymysql, cipher_of_aiomysql])
def test_a_server_that_says_it_cannot_encrypt_is_told_nothing(cipher_of: Callable[[str], str]) -> None:
    said = list[bytes]()

    def greet(listener: socket.socket) -> None:
        """Stand between, unable to encrypt, with a plugin that wants the password itself."""
        can = 0xFFFFFFFF & ~0x800 & ~0x20
        greeting = b"\x0a8.0.36\0" + struct.pack(
            "<I8sxHBHHB10x12sx", 1, b"a" * 8, can & 0xFFFF, 45, 2, can >> 16, 21, b"b" * 12
        )
        packet = greeting + b"mysql_clear_password\0"
        client, _ = listener.accept()
        with client:
            client.sendall(struct.pack("<I", len(packet)) + packet)
            said.append(client.recv(4096))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        standing = threading.Thread(target=greet, args=[listener])
        standing.start()
        with pytest.raises(ConnectionFailed):
            cipher_of(f"mysql://me:secret@127.0.0.1:{port}/app?ssl_verify_identity=true")
        standing.join(60)
    assert said == [b""]
