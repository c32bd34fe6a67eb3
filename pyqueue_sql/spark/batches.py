"""The calls that staging and batches need, over connections that are made anew when the server is back."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeVar

import psycopg

from pyqueue_sql import Queue
from pyqueue_sql.calls import call, dialect
from pyqueue_sql.calls.call import Call, Routine, columns
from pyqueue_sql.calls.connect import ConnectionFailed, connect
from pyqueue_sql.spark.options import Options
from pyqueue_sql.worker.pace import Backoff

log = logging.getLogger(__name__)

T = TypeVar("T")

SLOW_SECONDS = 86_400
"""For who reads to take the next rows: MariaDB and MySQL break off after a minute."""

_BEGIN = Routine("queue_stage_begin", columns("job text, options json"), columns("part"))
_PUBLISH = Routine(
    "queue_stage_publish",
    columns("parts json, options json"),
    columns("outcome, messages, pushed, differing"),
)
_ABORT = Routine("queue_stage_abort", columns("job text"), columns("removed"))
_READY = Routine("queue_stream_ready", columns("kind text"), columns("ready boolean"))
_PLAN = Routine("queue_stream_plan", columns("source text"), columns("plan, parts json"))
_RENEW = Routine("queue_stream_renew", columns("stream text, batch bigint"), columns("lost"))
_EXTEND = Routine(
    "queue_stream_extend", columns("source text, seconds numeric, options json"), columns("extended, lost")
)
_FORGET = Routine("queue_stream_forget", columns("source text"), columns("forgotten"))
_DONE = Routine("queue_stream_done", columns("stream text, batch bigint"), columns("done boolean"))
_COMMIT = Routine(
    "queue_stream_commit",
    columns("stream text, batch bigint, options json"),
    columns("outcome, acked, failed, lost, published, pushed, differing"),
)


class Published(NamedTuple):
    """What became of what was staged."""

    outcome: str
    """published, or replayed where that had been done before."""
    messages: int
    pushed: int
    differing: int | None
    """How many have another payload than the message that has their key; None: nobody looked."""


class Committed(NamedTuple):
    """What became of a batch."""

    outcome: str
    """committed, or replayed where that had been done before."""
    acked: int
    failed: int
    lost: int
    published: int
    pushed: int
    differing: int


def _first(rows: Sequence[call.Row]) -> Any:
    return rows[0][0]


def _row(rows: Sequence[call.Row]) -> Any:
    return rows[0]


class Batches(Queue[Any]):
    """The routines of stages and batches, in the transaction of the connection."""

    def begin(self, job: str, **options: Any) -> int:
        """Begin a part of a job; the options are those of queue_stage_begin."""
        return self._run(Call(_BEGIN, (job, _json(options)), _first))

    def publish_parts(self, parts: Sequence[Mapping[str, int]], **options: Any) -> Published:
        """Publish parts; the options are those of queue_stage_publish."""
        return Published(*self._run(Call(_PUBLISH, (json.dumps(parts), _json(options)), _row)))

    def abort(self, job: str) -> int:
        """Remove what is staged."""
        return self._run(Call(_ABORT, (job,), _first))

    def ready(self, kind: str) -> bool:
        """Whether a reserve would find something."""
        return bool(self._run(Call(_READY, (kind,), _first)))

    def plan(self, source: str) -> tuple[int, list[int] | None]:
        """Begin a read, or begin it anew: a number for its tasks, and the parts that were handed out."""
        plan, parts = self._run(Call(_PLAN, (source,), _row))
        return plan, parts

    def renew(self, stream: str, batch: int) -> int:
        """Forget what a batch has lost, and return how many messages."""
        return self._run(Call(_RENEW, (stream, batch), _first))

    def extend_read(self, source: str, seconds: float, **options: Any) -> tuple[int, int]:
        """Keep the holds of a read, and return how many were kept and lost."""
        return self._run(Call(_EXTEND, (source, seconds, _json(options)), _row))

    def forget(self, source: str) -> int:
        """Forget a read that will not be done again, and return how many messages were kept of it."""
        return self._run(Call(_FORGET, (source,), _first))

    def done(self, stream: str, batch: int) -> bool:
        """Whether a batch is committed already."""
        return bool(self._run(Call(_DONE, (stream, batch), _first)))

    def commit_batch(self, stream: str, batch: int, **options: Any) -> Committed:
        """End a batch."""
        answer = self._run(Call(_COMMIT, (stream, batch, _json(options)), _row))
        return Committed(*answer)


def _json(options: Mapping[str, Any]) -> str | None:
    given = {name: value for name, value in options.items() if value is not None}
    return json.dumps(given) if given else None


@contextmanager
def connected(options: Options, *, autocommit: bool = True, patient: bool = True) -> Generator[Batches]:
    """Give the routines over a connection of its own, closed at the end.

    Args:
        options: they say where, and how long to try for.
        autocommit: whether each call is a transaction of its own; else what isn't committed is undone.
        patient: whether a server that isn't there is waited for.

    Raises:
        ConnectionFailed: it isn't there, or doesn't let us in.
    """

    def open_() -> Any:
        return connect(options.url, autocommit=autocommit, schema=options.queue_schema, read_committed=True)

    connection = patiently(options, open_) if patient else open_()
    try:
        if not isinstance(connection, psycopg.Connection):
            with connection.cursor() as cursor:
                # with the escapes that `to_values` writes; and Spark may take long over what it has read
                cursor.execute(
                    "set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
                    f" net_write_timeout = {SLOW_SECONDS}"
                )
        yield Batches(connection)
    except Exception as error:
        _advise(error)
        raise
    finally:
        connection.close()


def _advise(error: Exception) -> None:
    """Add to what a server says of a table or routine that isn't there what is to be done."""
    said = dialect.failure(error)
    if said is not None and said.missing:
        error.add_note(
            "is the queue installed there, and as new as this package? see pyqueue upgrade; where it is in"
            " another schema than the current one, the option queue_schema says so"
        )


def patiently(options: Options, what: Callable[[], T]) -> T:
    """Do something again and again while the server is away, for as long as the options say.

    Args:
        options: of the read or write.
        what: to be done; what it did before it failed must do no harm.
    """
    until = time.monotonic() + options.patience
    backoff = Backoff()
    while True:
        try:
            return what()
        except Exception as error:
            pause = backoff.pause()
            if not is_away(error) or time.monotonic() + pause > until:
                raise
            log.warning("the server is away, trying again: %s", type(error).__name__)
            time.sleep(pause)


def is_away(error: Exception) -> bool:
    """Whether an error passes by itself: the connection is lost, there is none to be had, or the server takes
    in nothing for a while."""
    if isinstance(error, ConnectionFailed):
        return error.away
    said = dialect.failure(error)
    return said is not None and said.passes


class Standing:
    """A connection that stays between calls, and is made anew where it was lost.

    Args:
        options: they say where.
        was_there: whether it is known already that the server is to be had there, and waited for.
    """

    def __init__(self, options: Options, *, was_there: bool = False) -> None:
        self._options = options
        self._stack = ExitStack()
        self._database: Batches | None = None
        self._was_there = was_there

    def do(self, what: Callable[[Batches], T]) -> T:
        """Make a call, and again while the server is away, unless it never was there.

        Args:
            what: the call; it must do no harm that it is made twice.
        """
        if not self._was_there:
            self._open(patient=False)
        return patiently(self._options, lambda: self._once(what))

    def _once(self, what: Callable[[Batches], T]) -> T:
        try:
            return what(self._database or self._open(patient=True))
        except Exception as error:
            _advise(error)
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; the next call makes another."""
        self._database = None
        with contextlib.suppress(psycopg.Error, OSError):
            self._stack.close()

    def _open(self, *, patient: bool) -> Batches:
        self._database = self._stack.enter_context(connected(self._options, patient=patient))
        self._was_there = True
        return self._database
