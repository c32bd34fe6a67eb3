"""Where the parts of a plot are; the templates draw them as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyqueue_sql.overview import GroupLook, KindLook, Member

STATES = ("ready", "scheduled", "reserved", "expired", "waiting")
DRAWN = 30
"""Members of a group that are drawn."""
ROW = 26


@dataclass(frozen=True, slots=True)
class Line:
    """A line over time, as the points of an SVG polyline, and its largest value."""

    points: str
    most: float
    newest: float


def line(values: Sequence[float], width: int, height: int) -> Line | None:
    """Return a line through values, None where there are fewer than two of them.

    Args:
        values: the newest last.
        width: of the plot.
        height: of the plot; its top is the largest value.
    """
    if len(values) < 2:
        return None
    most = max(values)
    step = width / (len(values) - 1)
    points = " ".join(
        f"{number * step:.1f},{height - 1 - (height - 2) * value / (most or 1):.1f}"
        for number, value in enumerate(values)
    )
    return Line(points, most, values[-1])


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar."""

    state: str
    count: int
    x: float
    width: float


def bar(one: KindLook, width: int) -> list[Part]:
    """Return the parts of a bar of this width: the messages of a kind, by state."""
    parts: list[Part] = []
    x = 0.0
    for state in STATES:
        count = int(getattr(one, state))
        if count:
            wide = width * count / one.total
            parts.append(Part(state, count, round(x, 1), round(wide, 1)))
            x += wide
    return parts


@dataclass(frozen=True, slots=True)
class Node:
    """A member of a group in its graph, and the way from it to the group."""

    member: Member
    y: int
    way: str


@dataclass(frozen=True, slots=True)
class Graph:
    """A group: its members on the left, the group, and on the right what follows it."""

    group: GroupLook
    nodes: list[Node]
    height: int
    middle: int
    more: int


def graph(group: GroupLook, members: Sequence[Member]) -> Graph:
    """Return the graph of a group."""
    drawn = members[:DRAWN]
    height = max(len(drawn), 2) * ROW + 8
    middle = height // 2
    nodes = [
        Node(
            one,
            4 + number * ROW,
            f"M 250 {4 + number * ROW + 11} C 290 {4 + number * ROW + 11} 290 {middle} 330 {middle}",
        )
        for number, one in enumerate(drawn)
    ]
    return Graph(group, nodes, height, middle, len(members) - len(drawn))
