"""Curves and bars as PNG and SVG."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from bench.figure import Bars, Curve

WIDTH = 0.82
"""Of a group of bars, where the groups are 1 apart."""


def write(drawn: list[Curve | Bars], beside: Path) -> None:
    """Write the plots beside the JSON file, named after both."""
    if not drawn:
        return
    if not importlib.util.find_spec("matplotlib"):
        print("no plots: pip install 'pyqueue_sql[bench]'")
        return
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    for one in drawn:
        figure, axes = plt.subplots(figsize=(7, 4) if isinstance(one, Curve) else (10, 4), dpi=90)
        if isinstance(one, Curve):
            _curve(axes, one)
            axes.legend()
        else:
            _bars(axes, one)
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        figure.tight_layout()
        name = re.sub(r"[^a-z0-9]+", "-", one.name.lower()).strip("-")
        for suffix in ("png", "svg"):
            figure.savefig(beside.with_name(f"{beside.stem}-{name}.{suffix}"))
        plt.close(figure)


def _curve(axes: Any, curve: Curve) -> None:
    for label, points in curve.lines.items():
        axes.plot(*zip(*points, strict=True), marker=".", label=label)
    axes.set(xlabel=curve.x_label, ylabel=curve.y_label, title=curve.name, ylim=(0, None))
    widths = [x for points in curve.lines.values() for x, _ in points]
    axes.set_xscale("log" if 0 < 20 * min(widths) <= max(widths) else "linear")
    axes.grid(alpha=0.3)


def _bars(axes: Any, bars: Bars) -> None:
    names = list(dict.fromkeys(name for group in bars.groups.values() for name in group))
    width = WIDTH / len(names)
    for number, name in enumerate(names):
        places = [place + (number - (len(names) - 1) / 2) * width for place in range(len(bars.groups))]
        heights = [group.get(name, 0.0) for group in bars.groups.values()]
        drawn = axes.bar(places, heights, width, label=name)
        axes.bar_label(drawn, [f"{height:,.0f}" for height in heights], fontsize=7, padding=1)
    axes.set_xticks(range(len(bars.groups)), list(bars.groups))
    axes.set(ylabel=bars.y_label, title=bars.name)
    axes.grid(alpha=0.3, axis="y")
    axes.set_axisbelow(True)
