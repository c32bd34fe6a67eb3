"""Which cases a server has, in their order."""

from __future__ import annotations

import importlib
from types import ModuleType

# a case is a module with NAME, a docstring and run(run); it imports what may be missing only when it runs
POSTGRESQL: tuple[str, ...] = (
    "bench.postgresql.push",
    "bench.postgresql.push_many",
    "bench.options",
    "bench.postgresql.one_by_one",
    "bench.postgresql.next",
    "bench.postgresql.batches",
    "bench.postgresql.inbox",
    "bench.postgresql.wal",
    "bench.postgresql.snapshot",
    "bench.postgresql.backlog",
    "bench.postgresql.features",
    "bench.postgresql.bounds",
    "bench.postgresql.shortest",
    "bench.postgresql.filters",
    "bench.postgresql.listeners",
    "bench.postgresql.wrapper",
    "bench.peers.jobs",
    "bench.peers.conditions",
    "bench.peers.waking",
    "bench.peers.idle",
    "bench.peers.keuss",
    "bench.peers.scale",
    "bench.spark.case",
)
INNODB: tuple[str, ...] = (
    "bench.innodb.lifecycle",
    "bench.innodb.next",
    "bench.innodb.push",
    "bench.options",
    "bench.innodb.inbox",
    "bench.innodb.redo",
    "bench.innodb.backlog",
    "bench.innodb.read_view",
    "bench.innodb.workers",
    "bench.innodb.shortest",
    "bench.peers.waking",
    "bench.peers.idle",
    "bench.spark.case",
)

QUICK = frozenset(
    {
        "push",
        "push_many",
        "one_by_one",
        "batches",
        "inbox",
        "wal",
        "snapshot",
        "backlog",
        "waking",
        "lifecycle",
        "redo",
    }
)
"""What a quick run takes of them: the rows that a reader asks for first, in five minutes."""

MODULES = {"postgresql": POSTGRESQL, "mariadb": INNODB, "mysql": INNODB}


def cases(server: str, *, quick: bool = False) -> list[ModuleType]:
    """Return the cases of a server, by its name; where it is to be quick, those that are."""
    found = [importlib.import_module(module) for module in MODULES[server]]
    return [case for case in found if case.NAME in QUICK or not quick]


def about(case: ModuleType) -> str:
    """Return the first line of what a case says of itself."""
    return (case.__doc__ or "").partition("\n")[0]
