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
    test, best = result["test"] or {}, result["best"]
    score = success = ""
    if test.get("mean_return") is not None:
        low, high = map(number, test["ci95"])
        score = f"{number(test['mean_return'])} (95 % interval {low} to {high}, {test['episodes']} episodes)"
        success = "" if test["success_rate"] is None else f"{test['success_rate']:.0%}"
    rows = {
        "environment": result["env_id"],
        "written by": written_by(result),
        "held-out return": score,
        "success": success,
        "verdict": result.get("verdict"),
        "best candidate": best["candidate"] if best else "none ran",
        "stopped": result["stop_reason"],
        "report": directory / REPORT,
    }
    line = Markup('<tr><th style="text-align:left">{}</th><td style="text-align:left">{}</td></tr>')
    table = Markup("").join(line.format(name, value) for name, value in rows.items() if value)
    code = Markup("<details><summary>the policy</summary><pre>{}</pre></details>").format(source)
    return Markup("<table>{}</table>{}").format(table, code if source else "")
