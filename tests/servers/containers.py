"""Servers in containers, where Docker runs and testcontainers is installed."""

from __future__ import annotations

from collections.abc import Callable

from tests.servers.binaries import UnavailableError

IMAGES = {"mariadb": "mariadb:11.8", "mysql": "mysql:8.4"}
PASSWORD = "pyqueue"  # of a container that only this machine reaches


def start(name: str) -> tuple[str, str, Callable[[], None]]:
    """Start a container.

    Args:
        name: mariadb or mysql.

    Returns:
        The URL of the superuser, the image, and what stops it.

    Raises:
        UnavailableError: testcontainers isn't installed, or Docker doesn't run.
    """
    try:
        from testcontainers.mysql import MySqlContainer  # pyright: ignore
    except ImportError:
        raise UnavailableError("testcontainers isn't installed") from None
    try:
        container = MySqlContainer(
            IMAGES[name], username="root", root_password=PASSWORD, password=PASSWORD, dialect="pymysql"
        )
        container.start()
    except Exception as error:  # whatever Docker says
        raise UnavailableError(f"no container of {IMAGES[name]}: {str(error)[:200]}") from None
    where = f"{container.get_container_host_ip()}:{container.get_exposed_port(3306)}"
    return f"{name}+pymysql://root:{PASSWORD}@{where}", IMAGES[name], container.stop
