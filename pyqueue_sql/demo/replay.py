"""One replay from the first push to the last check."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from pyqueue_sql import Queue, Refused
from pyqueue_sql.calls.connect import connect
from pyqueue_sql.demo import DemoError, InUse, Unfinished
from pyqueue_sql.demo.check import MAX_TRIES, Left, Verdict, verify
from pyqueue_sql.demo.data import SECOND_US, Flight, calendar_day
from pyqueue_sql.demo.display import Display, Status
from pyqueue_sql.demo.interrupts import WholeCalls, later
from pyqueue_sql.demo.ledger import Ledger
from pyqueue_sql.demo.load import Kinds, Loaded, load, our_us
from pyqueue_sql.demo.workers import GO, STOP, Failure, Report, Step, depart, drain, work

PUSHING_CONNECTIONS = 2
TIMEOUT_SECONDS = 20.0
BACKOFF_SECONDS = 0.25
SHOW_SECONDS = 0.25
GO_SECONDS = 0.5
QUIET_SECONDS = 2.0
STALL_SECONDS = 30.0
STOP_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What to replay, and how."""

    url: str
    kinds: Kinds
    flights: Sequence[Flight]
    seconds: float
    workers: int
    cleanup: bool
    """Whether to remove what the replay made; no need where the server goes as well."""


def replay(plan: Plan, display: Display) -> Verdict:
    """Replay the flights, and compare what became of them with the file.

    Raises:
        DemoError: the kinds are in use, a worker gave up, or the server is too busy.
        Unfinished: an interrupt ended the removal of the kinds.
    """
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(plan.url)) for _ in range(PUSHING_CONNECTIONS)]
        queue = WholeCalls(connections[0])
        with _kinds(queue, plan):
            ledger = Ledger([flight.key for flight in plan.flights])
            with _workers(plan, ledger) as links:
                loaded = load(connections, plan.kinds, plan.flights, plan.seconds, display)
                display.say(f"pushed all flights twice, {loaded.rate:,.0f} messages a second")
                _follow(plan, queue, loaded, ledger, links, display)
            left = Left.of(queue, plan.kinds)
            keys = [flight.key for flight in plan.flights]
            return verify(keys, loaded, ledger, left)


@contextmanager
def _kinds(queue: Queue, plan: Plan) -> Generator[None]:
    """Make the kinds, which must be empty, and remove them at the end with all that is in them."""
    used = [one.kind for one in queue.stats() if one.kind in set(plan.kinds) and one.total]
    if used:
        raise InUse(used)
    try:
        queue.define(
            plan.kinds.departing,
            timeout_seconds=TIMEOUT_SECONDS,
            max_attempts=MAX_TRIES,
            backoff_seconds=BACKOFF_SECONDS,
            dead_letter_kind=plan.kinds.dead,
        )
        queue.define(plan.kinds.arrived, timeout_seconds=TIMEOUT_SECONDS)
        yield
    finally:
        if plan.cleanup:
            left = [*plan.kinds]
            try:
                while left:
                    _drop_first(queue, left)
            except KeyboardInterrupt:
                if left:
                    raise Unfinished(left) from None
                raise


def _drop_first(queue: Queue, left: list[str]) -> None:
    """Drop the first of the kinds that are left; what a killed worker held has to run out first."""
    deadline = time.monotonic() + TIMEOUT_SECONDS + QUIET_SECONDS
    while True:
        queue.purge(left[0])
        try:
            with later():
                queue.drop(left[0])
                del left[0]
        except Refused:
            if time.monotonic() > deadline:
                raise
            time.sleep(SHOW_SECONDS)
        else:
            return


@contextmanager
def _workers(plan: Plan, ledger: Ledger) -> Generator[list[Connection]]:
    """Start the workers, wait until they are ready, and stop them at the end.

    What they still report goes into the ledger.
    """
    context = get_context("spawn")
    processes: list[BaseProcess] = []
    links: list[Connection] = []
    steps: list[tuple[str, Step]] = [(f"depart-{number + 1}", depart) for number in range(plan.workers)]
    # Ctrl-C reaches the workers as well, who have a batch to finish: they inherit that it is ignored
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for name, step in [*steps, ("drain-1", drain)]:
            link, other = context.Pipe()
            arguments = (other, plan.url, plan.kinds, f"pyqueue-demo-{name}", step)
            process = context.Process(target=work, args=arguments, name=name, daemon=True)
            process.start()
            other.close()
            processes.append(process)
            links.append(link)
    finally:
        signal.signal(signal.SIGINT, interrupt)
    try:
        # they would slow the trial that says how long the pushes take
        for link in links:
            _receive(link)
        yield links
    finally:
        _stop(processes, links, ledger)


def _stop(processes: list[BaseProcess], links: list[Connection], ledger: Ledger) -> None:
    """Let the workers finish what they do, and write it down."""
    open_links = list(links)
    for link in links:
        try:
            link.send(STOP)
        except ConnectionError:
            open_links.remove(link)
    deadline = time.monotonic() + STOP_SECONDS
    while open_links and time.monotonic() < deadline:
        for link in wait(open_links, SHOW_SECONDS):
            assert isinstance(link, Connection)
            try:
                message = link.recv()
            except (EOFError, ConnectionError):
                open_links.remove(link)
            else:
                if isinstance(message, Report):
                    ledger.add(message)
    for process in processes:
        process.join(1.0)
        if process.is_alive():
            process.kill()
            process.join()
    for link in links:
        link.close()


def _follow(
    plan: Plan, queue: Queue, loaded: Loaded, ledger: Ledger, links: list[Connection], display: Display
) -> None:
    """Write down what the workers do, from just before the first departure until nothing is left to do."""
    timetable, shown, gone, looked = loaded.timetable, 0.0, False, 0.0
    while not ledger.settled:
        for link in wait(links, SHOW_SECONDS):
            assert isinstance(link, Connection)
            message = _receive(link)
            if isinstance(message, Report):
                ledger.add(message)
        now_us, now = our_us() + loaded.clock_us, time.monotonic()
        if not gone and now_us > timetable.start_us - GO_SECONDS * SECOND_US:
            gone = True
            for link in links:
                link.send(GO)
        if now - shown > SHOW_SECONDS:
            shown = now
            display.replaying(_status(plan, loaded, ledger, now_us))
        quiet = now - max(ledger.last_report, looked)
        if now_us > timetable.end_us and quiet > QUIET_SECONDS:
            looked = now
            if now - ledger.last_report > STALL_SECONDS or _empty(queue, plan.kinds):
                return


def _receive(link: Connection) -> object:
    """Return the next message of a worker that is to go on."""
    try:
        message = link.recv()
    except (EOFError, ConnectionError):
        raise DemoError("a worker process ended") from None
    if isinstance(message, Failure):
        raise DemoError(message.reason)
    return message


def _empty(queue: Queue, kinds: Kinds) -> bool:
    """Return whether nothing is left to depart or to be drained."""
    return not any(one.total for one in queue.stats() if one.kind in (kinds.departing, kinds.arrived))


def _status(plan: Plan, loaded: Loaded, ledger: Ledger, now_us: int) -> Status:
    """Return what to show, from the ledger: the queue itself would have to count rows."""
    timetable, totals = loaded.timetable, ledger.totals
    departed_rate, drained_rate, lateness = ledger.rates()
    share = (now_us - timetable.start_us) / timetable.length_us
    return Status(
        day=calendar_day(timetable.original(now_us)),
        share=min(max(share, 0.0), 1.0),
        starts_in=(timetable.start_us - now_us) / SECOND_US,
        departing=len(plan.flights) - totals["moved"] - totals["dead"],
        arrived=max(totals["moved"] - totals["drained"], 0),
        dead=totals["dead"],
        departed_rate=departed_rate,
        drained_rate=drained_rate,
        lateness=lateness,
    )
