"""The command `pyqueue web`."""

from __future__ import annotations

import socket

import click

from pyqueue_sql.cli.common import REFUSED, Failure, schema_option, url_option

LOCAL = ("127.0.0.1", "localhost", "::1", "[::1]")


@click.command()
@url_option
@schema_option
@click.option(
    "--port", type=click.IntRange(min=0, max=65535), default=8080, show_default=True, help="0: any port."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at.")
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="A name by which it may be called, as queue.example.org; may be given again. Default: localhost"
    " where --host is local, else any.",
)
@click.option(
    "--actions", is_flag=True, help="Who logs in with the token may retry, remove, redrive, pause and resume."
)
@click.option("--private", is_flag=True, help="Who doesn't log in with the token sees nothing.")
@click.option(
    "--token",
    envvar="PYQUEUE_WEB_TOKEN",
    show_envvar=True,
    help="The token, of at least 16 characters. Other users of the machine can read what is given here:"
    " better is the variable.",
)
def web(
    url: str,
    schema: str | None,
    port: int,
    host: str,
    hosts: tuple[str, ...],
    actions: bool,
    private: bool,
    token: str | None,
) -> None:
    """Serve a page that shows the queue; it changes nothing unless --actions is given.

    It shows what the login in the URL may see: with the role queue_observer nothing that is in messages. TLS
    is for a proxy in front.

    It needs `pip install 'pyqueue_sql[web]'`.

    \b
      pyqueue web
      export PYQUEUE_WEB_TOKEN=$(openssl rand -hex 16)
      pyqueue web --actions --host 0.0.0.0 --allow-host queue.example.org
    """
    try:
        # imported late: it has dependencies of its own, and nothing else here is to wait for them
        import uvicorn

        from pyqueue_sql.web import web_app
    except ImportError as error:
        raise Failure(f"{error.name} is needed: pip install 'pyqueue_sql[web]'", REFUSED) from None
    host = host.removeprefix("[").removesuffix("]")  # as an IPv6 address stands in a URL
    try:
        app = web_app(
            url,
            schema,
            actions=actions,
            token=token,
            private=private,
            hosts=hosts or (LOCAL if host in LOCAL else None),
        )
    except ValueError as error:
        raise click.UsageError(f"--{error}") from None
    config = uvicorn.Config(app, log_level="warning", server_header=False)
    name = f"[{host}]" if ":" in host else host
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # before its address is said: who calls at once waits, and isn't refused
        listening = socket.create_server((host, port), family=family, backlog=config.backlog)
    except OSError as error:
        raise Failure(f"{name}:{port} can't be listened at: {error.strerror or error}", REFUSED) from None
    click.echo(f"http://{name}:{listening.getsockname()[1]}/", err=True)
    uvicorn.Server(config).run(sockets=[listening])


COMMANDS = (web,)
