"""The table and the figure of ``promptpo benchmark icpi --probe``."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo_baselines.icpi.probe import NEEDED_ACCURACY
from promptpo_baselines.icpi.profile import KINDS
from figure import PALETTE
from tables import short
from promptpo_benchmarks.measuring.tables import markdown
from promptpo.files import write_atomically
from promptpo.run.records import mean_interval

if TYPE_CHECKING:
    from runs import Run
    from sizes import Probed, SizedModel

NAME = "sizes"
TITLES = {"done": "ends?", "reward": "reward", "next": "next state", "policy": "action (legal)"}
Z = 1.959964
HEAD = ("model", "examples", *(TITLES[kind] for kind in KINDS), "regret, last quarter")


def wilson(right: float, asked: int) -> tuple[float, float]:
    """The 95 % interval of a share by Wilson's score; (0, 1) where nothing was asked.

    Args:
        right: How many were right.
        asked: Of how many.
    """
    if not asked:
        return 0.0, 1.0
    share = right / asked
    middle = share + Z * Z / (2 * asked)
    half = Z * math.sqrt(share * (1 - share) / asked + Z * Z / (4 * asked * asked))
    scale = 1 + Z * Z / asked
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def accuracy(rows: Sequence[Probed], engine: str, kind: str, examples: int) -> tuple[float, int]:
    """Right answers, and how many were asked, over all domains."""
    found = [
        one.row
        for one in rows
        if one.engine == engine and (one.row.kind, one.row.examples) == (kind, examples)
    ]
    return sum(row.right * row.asked for row in found), sum(row.asked for row in found)


def table(models: Sequence[SizedModel], rows: Sequence[Probed], runs: Sequence[Run]) -> list[tuple[str, ...]]:
    """One line for each model and number of examples, under `HEAD`; regret in the model's last line."""
    lines = []
    for model in models:
        sizes = sorted({one.row.examples for one in rows if one.engine == model.engine})
        for size in sizes:
            shares = [_share(*accuracy(rows, model.engine, kind, size)) for kind in KINDS]
            regret = _regret(runs, model.engine) if size == sizes[-1] else ""
            lines.append((model.label, str(size), *shares, regret))
    return lines


def write(
    folder: Path,
    models: Sequence[SizedModel],
    rows: Sequence[Probed],
    runs: Sequence[Run],
    *,
    origin: str,
) -> None:
    """Write ``sizes.md``, ``sizes.csv`` and ``sizes.png``.

    Args:
        folder: Where to.
        models: In the order of the table.
        rows: Of all probes.
        runs: Of the agent, where it ran.
        origin: Command, date and versions, for the head of the table.
    """
    domains = ", ".join(dict.fromkeys(short(one.row.env_id) for one in rows))
    said = (
        f"Share of right answers with a 95 % interval (Wilson), over {domains}. ICPI is given a chance from "
        f"{NEEDED_ACCURACY:g} of the next states on; regret is its mean over seeds with a bootstrap interval."
    )
    write_atomically(
        folder / f"{NAME}.md", f"{origin}\n\n{said}\n\n{markdown(HEAD, table(models, rows, runs))}"
    )
    write_atomically(folder / f"{NAME}.csv", _csv(rows))
    draw(models, rows, runs, folder / f"{NAME}.png")


def draw(models: Sequence[SizedModel], rows: Sequence[Probed], runs: Sequence[Run], path: Path) -> None:
    """A panel for each question, models from left to right by size, a colour for each number of examples."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sizes = sorted({one.row.examples for one in rows})
    panels = len(KINDS) + bool(runs)
    figure, axes = plt.subplots(
        1, panels, figsize=(max(2.2, 0.55 * len(models)) * panels, 3.9), squeeze=False, layout="constrained"
    )
    for axis, kind in zip(axes.flat, KINDS, strict=False):
        for n, size in enumerate(sizes):
            _accuracies(axis, models, rows, kind, size, n, len(sizes))
        axis.set_title(TITLES[kind], fontsize=10)
        axis.set_ylim(-0.03, 1.03)
        if kind == "next":
            axis.axhline(NEEDED_ACCURACY, color="black", linewidth=0.8, linestyle=":")
    axes.flat[0].set_ylabel("share of right answers", fontsize=9)
    if runs:
        _regrets(axes.flat[-1], models, runs)
    for axis in axes.flat:
        axis.set_xticks(
            range(len(models)), [model.short for model in models], rotation=60, ha="right", fontsize=7
        )
        axis.set_xlim(-0.6, len(models) - 0.4)
        axis.tick_params(axis="y", labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=len(sizes), fontsize=8, title="examples in memory"
    )
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _accuracies(
    axis: Any, models: Sequence[SizedModel], rows: Sequence[Probed], kind: str, size: int, n: int, of: int
) -> None:
    offset = 0.5 * ((n + 0.5) / of - 0.5)
    places, shares, below, above = [], [], [], []
    for place, model in enumerate(models):
        right, asked = accuracy(rows, model.engine, kind, size)
        if asked:
            low, high = wilson(right, asked)
            places.append(place + offset)
            shares.append(right / asked)
            below.append(max(0.0, right / asked - low))
            above.append(max(0.0, high - right / asked))
    axis.errorbar(
        places, shares, [below, above],
        fmt="o", color=PALETTE[n % len(PALETTE)], markersize=4, capsize=2, linewidth=1, label=str(size),
    )  # fmt: skip


def _regrets(axis: Any, models: Sequence[SizedModel], runs: Sequence[Run]) -> None:
    for place, model in enumerate(models):
        values = _late(runs, model.engine)
        if values:
            low, high = mean_interval(values)
            mean = sum(values) / len(values)
            axis.errorbar(
                [place],
                [mean],
                [[max(0.0, mean - low)], [max(0.0, high - mean)]],
                fmt="s",
                color="black",
                capsize=2,
            )
    axis.set_title("regret, last quarter", fontsize=10)
    axis.set_ylim(bottom=-0.02)


def _late(runs: Sequence[Run], engine: str) -> list[float]:
    return [run.last_quarter for run in runs if run.engine == engine and run.last_quarter is not None]


def _regret(runs: Sequence[Run], engine: str) -> str:
    values = _late(runs, engine)
    if not values:
        return "not run"
    low, high = mean_interval(values)
    return f"{sum(values) / len(values):.3f} [{low:.3f}, {high:.3f}], {len(values)} runs"


def _share(right: float, asked: int) -> str:
    if not asked:
        return ""
    low, high = wilson(right, asked)
    return f"{right / asked:.2f} [{low:.2f}, {high:.2f}] of {asked}"


def _csv(rows: Sequence[Probed]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["engine", "parameters", "env_id", "kind", "examples", "asked", "valid", "right", "low", "high", "right_seen", "right_new"]
    )  # fmt: skip
    for one in rows:
        row = one.row
        low, high = wilson(row.right * row.asked, row.asked)
        seen, new = ("" if share is None else f"{share:.4f}" for share in (row.right_seen, row.right_new))
        writer.writerow(
            [one.engine, "" if one.parameters is None else f"{one.parameters:g}", row.env_id, row.kind, row.examples,
             row.asked, f"{row.valid:.4f}", f"{row.right:.4f}", f"{low:.4f}", f"{high:.4f}", seen, new]
        )  # fmt: skip
    return file.getvalue()
