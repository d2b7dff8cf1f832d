"""The figure: our curves, with the points that were read off the published figure beside them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tables import curve, groups, short
from variants import VARIANTS

if TYPE_CHECKING:
    from runs import Run

PUBLISHED = Path(__file__).with_name("published.toml")
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f7f", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which most colour-blind people can tell apart."""


def published_points(env_id: str, variant: str) -> list[tuple[float, float]]:
    """(share of the training steps, regret) as read off the paper's figure; empty where there is no curve."""
    data: Mapping[str, Any] = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))
    values = data.get(env_id, {}).get(variant, [])
    return [
        (share, value) for share, value in zip(data["at"], values, strict=False) if value != data["hidden"]
    ]


def draw(runs: Sequence[Run], path: Path, *, caption: str) -> None:
    """Write the figure as PNG.

    Args:
        runs: All of one engine.
        path: The file.
        caption: One line below the panels: engine, seeds, date.
    """
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    env_ids = list(dict.fromkeys(run.env_id for run in runs))
    variants = [name for name in VARIANTS if any(run.variant == name for run in runs)]
    colours = dict(zip(variants, PALETTE * (1 + len(variants) // len(PALETTE)), strict=False))
    columns = min(3, len(env_ids))
    rows = -(-len(env_ids) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4 * columns, 3 * rows + 1), squeeze=False, layout="constrained"
    )
    for axis, env_id in zip(axes.flat, env_ids, strict=False):
        _panel(axis, [run for run in runs if run.env_id == env_id], colours)
    for axis in axes.flat[len(env_ids) :]:
        axis.set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    marker = Line2D([], [], color="black", marker="o", fillstyle="none", linestyle="none")
    figure.legend(
        [*handles, marker],
        [*labels, "published (code-davinci-002), read off the paper's figure"],
        loc="outside lower center",
        ncols=3,
        fontsize=8,
        title=caption,
        title_fontsize=8,
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panel(axis: Any, runs: Sequence[Run], colours: Mapping[str, str]) -> None:
    """One domain."""
    for group in groups(runs):
        first = group[0]
        colour = colours[first.variant]
        points = curve(group)
        steps = [point.step for point in points]
        low = [point.regret - point.error for point in points]
        high = [point.regret + point.error for point in points]
        axis.plot(
            steps,
            [point.regret for point in points],
            color=colour,
            linewidth=1.5,
            label=VARIANTS[first.variant].title,
        )
        axis.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
        read_off = published_points(first.env_id, first.variant)
        axis.plot(
            [share * first.steps for share, _ in read_off],
            [value for _, value in read_off],
            color=colour,
            marker="o",
            fillstyle="none",
            linestyle="none",
            markersize=5,
        )
    axis.set_title(short(runs[0].env_id), fontsize=10)
    axis.set_xlabel("training steps", fontsize=8)
    axis.set_ylabel("regret", fontsize=8)
    axis.set_ylim(bottom=0)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)
