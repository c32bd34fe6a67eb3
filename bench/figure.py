"""What a case finds: figures, which compare two sides, curves and bars."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One comparison, the two sides measured in turns."""

    name: str
    ours: str
    """What our side is."""
    other: str
    unit: str
    clients: int
    settings: dict[str, str]
    """What was set for both sides, durability first of all."""
    our_values: list[float]
    other_values: list[float]
    target: float | None
    """The least ratio to reach; None: nothing was promised."""
    less_is_better: bool = False
    note: str = ""

    @property
    def ratio(self) -> float:
        """The medians' ratio, above 1 where ours is better."""
        ours, other = statistics.median(self.our_values), statistics.median(self.other_values)
        better, worse = (other, ours) if self.less_is_better else (ours, other)
        if worse:
            return better / worse
        return math.inf if better else 1.0

    @property
    def reached(self) -> bool:
        """Whether the target is met; true where there is none."""
        return self.target is None or self.ratio >= self.target


@dataclass(frozen=True)
class Curve:
    """Lines over a common axis, for a plot."""

    name: str
    x_label: str
    y_label: str
    lines: dict[str, list[tuple[float, float]]]
    """By label, the points in order of x."""


@dataclass(frozen=True)
class Bars:
    """Groups of bars, for a plot."""

    name: str
    y_label: str
    groups: dict[str, dict[str, float]]
    """By what was done, the value of each side."""
