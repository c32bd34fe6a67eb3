"""The command `pyqueue metrics`."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from pyqueue_sql.cli.common import REFUSED, Failure, nothing, schema_option, url_option

if TYPE_CHECKING:
    from types import FrameType


@click.command()
@url_option
@schema_option
@click.option("--port", type=click.IntRange(min=0, max=65535), help="Serve them there; 0: any port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
def metrics(url: str, schema: str | None, port: int | None, host: str) -> None:
    """Print the metrics of the queue for Prometheus, or serve them.

    Each look reads at most 10000 messages of a kind, and writes nothing. Where the database doesn't answer,
    pyqueue_up is 0, and so printed the exit code is 1. Served, they end with SIGTERM, and the exit code is 0.

    It needs `pip install 'pyqueue_sql[metrics]'`.

    \b
      pyqueue metrics
      pyqueue metrics --port 9187 --host 0.0.0.0
    """
    try:
        # imported late: it has dependencies of its own, and nothing else here is to wait for them
        from pyqueue_sql.metrics import asgi
    except ImportError as error:
        raise Failure(f"{error.name} is needed: pip install 'pyqueue_sql[metrics]'", REFUSED) from None
    if port is None:
        found = asgi.text(url, schema)
        click.echo(found, nl=False)
        if "\npyqueue_up 1.0" not in found:
            nothing()
        return
    # the first process of a container has no other end by SIGTERM
    signal.signal(signal.SIGTERM, _end)
    try:
        server, thread = asgi.serve(url, schema, host, port)
    except OSError as error:
        raise Failure(f"{host}:{port}: {error.strerror or error}", REFUSED) from None
    click.echo(f"http://{host}:{server.server_port}/metrics", err=True)
    try:
        thread.join()
    finally:
        server.shutdown()


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit()


COMMANDS = (metrics,)
