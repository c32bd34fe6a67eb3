"""What the demo shows: a live table on a terminal, else a line every few seconds; at the end the tables."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pyqueue_sql.demo.check import LATE_SECONDS, Line, Verdict
from pyqueue_sql.demo.ledger import Lateness
from pyqueue_sql.demo.load import Kinds

LINE_SECONDS = 5.0
REFRESHES_PER_SECOND = 4


@dataclass(frozen=True, slots=True)
class Status:
    """How far the replay is; the rates are messages a second."""

    day: datetime
    share: float
    starts_in: float
    """Seconds; not positive once it has started."""
    departing: int
    arrived: int
    dead: int
    departed_rate: float
    drained_rate: float
    lateness: Lateness | None


class Display:
    """Shows how it goes, as a context manager."""

    def __init__(self, console: Console, kinds: Kinds) -> None:
        """Show nothing yet.

        Args:
            console: where to write.
            kinds: the names to show.
        """
        self._console = console
        self._kinds = kinds
        self._live = Live(console=console, refresh_per_second=REFRESHES_PER_SECOND, transient=True)
        self._next_line = 0.0

    def __enter__(self) -> Display:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """Write a line that stays."""
        self._console.print(Text(text), soft_wrap=True)
        self._next_line = time.monotonic() + LINE_SECONDS

    def loading(self, what: str, done: int, total: int) -> None:
        """Show how many flights are pushed."""
        text = f"{what} {done:,} of {total:,} flights"
        self._show(text, Group(Text(text), ProgressBar(total=total, completed=done, width=60)))

    def replaying(self, status: Status) -> None:
        """Show how far the replay is."""
        self._show(_line(status), _screen(status, self._kinds))

    def _show(self, text: str, screen: RenderableType) -> None:
        if self._console.is_terminal:
            self._live.update(screen)
        elif time.monotonic() >= self._next_line:
            self.say(text)


def show_verdict(console: Console, verdict: Verdict) -> None:
    """Write the tables of the end and what is wrong."""
    table = Table("", "queue", "data file", "", title="flights of 2013", title_justify="left")
    for line in verdict.outcomes:
        table.add_row(line.what, f"{line.queue:,}", f"{line.file:,}", _mark(line))
    late = verdict.lateness
    if late is not None:
        table.add_section()
        for what, seconds in (("p50", late.p50), ("p99", late.p99), ("most", late.most)):
            table.add_row(f"lateness, {what}", _seconds(seconds), "", "")
    carriers = Table("carrier", "departed", "data file", "", "cancelled", "data file", "")
    for departed, cancelled in verdict.carriers:
        carriers.add_row(
            departed.what,
            *(f"{departed.queue:,}", f"{departed.file:,}", _mark(departed)),
            *(f"{cancelled.queue:,}", f"{cancelled.file:,}", _mark(cancelled)),
        )
    for one in (table, carriers):
        for column in one.columns[1:]:
            column.justify = "right"
        console.print(one)
    if late is not None and late.p99 > LATE_SECONDS:
        text = "late: this machine is busy, or too slow for a year in so few seconds; --seconds gives it more"
        console.print(Text(text, style="yellow"), soft_wrap=True)
    for problem in verdict.problems:
        console.print(Text(f"wrong: {problem}", style="bold red"), soft_wrap=True)
    if not verdict.problems:
        console.print(Text("every flight once and in its place", style="bold green"))


def _screen(status: Status, kinds: Kinds) -> RenderableType:
    table = Table("kind", "messages", "a second", min_width=60)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row(kinds.departing, f"{status.departing:,}", f"{status.departed_rate:,.0f}")
    table.add_row(kinds.arrived, f"{status.arrived:,}", f"{status.drained_rate:,.0f}")
    table.add_row(kinds.dead, f"{status.dead:,}", "")
    return Group(
        Text(_when(status), style="bold"),
        ProgressBar(total=1.0, completed=status.share, width=60),
        table,
        Text(_late(status.lateness)),
    )


def _line(status: Status) -> str:
    return (
        f"{_when(status)} {status.share:4.0%}  departing {status.departing:,}  arrived {status.arrived:,}"
        f"  dead {status.dead:,}  departed {status.departed_rate:,.0f}/s"
        f"  drained {status.drained_rate:,.0f}/s  {_late(status.lateness)}"
    )


def _when(status: Status) -> str:
    return f"{status.day:%Y-%m-%d}" + (f", in {status.starts_in:.0f} s" if status.starts_in > 0 else "")


def _late(lateness: Lateness | None) -> str:
    if lateness is None:
        return "lateness -"
    return f"lateness p50 {_seconds(lateness.p50)} p99 {_seconds(lateness.p99)}"


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def _mark(line: Line) -> Text:
    return Text("=", style="green") if line.queue == line.file else Text("WRONG", style="bold red")
