"""How the cost of a message grows with clients, kinds and what is ready: the curves of bench/scale.md.

The cost is processor time of the server a message, through reserve and ack. A session's first calls make its
plans; they are left out by measuring few calls and many, and taking the difference.
"""

from __future__ import annotations

import time

from bench import servers
from bench.figure import Curve
from bench.peers import cpu
from bench.postgresql.pgbench import pgbench
from bench.postgresql.sides import CHUNK, Pyqueue
from bench.run import Run

NAME = "scale"
ONCE = True

BATCHES = {1: "one by one", 100: "100 a call"}
CLIENTS = (1, 2, 4, 8, 16, 32, 64)
KINDS = (1, 10, 100, 1000)
READY = (1000, 10_000, 100_000, 1_000_000)
FEW = 5
CALLS = {1: 1500, 100: 300}
"""By batch, of all clients together, for each second that a measurement takes."""


def run(run: Run) -> None:
    """Draw a curve for each."""
    server = cpu.postmaster(run.url)
    if server is None:
        run.leave_out(NAME, "the server's processor time can only be read on its own machine")
        return
    run.settings = dict(servers.DURABILITY["postgresql"][-1])  # the disk would only hide the work
    servers.apply(run.url, run.settings)
    side = Pyqueue(run.url)
    clients, kinds, ready = (of[:5:2] if run.quick else of for of in (CLIENTS, KINDS, READY))
    draw(run, "clients", {count: cost(run, side, server, clients=count) for count in clients})
    draw(run, "kinds", {count: cost(run, side, server, kinds=count) for count in kinds})
    draw(run, "messages ready", {count: cost(run, side, server, ready=count) for count in ready})


def draw(run: Run, what: str, costs: dict[int, dict[int, tuple[float, float]]]) -> None:
    """Keep the two curves, and print the points."""
    for place, (title, unit) in enumerate((("cost", "µs of processor a message"), ("rate", "messages/s"))):
        lines = {
            label: [(float(count), found[batch][place]) for count, found in costs.items()]
            for batch, label in BATCHES.items()
        }
        run.draw(Curve(f"{title} by {what}", what, unit, lines))
        for label, points in lines.items():
            print(f"{title} by {what}, {label}: " + ", ".join(f"{x:,.0f}: {y:,.4g}" for x, y in points))


def cost(
    run: Run, side: Pyqueue, server: int, *, clients: int = 2, kinds: int = 1, ready: int = 0
) -> dict[int, tuple[float, float]]:
    """Return processor time a message in µs and messages a second, the best of each, for each size of batch.

    The best, because other work on the machine can only add to the time.
    """
    found: dict[int, tuple[float, float]] = {}
    for batch in BATCHES:
        calls = max(round(CALLS[batch] * run.seconds / clients), 5 * FEW)
        script = f"\\set k random(0, {kinds - 1})\n" + side.life(batch).replace("'bench'", "'k' || :k", 1)
        times: list[float] = []
        rates: list[float] = []
        for _ in range(run.repetitions):
            fill(side, kinds, (calls + FEW) * clients * batch + ready, spare=3 * batch)
            few, _ = timed(side, server, script, clients, FEW)
            many, calls_a_second = timed(side, server, script, clients, calls)
            times.append((many - few) / ((calls - FEW) * clients * batch) * 1e6)
            rates.append(calls_a_second * batch)
        found[batch] = min(times), max(rates)
    return found


def fill(side: Pyqueue, kinds: int, count: int, spare: int) -> None:
    """Spread so many ready messages over the kinds, and some more: chance doesn't take from all alike."""
    side.empty()
    each = count // kinds + (spare if kinds > 1 else 0)
    for kind in range(kinds):
        for first in range(0, each, CHUNK):
            side.put_into(f"k{kind}", min(CHUNK, each - first), 0, 0)
    side.settle()


def timed(side: Pyqueue, server: int, script: str, clients: int, calls: int) -> tuple[float, float]:
    """Return processor time of the server in seconds, and transactions a second."""
    before = cpu.used(server)
    load = pgbench(side.url, script, clients=clients, calls=calls)
    time.sleep(0.05)  # until the sessions have ended and are counted
    return cpu.used(server) - before, load.tps
