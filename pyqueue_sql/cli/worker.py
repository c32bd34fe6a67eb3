"""The command `pyqueue worker`."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from typing import Any, Literal

import click

from pyqueue_sql.cli.common import REFUSED, Failure, Seconds, failure, schema_option, url_option
from pyqueue_sql.worker import Handlers, Worker, logs
from pyqueue_sql.worker.health import ListenError


def find_handlers(path: str) -> Handlers:
    """Return the handlers that a path such as `app.handlers:handlers` leads to.

    Raises:
        click.BadParameter: there are none.
    """
    module, _, name = path.partition(":")
    if not all(module.split(".")):
        raise click.BadParameter(f"{path!r}: MODULE or MODULE:NAME is wanted, as app.handlers:handlers")
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        # an import of the module's own that fails is the application's error, with its traceback
        if not isinstance(error, ModuleNotFoundError) or not f"{module}.".startswith(f"{error.name}."):
            raise
        named = module.removesuffix(".py").replace("/", ".")
        hint = f" (a module is wanted, not a file: {named})" if module.endswith(".py") else ""
        raise click.BadParameter(f"there is no module {module}: {error}{hint}") from None
    handlers = getattr(found, name or "handlers", None)
    if not isinstance(handlers, Handlers):
        raise click.BadParameter(f"{module} has no Handlers named {name or 'handlers'}")
    return handlers


@click.command()
@click.argument("handlers", metavar="MODULE[:NAME]")
@click.option("--kind", "kinds", multiple=True, help="Only this kind; may be repeated. Default: all.")
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Handlers at once in each process.",
)
@click.option("--processes", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option(
    "--poll",
    "poll_seconds",
    type=Seconds(min=0, min_open=True),
    default=15.0,
    show_default=True,
    help="Seconds after which to look without being told.",
)
@click.option("--notify/--no-notify", default=True, help="Off behind a pooler that shares sessions.")
@click.option(
    "--grace",
    "grace_seconds",
    type=Seconds(min=0),
    default=30.0,
    show_default=True,
    help="Seconds for handlers to end after SIGTERM.",
)
@click.option("--name", help="What the worker is called in the database; a random end is added.")
@click.option("--drain", is_flag=True, help="End when nothing is ready.")
@click.option("--max-messages", type=click.IntRange(min=1), help="End after so many, in each process.")
@click.option(
    "--upkeep/--no-upkeep",
    default=True,
    help="Off: leave ticking schedules, pruning, and freeing what the dead held to others.",
)
@click.option(
    "--health",
    metavar="[HOST:]PORT",
    help="Answer health checks there: /live, and /ready while it takes messages; for one process.",
)
@click.option("--reload", is_flag=True, help="For development: start again when a Python file here changes.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="With debug also what went well, a line a message.",
)
@url_option
@schema_option
def worker(
    url: str,
    handlers: str,
    kinds: tuple[str, ...],
    processes: int,
    log_format: Literal["text", "json"],
    log_level: str,
    reload: bool,
    **options: Any,
) -> None:
    """Run the handlers that MODULE declares (its `handlers`, or NAME).

    A running worker is all the upkeep there is: it ticks schedules, prunes, and frees what dead workers held.

    On SIGTERM or Ctrl-C no more messages are taken, and handlers may end; on the second one what is held is
    given back without counting the attempt. Logs go to the standard error.

    \b
      pyqueue worker app.handlers --concurrency 8 --processes 2
      pyqueue worker app.handlers:nightly --kind reports --drain --log-format json
      pyqueue worker app.handlers --reload --log-level debug
    """
    arguments = (url, handlers, kinds, processes, log_format, log_level, options)
    if not reload:
        _work(*arguments)
        return
    try:
        # imported late: it is a dependency of development alone
        from watchfiles import PythonFilter, run_process
    except ImportError as error:
        raise Failure(f"{error.name} is needed: pip install 'pyqueue_sql[reload]'", REFUSED) from None
    run_process(os.getcwd(), target=_work_in_process, args=arguments, watch_filter=PythonFilter())


def _work_in_process(*arguments: Any) -> None:
    """Be a worker in a process of its own, out of which no error of a command comes."""
    try:
        _work(*arguments)
    except Exception as error:
        found = error if isinstance(error, click.ClickException) else failure(error)
        if found is None:
            raise
        found.show()
        sys.exit(found.exit_code)


def _work(
    url: str,
    handlers: str,
    kinds: tuple[str, ...],
    processes: int,
    log_format: Literal["text", "json"],
    log_level: str,
    options: dict[str, Any],
) -> None:
    """Be a worker, with the modules as they are now."""
    sys.path.insert(0, os.getcwd())
    found = find_handlers(handlers)
    if kinds:
        try:
            found = found.only(kinds)
        except LookupError as error:
            raise click.BadParameter(str(error.args[0]), param_hint="--kind") from None
    configure = functools.partial(logs.configure, log_format, log_level)
    configure()
    try:
        ours = Worker(url, found, processes=processes, initialize=configure, **options)
    except (ValueError, TypeError) as error:
        raise click.UsageError(str(error)) from None
    try:
        ours.run()
    except ListenError as error:
        raise Failure(str(error), REFUSED) from None


COMMANDS = (worker,)
