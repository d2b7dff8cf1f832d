"""The curve by episode of a study: what the report of the language-model policy plots."""

from __future__ import annotations

import csv
import importlib.util
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo.output.report import write_atomically

CSV, PICTURE = "episodes.csv", "episodes.png"
WINDOW = 10
"""Episodes that a point of the curve is the mean of."""
COLOURS = ("#0072b2", "#d55e00", "#009e73")


def write_episodes(directory: Path, study: Mapping[str, Any]) -> None:
    """Write every training episode as CSV and, where matplotlib is installed, the curves as a picture.

    Args:
        directory: Of the study.
        study: Content of ``study.json``.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["network", "seed", "episode", "steps", "return"])
    for run in study["runs"]:
        for n, (steps, return_) in enumerate(run["episodes"], start=1):
            writer.writerow([run["network"], run["seed"], n, steps, f"{return_:.6g}"])
    write_atomically(directory / CSV, file.getvalue())
    if importlib.util.find_spec("matplotlib") is not None:
        _draw(directory / PICTURE, study)


def smoothed(returns: Sequence[float]) -> list[float]:
    """The mean of each episode and those before it, `WINDOW` at most."""
    return [sum(returns[max(0, n + 1 - WINDOW) : n + 1]) / min(n + 1, WINDOW) for n in range(len(returns))]


def _draw(path: Path, study: Mapping[str, Any]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    networks = list(dict.fromkeys(run["network"] for run in study["runs"]))
    for run in study["runs"]:
        colour = COLOURS[networks.index(run["network"]) % len(COLOURS)]
        returns = [return_ for _, return_ in run["episodes"]]
        curve = smoothed(returns)
        episodes = range(1, len(curve) + 1)
        axis.plot(episodes, returns, ".", color=colour, markersize=7, alpha=0.6, markeredgewidth=0)
        axis.plot(episodes, curve, color=colour, linewidth=1.3, label=f"{run['network']}, seed {run['seed']}")
    axis.set_xlabel("training episode")
    axis.set_ylabel(f"return (points), mean of the last {WINDOW} at most (lines)")
    axis.set_title(
        f"{study['algorithm'].upper()} on {study['env_id']}, {study['steps']:,} steps", fontsize=10
    )
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)
