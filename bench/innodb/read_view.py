"""Reserve and ack under an open read view beside none, as much is processed; the plain statements too."""

from __future__ import annotations

import functools
import time

from bench.figure import Curve
from bench.innodb.clients import Work, rate, together
from bench.innodb.lives import calls, calls_of_batches, statements, statements_of_batches
from bench.innodb.tables import Tables, enough, read_view, tables
from bench.run import Run

NAME = "read_view"
ONCE = True
PATIENCE_SECONDS = 90
"""What isn't processed under the view by then is left: the plain statements would take for ever."""

SIDES = {
    "pyqueue": (Tables.fill_queue, calls, calls_of_batches),
    "the plain statements": (Tables.fill_plain, statements, statements_of_batches),
}
Points = list[tuple[float, float]]


def run(run: Run) -> None:
    """Measure it."""
    count = 5_000 if run.quick else 100_000
    curves: dict[str, Points] = {}
    with tables(run.url) as found:

        def fresh(side: str) -> float:
            fill, one, _ = SIDES[side]
            found.empty()
            fill(found, enough(run.seconds))
            return rate(together(run.url, one, 1, run.seconds))

        def under(side: str) -> float:
            fill, one, batches = SIDES[side]
            found.empty()
            fill(found, count + enough(5 * run.seconds))
            with read_view(run.url):
                points = process(run, one, batches, count)
            curves.setdefault(side, points)
            return points[-1][1]

        for side in SIDES:
            run.compare(
                f"reserve and ack under a read view, {count:,} processed",
                functools.partial(under, side),
                functools.partial(fresh, side),
                our_name=side,
                other_name=f"{side}, no read view",
                unit="messages/s",
                target=0.9 if side == "pyqueue" else None,
                note=f"or as many as were processed within {PATIENCE_SECONDS} s: see the curve",
            )
    run.draw(Curve("read view", "messages processed under it", "messages/s, one by one", curves))


def process(run: Run, one: Work, batches: Work, count: int) -> Points:
    """Process messages in batches, with four clients, and see in between how fast one is one by one."""
    total, parts, points = 0, 4 if run.quick else 10, list[tuple[float, float]]()
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        last = total >= count or time.monotonic() > until
        [done] = together(run.url, one, 1, run.seconds if last else run.seconds / 4)
        points.append((total, rate([done])))
        if last:
            return points
        total += done.messages
        four = together(run.url, batches, 4, PATIENCE_SECONDS / parts, count // parts // 4, warm_up=0)
        total += sum(each.messages for each in four)
