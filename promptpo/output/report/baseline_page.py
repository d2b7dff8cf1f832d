"""``report.html`` of a baseline's run: its curve, its test, and how to repeat it. Nothing is loaded or played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from promptpo.output.report import charts
from promptpo.output.report.page import asset, templates, typed

if TYPE_CHECKING:
    from promptpo.output.baseline_run import BaselineRun


def baseline_page(run: BaselineRun) -> str:
    """The text of the page."""
    result = run.result or {}
    shown = {name: result.get(name) for name in ("train", "validation", "test")}
    tested = (shown["test"] or {}).get("mean_return") is not None
    return (
        templates()
        .get_template("baseline.html.j2")
        .render(
            run=run,
            result=run.result,
            test=shown["test"] if tested else None,
            validation=shown["validation"],
            curve_chart=_curve(run),
            test_chart=charts.selection_chart(shown) if tested else None,
            settings={name: value for name, value in run.settings.items() if name != "task"},
            command=typed(str(result.get("command") or "")),
            style=Markup(asset("style.css")),  # noqa: S704 - our own file
        )
    )


def _curve(run: BaselineRun) -> Markup | None:
    """Mean return on validation seeds, and of training episodes, against training steps."""
    looked = [(one.steps, one.mean_return) for one in run.curve if one.mean_return is not None]
    trained = [(one.steps, one.train_mean_return) for one in run.curve if one.train_mean_return is not None]
    if not looked:
        return None
    lines = [charts.Line(looked, step=False)]
    if len(trained) > 1 and trained != looked:
        lines.append(charts.Line(trained, "curve", charts.stroke("faint"), step=False))
    return charts.over("training steps", lines, label="Mean return against training steps")
