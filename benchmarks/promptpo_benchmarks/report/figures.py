"""Figures of a report.

Every column has a colour of the Okabe-Ito palette, which colour-blind readers can distinguish, and a line style and a
marker, which remain distinct in black-and-white print.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from promptpo_benchmarks.statistics.bootstrap import profile, profile_band
from promptpo_benchmarks.statistics.rows import FinishedCell, Point
from promptpo_benchmarks.statistics.summary import Summary

COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 3)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
THRESHOLDS = np.linspace(-0.1, 1.2, 131)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure in two forms.

    Attributes:
        svg: The text of the drawing in the HTML page.
        png: An image of 256 colours, a tenth of the size if there are many lines.
    """

    svg: str
    png: bytes


@dataclass(frozen=True, slots=True)
class Style:
    """Style of a column."""

    colour: str
    line: Any
    marker: str


def styles_of(columns: Sequence[str]) -> dict[str, Style]:
    """Return a style for each column, in a fixed order."""
    styles = {}
    for n, column in enumerate(columns):
        k = (n + n // len(COLOURS)) % len(LINES)  # after eight columns, colours get other lines and markers
        styles[column] = Style(COLOURS[n % len(COLOURS)], LINES[k], MARKERS[k])
    return styles


@contextmanager
def drawing() -> Iterator[Any]:
    """Provide matplotlib's pyplot with our settings, without a display, and with reproducible output."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    settings: Any = {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.hashsalt": "promptpo",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
    }
    with mpl.rc_context(settings):
        yield plt
        plt.close("all")


def render_figure(figure: Any) -> Drawing:
    """Return a finished figure in both forms."""
    text, picture = io.StringIO(), io.BytesIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    figure.savefig(picture, format="png", bbox_inches="tight", dpi=110, metadata={"Software": None})
    smaller = io.BytesIO()
    Image.open(picture).convert("RGB").quantize(256, kmeans=1, dither=Image.Dither.NONE).save(
        smaller, "PNG", optimize=True
    )
    whole = text.getvalue()
    return Drawing(whole[whole.index("<svg") :], smaller.getvalue())


def learning_curves(rows: Sequence[FinishedCell], columns: Sequence[str], axis: str) -> Drawing | None:
    """Draw the validation return of the best policy so far, with a panel for each task; None if nothing learned.

    Args:
        rows: Finished cells.
        columns: In the order of the styles.
        axis: "steps", "seconds" or "usd".
    """
    tasks = list(dict.fromkeys(row.cell.task.label for row in rows if _drawable(row.curve, axis)))
    if not tasks:
        return None
    styles = styles_of(columns)
    with drawing() as plt:
        across = min(3, len(tasks))
        down = math.ceil(len(tasks) / across)
        figure, axes = plt.subplots(down, across, figsize=(3.3 * across, 2.5 * down), squeeze=False)
        for panel in axes.flat[len(tasks) :]:
            panel.set_visible(False)
        for panel, task in zip(axes.flat, tasks, strict=False):
            for row in rows:
                if row.cell.task.label == task and _drawable(row.curve, axis):
                    _curve(panel, row, styles[row.cell.column], axis)
            panel.set_title(task, fontsize=9)
            _readable_axis(panel)
        label = {"steps": "environment steps, all of them", "seconds": "seconds", "usd": "US dollars"}[axis]
        figure.supxlabel(label, fontsize=9)
        figure.supylabel("validation return of the best so far", fontsize=9)
        _legend(figure, plt, styles)
        figure.tight_layout()
        return render_figure(figure)


def _drawable(curve: Sequence[Point], axis: str) -> bool:
    return any(math.isfinite(getattr(p, axis)) and getattr(p, axis) > 0 for p in curve)


def _curve(panel: Any, row: FinishedCell, style: Style, axis: str) -> None:
    points = [p for p in row.curve if math.isfinite(getattr(p, axis)) and getattr(p, axis) > 0]
    x, y = [getattr(p, axis) for p in points], [p.value for p in points]
    end = {"steps": row.searched, "seconds": row.content.get("wall_seconds") or 0, "usd": row.usd}[axis]
    if end > x[-1]:
        x, y = [*x, end], [*y, y[-1]]
    panel.plot(
        x, y, drawstyle="steps-post", color=style.colour, linestyle=style.line, marker=style.marker,
        markersize=3.5, linewidth=1.2, alpha=0.9,
    )  # fmt: skip


def _readable_axis(panel: Any) -> None:
    """Make the axis logarithmic if the values span a factor of ten, with labels that do not overlap."""
    from matplotlib.ticker import EngFormatter, MaxNLocator, NullFormatter

    low, high = panel.dataLim.intervalx
    if low > 0 and high >= 10 * low:
        panel.set_xscale("log")
        panel.xaxis.set_minor_formatter(NullFormatter())
    else:
        panel.xaxis.set_major_locator(MaxNLocator(4))
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))


def _legend(figure: Any, plt: Any, styles: Mapping[str, Style]) -> None:
    handles = [
        plt.Line2D([], [], color=s.colour, linestyle=s.line, marker=s.marker, markersize=4, label=name)
        for name, s in styles.items()
    ]
    figure.legend(
        handles=handles,
        loc="lower center",
        ncols=min(4, len(handles)),
        bbox_to_anchor=(0.5, 1.0),
        frameon=False,
    )


def profiles(summary: Summary) -> Drawing | None:
    """Draw the share of runs above each normalised score, with 95 % bands; None without aggregates."""
    if not summary.overall.aggregates:
        return None
    styles = styles_of(summary.columns)
    with drawing() as plt:
        figure, panel = plt.subplots(figsize=(6, 3.4))
        for column, aggregate in summary.overall.aggregates.items():
            style = styles[column]
            low, high = profile_band(aggregate.scores, THRESHOLDS.tolist())
            panel.fill_between(THRESHOLDS, low, high, color=style.colour, alpha=0.1, linewidth=0)
            shares = profile(aggregate.scores, THRESHOLDS.tolist())
            panel.plot(
                THRESHOLDS, shares, color=style.colour, linestyle=style.line, marker=style.marker,
                markevery=13, markersize=4, linewidth=1.4, label=column,
            )  # fmt: skip
        panel.set_xlabel("normalised score t (0: random actions, 1: the high anchor)")
        panel.set_ylabel("share of runs with a score above t")
        panel.set_ylim(-0.02, 1.02)
        panel.legend(frameon=False, fontsize=8)
        return render_figure(figure)


def cost_against_score(
    rows: Sequence[FinishedCell], columns: Sequence[str], normalise: Callable[[FinishedCell], float | None]
) -> Drawing | None:
    """Draw the normalised score of each run against its steps; None if nothing can be normalised."""
    found = [(row, value) for row in rows if row.searched > 0 and (value := normalise(row)) is not None]
    if not found:
        return None
    styles = styles_of(columns)
    with drawing() as plt:
        figure, panels = plt.subplots(1, 2, figsize=(7.5, 3.2), sharey=True)
        for panel, (label, cost) in zip(panels, _COSTS.items(), strict=True):
            for row, value in found:
                style = styles[row.cell.column]
                panel.scatter(cost(row), value, color=style.colour, marker=style.marker, s=18, alpha=0.8)
            panel.set_xscale("log")
            panel.set_xlabel(label)
        panels[0].set_ylabel("normalised score")
        _legend(
            figure,
            plt,
            {name: styles[name] for name in columns if any(r.cell.column == name for r, _ in found)},
        )
        figure.tight_layout()
        return render_figure(figure)


_COSTS: Mapping[str, Callable[[FinishedCell], float]] = {
    "environment steps before the test": lambda row: row.searched,
    "wall time, seconds": lambda row: float(row.content.get("wall_seconds") or math.nan),
}
