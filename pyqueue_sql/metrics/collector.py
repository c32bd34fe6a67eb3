"""What a look at a queue says, as metrics."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from pyqueue_sql.calls import dialect
from pyqueue_sql.calls.connect import ConnectionFailed
from pyqueue_sql.overview import Overview, open_look
from pyqueue_sql.overview.look import NotSeen

SECOND = 1_000_000
ENDS = ("acked", "popped", "moved", "dead")
STATES = ("ready", "scheduled", "reserved", "expired", "waiting")

log = logging.getLogger("pyqueue_sql.metrics")


class QueueCollector(Collector):
    """Looks at a queue whenever metrics are asked for.

    Register it: `prometheus_client.REGISTRY.register(QueueCollector(url))`. A look opens a connection of its
    own, writes nothing, and reads at most 10,000 messages of a kind.

    Args:
        url: of the database, as of `pyqueue_sql.calls.connect.connect`.
        schema: where the queue is; None: the current schema.
    """

    def __init__(self, url: str, schema: str | None = None) -> None:
        self._url = url
        self._schema = schema

    def describe(self) -> Iterable[Metric]:
        """Return nothing, so that registering looks at no database."""
        return []

    def collect(self) -> Iterable[Metric]:
        """Look. Where the database doesn't answer, `pyqueue_up` is 0 and all there is; why is in the log."""
        up = GaugeMetricFamily("pyqueue_up", "1 where the database of the queue answered.")
        try:
            with open_look(self._url, self._schema) as look:
                seen = look.overview()
        except Exception as error:
            said = dialect.failure(error)
            if said is None and not isinstance(error, ConnectionFailed | NotSeen):
                raise
            log.warning("no metrics: %s", said.message if said else error)
            up.add_metric([], 0)
            return [up]
        up.add_metric([], 1)
        return [up, *_of_kinds(seen), *_of_workers(seen), *_of_semaphores(seen), *_of_server(seen)]


def _of_kinds(seen: Overview) -> list[Metric]:
    messages = GaugeMetricFamily(
        "pyqueue_messages", "Messages that are there, at most 10000 of each part.", labels=["kind", "state"]
    )
    more = GaugeMetricFamily(
        "pyqueue_more", "1 where a kind has more messages than were counted.", labels=["kind"]
    )
    paused = GaugeMetricFamily("pyqueue_paused", "1 where a kind is paused.", labels=["kind"])
    ready = GaugeMetricFamily(
        "pyqueue_oldest_ready_seconds", "For how long the oldest message is ready.", labels=["kind"]
    )
    held = GaugeMetricFamily(
        "pyqueue_longest_held_seconds", "For how long the longest delivery goes on.", labels=["kind"]
    )
    ended = CounterMetricFamily("pyqueue_ended", "Messages that have ended.", labels=["kind", "outcome"])
    nacked = CounterMetricFamily("pyqueue_nacked", "Deliveries that were given back.", labels=["kind"])
    expired = CounterMetricFamily("pyqueue_expired", "Deliveries whose timeout passed.", labels=["kind"])
    lost = CounterMetricFamily("pyqueue_lost", "Receipts of others' or ended deliveries.", labels=["kind"])
    for one in seen.kinds:
        for state in STATES:
            messages.add_metric([one.kind, state], getattr(one, state))
        more.add_metric([one.kind], one.is_more)
        paused.add_metric([one.kind], one.paused)
        ready.add_metric([one.kind], _seconds(seen.at, one.oldest_ready_at))
        held.add_metric([one.kind], _seconds(seen.at, one.oldest_reserved_at))
        for outcome in ENDS:
            ended.add_metric([one.kind, outcome], getattr(one.totals, outcome))
        nacked.add_metric([one.kind], one.totals.nacked)
        expired.add_metric([one.kind], one.totals.expired)
        lost.add_metric([one.kind], one.totals.lost)
    return [messages, more, paused, ready, held, ended, nacked, expired, lost]


def _of_workers(seen: Overview) -> list[Metric]:
    workers = GaugeMetricFamily("pyqueue_workers", "Registered workers.", labels=["alive"])
    for alive in (True, False):
        workers.add_metric(["yes" if alive else "no"], sum(one.alive is alive for one in seen.workers))
    upkeep = GaugeMetricFamily("pyqueue_upkeep_workers", "Living workers that do the upkeep.")
    upkeep.add_metric([], sum(one.alive and one.upkeep for one in seen.workers))
    return [workers, upkeep]


def _of_semaphores(seen: Overview) -> list[Metric]:
    capacity = GaugeMetricFamily("pyqueue_semaphore_capacity", "Its capacity.", labels=["semaphore"])
    held = GaugeMetricFamily("pyqueue_semaphore_held", "Messages that hold it.", labels=["semaphore"])
    waiting = GaugeMetricFamily("pyqueue_semaphore_waiting", "Messages in its line.", labels=["semaphore"])
    for one in seen.lines:
        capacity.add_metric([one.name], one.capacity)
        held.add_metric([one.name], one.held)
        waiting.add_metric([one.name], one.waiting)
    return [capacity, held, waiting]


def _of_server(seen: Overview) -> list[Metric]:
    oldest = GaugeMetricFamily(
        "pyqueue_oldest_transaction_seconds",
        "For how long the oldest transaction is open.",
    )
    if seen.sees_sessions:
        oldest.add_metric([], max((one.seconds or 0 for one in seen.blockers), default=0))
    dead = GaugeMetricFamily(
        "pyqueue_dead_rows", "Dead rows of the messages; on MariaDB and MySQL the length of the history list."
    )
    if seen.dead is not None:
        dead.add_metric([], seen.dead.rows)
    return [oldest, dead]


def _seconds(now: int, then: int | None) -> float:
    return 0.0 if then is None else max(now - then, 0) / SECOND
