"""The command `pyqueue pipeline`: run a pipeline of an application on Spark."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Generator
from types import FrameType
from typing import TYPE_CHECKING

import click

from pyqueue_sql.cli.common import REFUSED, Failure, schema_option, url_option

if TYPE_CHECKING:
    from pyqueue_sql.spark.pipeline import Pipeline


@click.command()
@click.argument("target", metavar="MODULE:NAME")
@url_option
@schema_option
@click.option("--master", help="Where Spark runs: local[2], spark://…; else as Spark is configured.")
@click.option("--once", is_flag=True, help="End when nothing is ready; else run until it is stopped.")
@click.option(
    "--checkpoints",
    default="checkpoints",
    show_default=True,
    help="Folder in which Spark keeps where it is; one that every executor reaches.",
)
@click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark; may be given again.")
def pipeline(
    target: str,
    url: str,
    schema: str | None,
    master: str | None,
    once: bool,
    checkpoints: str,
    conf: tuple[str, ...],
) -> None:
    """Run a pipeline on Spark: stations that take messages and move them on.

    It can be stopped and killed anywhere. Started again with the same checkpoints, it does the batch first
    that it was at, and nothing is moved twice.

    \b
      pyqueue pipeline app.flights:pipeline --master 'local[2]'
      pyqueue pipeline app.flights:pipeline --master 'local[2]' --once
    """
    found = find(target)
    from pyqueue_sql.spark.jars import NotFound
    from pyqueue_sql.spark.session import make_session

    settings = dict(pair(one) for one in conf)
    try:
        spark = make_session(found.name, master, settings)
    except NotFound as error:
        raise Failure(str(error), REFUSED) from None
    with stopping():
        try:
            found.run(
                spark,
                url,
                checkpoints,
                once=once,
                queue_schema=schema,
                report=lambda line: click.echo(line, err=True),
            )
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
        finally:
            spark.stop()


def find(target: str) -> Pipeline:
    """Return the pipeline that a name says, from a module that the current folder may have.

    Raises:
        click.BadParameter: there is none.
    """
    try:
        from pyqueue_sql.spark.pipeline import Pipeline
    except ImportError as error:
        raise Failure(f"{error}: pip install 'pyqueue_sql[spark]'", REFUSED) from None
    module, _, name = target.partition(":")
    # as `python -m` has it, and for the executors of a local master too
    sys.path.insert(0, os.getcwd())
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise click.BadParameter(f"{target}: {error}", param_hint="MODULE:NAME") from None
    if not isinstance(found, Pipeline):
        raise click.BadParameter(f"{target} is no Pipeline", param_hint="MODULE:NAME")
    return found


def pair(text: str) -> tuple[str, str]:
    """Return key and value of a setting."""
    key, separator, value = text.partition("=")
    if not separator:
        raise click.BadParameter(f"{text[:40]!r} is no KEY=VALUE", param_hint="--conf")
    return key, value


@contextlib.contextmanager
def stopping() -> Generator[None]:
    """Let SIGTERM stop the pipeline as SIGINT does."""

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
