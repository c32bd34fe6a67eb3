"""Metrics of a queue for Prometheus: a collector, an ASGI application, and a server. See docs/metrics.md."""

from pyqueue_sql.metrics.asgi import metrics_app
from pyqueue_sql.metrics.collector import QueueCollector

__all__ = ["QueueCollector", "metrics_app"]
