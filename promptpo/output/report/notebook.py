"""A run's result as a notebook cell shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from promptpo.output.report.result import REPORT, written_by
from promptpo.telling.feedback import number


def summary(directory: Path, result: Mapping[str, Any], source: str) -> Markup:
    """A small table, the source folded away, and the way to the report.

    Args:
        directory: Of the run.
        result: Content of ``result.json``.
        source: The best policy's module; empty when nothing ran.
    """
    rows = [("environment", result["env_id"]), ("written by", written_by(result))]
    test = result["test"]
    if test and test["mean_return"] is not None:
        low, high = test["ci95"]
        interval = f" (95 % interval {number(low)} to {number(high)}, {test['episodes']} episodes)"
        rows.append(("held-out return", number(test["mean_return"]) + interval))
        if test["success_rate"] is not None:
            rows.append(("success", f"{test['success_rate']:.0%}"))
    if result.get("verdict"):
        rows.append(("verdict", result["verdict"]))
    best = result["best"]
    rows.append(("best candidate", best["candidate"] if best else "none ran"))
    rows.append(("stopped", result["stop_reason"]))
    rows.append(("report", str(directory / REPORT)))
    table = Markup("").join(
        Markup('<tr><th style="text-align:left">{}</th><td style="text-align:left">{}</td></tr>').format(*row)
        for row in rows
    )
    code = Markup("<details><summary>{}</summary><pre>{}</pre></details>").format("the policy", source)
    return Markup("<table>{}</table>{}").format(table, code if source else "")
