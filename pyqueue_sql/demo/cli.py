"""The command `pyqueue demo`."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import click

from pyqueue_sql import QueueError
from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.demo import DemoError, InUse, Unfinished
from pyqueue_sql.demo.interrupts import terminating
from pyqueue_sql.embedded import EmbeddedServerError, start_server
from pyqueue_sql.schema import migrate

DEFAULT_SECONDS = 45.0
OURS_PREFIX = "flights."
THEIRS_PREFIX = "pyqueue_demo.flights."
WRONG, QUEUE_ERROR, CONNECTION_ERROR, INTERRUPTED = 1, 3, 4, 130


@click.command()
@click.option(
    "--url",
    envvar="PYQUEUE_URL",
    help="The server, postgresql://… or mysql://…; without it a PostgreSQL of its own, gone afterwards.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=DEFAULT_SECONDS,
    show_default=True,
    help="How long the flights take.",
)
@click.option(
    "--flights",
    type=click.IntRange(min=1),
    help="Only so many, the first of the year; else all 336,776.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="Processes that let flights depart; one more drains those that arrived.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the data of the server of its own in this folder.",
)
def demo(url: str | None, seconds: float, flights: int | None, workers: int, data: Path | None) -> None:
    """Replay the flights that left New York in 2013 through the queue.

    Every flight is a message, keyed by what identifies it and delivered at its scheduled departure, in a
    year that takes 45 seconds. All are pushed twice, and no second message comes of it. Worker processes move
    the flights that departed to a second kind, with their arrival in the payload, where another takes them
    out; a cancelled flight fails, is tried again, and ends as a dead letter.

    At the end a table has the counts next to those of the data file. Lateness is from due to reserved, by the
    clock of the database. Where it grows, the machine can't keep the pace, and a line says so: --seconds
    gives it more time.

    \b
    Exit codes:
      0    every flight came once and to its place
      1    one is missing, doubled or in the wrong place
      2    wrong usage
      3    the queue refused something: messages are in the kinds of the demo already
      4    no connection, or no server
      130  Ctrl-C

    \b
    Examples:
      pyqueue demo
      pyqueue demo --flights 20000 --seconds 10
      pyqueue demo --url postgresql://me@db.example/app
      pyqueue demo --url mysql://me@db.example/app --seconds 300

    With --url the kinds are called pyqueue_demo.flights.… and are removed at the end. The queue itself is
    installed where it isn't yet, and stays.
    """
    if url and data:
        raise click.UsageError("--data is for the server of the demo's own: not together with --url")
    try:
        with terminating(), _server(url, data) as server_url:
            right = _run(server_url, seconds, flights, workers, ours=not url, temporary=not url and not data)
    except Unfinished as error:
        click.echo(f"{error}; {_advice(error.kinds, data)}", err=True)
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        stays = "the queue itself" if url else f"the data in {data}" if data else ""
        but = f", but for {stays}" if stays else ""
        click.echo(f"interrupted; everything the demo made is removed{but}", err=True)
        sys.exit(INTERRUPTED)
    except InUse as error:
        _fail(f"{error}; {_advice(error.kinds, data)}", QUEUE_ERROR)
    except (ConnectionFailed, EmbeddedServerError) as error:
        _fail(error, CONNECTION_ERROR)
    except (DemoError, QueueError) as error:
        _fail(error, QUEUE_ERROR)
    except Exception as error:
        failure = dialect.failure(error)
        if failure is None:
            raise
        _fail(failure.message, CONNECTION_ERROR if failure.lost else QUEUE_ERROR)
    sys.exit(0 if right else WRONG)


def _advice(kinds: Sequence[str], data: Path | None) -> str:
    """Say what to do with what is left in the kinds."""
    if data:  # whose server is gone by now
        return f"give --data another folder, or remove {data} where all of it is a demo's"
    drops = "; ".join(f"pyqueue drop {kind}" for kind in kinds)
    return f"to drop {'it' if len(kinds) == 1 else 'them'}, with the same --url: {drops}"


def _run(url: str, seconds: float, limit: int | None, workers: int, *, ours: bool, temporary: bool) -> bool:
    """Replay and show; return whether all was right."""
    try:
        from rich.console import Console

        from pyqueue_sql.demo.display import Display, show_verdict
    except ImportError as error:
        raise DemoError(f"{error.name} is not installed: pip install 'pyqueue_sql[demo]'") from None
    from pyqueue_sql.demo.data import read_flights
    from pyqueue_sql.demo.load import Kinds
    from pyqueue_sql.demo.replay import Plan, replay

    console = Console()
    kinds = Kinds.named(OURS_PREFIX if ours else THEIRS_PREFIX)
    with Display(console, kinds) as display:
        if ours or migrate.current(url) is None:
            migrate.upgrade(url)
            display.say("the queue is installed")
        flights = read_flights(limit)
        plan = Plan(
            url=url,
            kinds=kinds,
            flights=flights,
            seconds=seconds,
            workers=workers,
            cleanup=not temporary,
        )
        verdict = replay(plan, display)
    show_verdict(console, verdict)
    return not verdict.problems


@contextmanager
def _server(url: str | None, data: Path | None) -> Generator[str]:
    """Give the URL of the server that was named, or of one that lives as long as this block."""
    if url:
        yield url
    else:
        with start_server(data) as server:
            click.echo(f"PostgreSQL {server.version} on 127.0.0.1:{server.port}, data in {server.data_dir}")
            yield server.url


def _fail(error: Exception | str, code: int) -> NoReturn:
    click.echo(f"pyqueue demo: {error}", err=True)
    sys.exit(code)
