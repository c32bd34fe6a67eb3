"""Keuss's own scenario: 100,000 messages, 3 clients, push, pop, reserve and commit.

A client is a process with one connection. Each pushes its third, then each pops as many; then the queue
is filled again, and each reserves and commits as many. Keuss, with its postgres backend, goes one by one, as
it knows no batches; ours goes one by one, and again 100 a call. What Keuss published comes from another
machine and is compared with our batches on this one.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from bench import servers
from bench.peers import node, processes
from bench.run import Run
from tests.clients import npm

NAME = "keuss"

CLIENTS = 3
BATCH = 100
OPERATIONS = ("push", "pop", "reserve")
NAMES = {"push": "Keuss's push", "pop": "Keuss's pop", "reserve": "Keuss's reserve + commit"}

# Messages a second as OPERATIONS, from the times in "Supporting queues on Postgresql" (2024), on one Intel i5
PUBLISHED = {
    "postgres": (625, 680, 298),
    "mongo": (6250, 3333, 1960),
    "redis-oq": (20_000, 16_666, 8888),
    "redis-list": (25_000, 20_000, None),
    "bucket-mongo-safe": (33_333, 16_666, 25_000),
}

NOTE = "one by one, the clients (Python, Node.js) take a third to a half of the processor time"

FILL = """
insert into _k_tbl_bench (_id, _pl, mature)
select gen_random_uuid(), jsonb_build_object('payload', jsonb_build_object('n', n), 'hdrs', jsonb '{}'), now()
from generate_series(1, %d) n
"""


@dataclass
class Side:
    """One of those that are compared."""

    program: processes.Program
    rest: tuple[object, ...] = ()
    """Further arguments of its clients."""
    rates: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in OPERATIONS})

    def fill(self, url: str, counts: list[int]) -> None:
        """Put as many messages in as the clients will take, the fast way."""
        if self.rest:
            processes.seconds(self.program, url, "push", counts, 1000)
        else:
            servers.tell(url, FILL % sum(counts))


def run(run: Run) -> None:
    """Measure the three operations, the sides in turns, and keep the figures."""
    counts = [(10_000 if run.quick else 100_000) // CLIENTS] * CLIENTS
    single, batches = Side(processes.python("pyqueue"), (1,)), Side(processes.python("pyqueue"), (BATCH,))
    sides, keuss = [single, batches], None
    try:
        keuss = Side(node.program("keuss"))
        sides.insert(1, keuss)
    except npm.MissingError as error:
        run.leave_out("Keuss", str(error))
    for _ in range(run.repetitions):
        measure(run, sides, counts)
    for place, operation in enumerate(OPERATIONS):
        if keuss:
            theirs = keuss.rates[operation]
            keep(run, operation, "one by one", single, "keuss, postgres", theirs, 1.5, NOTE)
            keep(run, operation, f"{BATCH} a call", batches, "keuss, postgres", theirs, 15, NOTE)
        for backend, row in PUBLISHED.items():
            if published := row[place]:
                values = [float(published)] * run.repetitions
                keep(run, operation, f"{BATCH} a call", batches, f"keuss, published, {backend}", values, 1)


def measure(run: Run, sides: list[Side], counts: list[int]) -> None:
    """Note a rate of each operation for each side; each has a fresh database, and pops what it pushed."""
    with ExitStack() as stack:
        urls = [stack.enter_context(servers.database(run.url, run.settings)) for _ in sides]
        for side, url in zip(sides, urls, strict=True):
            if not side.rest:
                processes.seconds(side.program, url, "install", [0])
        for operation in OPERATIONS:
            for side, url in zip(sides, urls, strict=True):
                if operation == "reserve":
                    side.fill(url, counts)
                taken = processes.seconds(side.program, url, operation, counts, *side.rest)
                side.rates[operation].append(sum(counts) / taken)


def keep(
    run: Run,
    operation: str,
    how: str,
    ours: Side,
    other: str,
    theirs: list[float],
    target: float,
    note: str = "another machine",
) -> None:
    """Keep a figure."""
    run.keep(
        f"{NAMES[operation]}, {how}",
        ours.rates[operation],
        theirs,
        other_name=other,
        unit="messages/s",
        clients=CLIENTS,
        target=target,
        note=note,
    )
