"""What a run leaves behind: a JSON file, a table and plots.

python -m bench.report FILE.json     prints the table of a file as Markdown
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import machine, plot, servers
from bench.figure import Bars, Curve, Figure

if TYPE_CHECKING:
    from bench.run import Run

COLUMNS = ("figure", "clients", "settings", "ours", "the other", "", "unit", "ratio", "to reach", "")


def write(run: Run) -> Path:
    """Write the run's files into its folder, print the table, and return the path of the JSON."""
    server = servers.name_of(run.url)
    run.out.mkdir(parents=True, exist_ok=True)
    path = run.out / f"{time.strftime('%Y-%m-%d-%H%M')}-{server}.json"
    if path.exists():  # of a run that ended in the same minute
        path = run.out / f"{time.strftime('%Y-%m-%d-%H%M%S')}-{server}.json"
    found = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "server": server,
        "quick": run.quick,
        "seconds": run.seconds,
        "machine": machine.describe(),
        "versions": servers.versions(run.url),
        "settings": servers.settings(run.url),
        "figures": [figure_as_json(figure) for figure in run.figures],
        "curves": [
            {
                "name": c.name,
                "x": c.x_label,
                "y": c.y_label,
                "lines": {k: rounded_points(v) for k, v in c.lines.items()},
            }
            for c in run.drawn
            if isinstance(c, Curve)
        ],
        "bars": [
            {"name": b.name, "y": b.y_label, "groups": rounded_groups(b.groups)}
            for b in run.drawn
            if isinstance(b, Bars)
        ],
        "left_out": run.left_out,
    }
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    plot.write(run.drawn, path)
    print("\n" + table([row(figure) for figure in found["figures"]]))
    print("\n".join(["", *notes(found["figures"]), *run.left_out, f"written: {path}"]))
    return path


def figure_as_json(figure: Figure) -> dict[str, Any]:
    """Return a figure with what its values come to; a ratio that would be infinite is null."""
    return {
        "name": figure.name,
        "ours": side(figure.ours, figure.our_values),
        "other": side(figure.other, figure.other_values),
        "ratio": significant(figure.ratio) if math.isfinite(figure.ratio) else None,
        "unit": figure.unit,
        "clients": figure.clients,
        "repetitions": len(figure.our_values),
        "target": figure.target,
        "reached": figure.reached,
        "less_is_better": figure.less_is_better,
        "settings": figure.settings,
        "note": figure.note,
    }


def side(name: str, values: list[float]) -> dict[str, Any]:
    """Return one side of a figure."""
    kept = [significant(value) for value in values]
    middle = significant(statistics.median(values))
    return {"name": name, "min": min(kept), "median": middle, "max": max(kept), "values": kept}


def significant(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")


def rounded_points(points: list[tuple[float, float]]) -> list[list[float]]:
    """Return points for JSON."""
    return [[significant(x), significant(y)] for x, y in points]


def rounded_groups(groups: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return groups of bars for JSON."""
    return {group: {name: significant(value) for name, value in of.items()} for group, of in groups.items()}


def line(figure: Figure) -> str:
    """Return a figure as one line, for those who wait."""
    return "  ".join(cell for cell in row(figure_as_json(figure)) if cell)


def row(figure: dict[str, Any]) -> list[str]:
    """Return the cells of a figure, as its JSON has it."""
    ratio = "∞" if figure["ratio"] is None else f"{figure['ratio']:.2f}"
    return [
        figure["name"],
        str(figure["clients"]),
        ", ".join(f"{name}={value}" for name, value in figure["settings"].items()),
        spread(figure["ours"]),
        figure["other"]["name"],
        spread(figure["other"]),
        figure["unit"],
        ratio,
        "" if figure["target"] is None else f"{figure['target']:g}",
        "" if figure["reached"] else "NOT REACHED",
    ]


def spread(side: dict[str, Any]) -> str:
    """Return the median of a side, and from where to where its values go."""
    least, middle, most = (
        f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
        for value in (side["min"], side["median"], side["max"])
    )
    return middle if least == most else f"{middle} ({least} to {most})"


def table(rows: list[list[str]]) -> str:
    """Return rows below the names of the columns, aligned."""
    rows = [list(COLUMNS), *rows]
    widths = [max(len(cells[number]) for cells in rows) for number in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
        for cells in rows
    )


def notes(figures: list[dict[str, Any]]) -> list[str]:
    """Return what a reader has to know of some figures, once each."""
    return list(dict.fromkeys(f"{figure['name']}: {figure['note']}" for figure in figures if figure["note"]))


def markdown(found: dict[str, Any]) -> str:
    """Return the table of a file, and what it was measured on."""
    where = found["machine"]
    about = f"{found['versions']['server']}, {where['cores']} x {where['cpu']}, {where['memory_gb']} GB"
    lines = [f"{about}; medians of repetitions in turns, {found['date'][:10]}.", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(row(figure)) + " |" for figure in found["figures"]]
    below = [f"- {text}" for text in (*notes(found["figures"]), *found["left_out"])]
    return "\n".join([*lines, *(["", *below] if below else [])])


if __name__ == "__main__":
    print(markdown(json.loads(Path(sys.argv[1]).read_text())))
