"""One run of the bench on one server: what the cases are given, and where they leave what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import servers
from bench.figure import Bars, Curve, Figure
from bench.report import line


@dataclass
class Run:
    """What a case is given.

    A case is a module with `NAME`, a docstring that says what it measures, and `run(run: Run) -> None`. It
    is run for each durability; with `ONCE = True`, where it sees to that itself or it matters nothing, once.
    """

    url: str
    """Of a database that is this case's alone, with the schema installed, as a superuser."""
    quick: bool
    repetitions: int
    seconds: float
    """How long one measurement takes."""
    out: Path
    settings: dict[str, str] = field(default_factory=dict[str, str])
    """What the server is set to for both sides, as every new connection finds it."""
    figures: list[Figure] = field(default_factory=list[Figure])
    drawn: list[Curve | Bars] = field(default_factory=list[Curve | Bars])
    left_out: list[str] = field(default_factory=list[str])
    hold_minutes: float = 0
    """How long the case of the open snapshot goes on under it."""

    def compare(
        self,
        name: str,
        ours: Callable[[], float],
        other: Callable[[], float],
        *,
        other_name: str,
        unit: str,
        clients: int = 1,
        target: float | None = None,
        less_is_better: bool = False,
        note: str = "",
        our_name: str = "pyqueue",
        repetitions: int | None = None,
    ) -> Figure:
        """Measure ours, theirs, ours, theirs …, and keep the figure.

        Args:
            name: what is measured, the same for each number of clients, setting and other side.
            ours: prepares itself, measures once and returns the value.
            other: the same for the other side.
            other_name: what the other side is.
            unit: of the values, such as messages/s.
            clients: how many at the same time.
            target: the least ratio to reach.
            less_is_better: the ratio is the other's value to ours.
            note: what a reader has to know of this figure.
            our_name: what our side is.
            repetitions: of both sides; None: as the run has it.
        """
        values = self.turns([ours, other], repetitions)
        return self.keep(
            name,
            values[0],
            values[1],
            other_name=other_name,
            unit=unit,
            clients=clients,
            target=target,
            less_is_better=less_is_better,
            note=note,
            our_name=our_name,
        )

    def turns(
        self, sides: Sequence[Callable[[], float]], repetitions: int | None = None
    ) -> list[list[float]]:
        """Measure each side in turn, again and again, and return the values of each."""
        rounds = [[side() for side in sides] for _ in range(repetitions or self.repetitions)]
        return [list(values) for values in zip(*rounds, strict=True)]

    def each_setting(self, *others: str) -> Iterator[dict[str, str]]:
        """Set one durability after the other, for cases that can't build up what they need for each.

        Args:
            others: URLs of further databases that the case uses.
        """
        for settings in servers.durabilities(servers.name_of(self.url), self.quick):
            for url in (self.url, *others):
                servers.apply(url, settings)
            self.settings = dict(settings)
            yield settings

    def limit(
        self, name: str, ours: list[float], most: float, *, unit: str, clients: int = 1, note: str = ""
    ) -> Figure:
        """Keep a figure that has to stay below a limit instead of beside a peer."""
        values = [float(most)] * len(ours)
        return self.keep(
            name,
            ours,
            values,
            other_name="the limit",
            unit=unit,
            clients=clients,
            target=1.0,
            less_is_better=True,
            note=note,
        )

    def keep(
        self,
        name: str,
        ours: list[float],
        other: list[float],
        *,
        other_name: str,
        unit: str,
        clients: int = 1,
        target: float | None = None,
        less_is_better: bool = False,
        note: str = "",
        our_name: str = "pyqueue",
    ) -> Figure:
        """Keep a figure of values that were measured already, under the present settings, and print it.

        Args:
            ours: our values.
            other: those of the other side.
            name, other_name, unit, clients, target, less_is_better, note, our_name: as for `compare`.
        """
        figure = Figure(
            name,
            our_name,
            other_name,
            unit,
            clients,
            dict(self.settings),
            ours,
            other,
            target,
            less_is_better,
            note,
        )
        self.figures.append(figure)
        print(line(figure), flush=True)
        return figure

    def draw(self, what: Curve | Bars) -> None:
        """Keep something for the plots."""
        self.drawn.append(what)

    def leave_out(self, what: str, why: str) -> None:
        """Say loudly that something isn't measured."""
        self.left_out.append(f"{what}: LEFT OUT, {why}")
        print(self.left_out[-1], flush=True)
