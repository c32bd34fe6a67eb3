"""Curves as PNG and SVG."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from bench.figure import Curve


def write(curves: list[Curve], beside: Path) -> None:
    """Write the plots of the curves beside the JSON file, named after both."""
    if not curves:
        return
    if not importlib.util.find_spec("matplotlib"):
        print("no plots: pip install 'pyqueue_sql[bench]'")
        return
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    for curve in curves:
        figure, axes = plt.subplots(figsize=(7, 4), dpi=90)
        for label, points in curve.lines.items():
            axes.plot(*zip(*points, strict=True), marker=".", label=label)
        axes.set(xlabel=curve.x_label, ylabel=curve.y_label, title=curve.name, ylim=(0, None))
        widths = [x for points in curve.lines.values() for x, _ in points]
        axes.set_xscale("log" if 0 < 20 * min(widths) <= max(widths) else "linear")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.tight_layout()
        name = re.sub(r"[^a-z0-9]+", "-", curve.name.lower()).strip("-")
        for suffix in ("png", "svg"):
            figure.savefig(beside.with_name(f"{beside.stem}-{name}.{suffix}"))
        plt.close(figure)
