"""``report.html`` of a baseline's run: its curve, its test, and how to repeat it. Nothing is loaded or played."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from promptpo.output.report import charts
from promptpo.output.report.page import asset, templates, typed
from promptpo.output.report.svg import Frame, drawing, extent

if TYPE_CHECKING:
    from promptpo.output.baseline_run import BaselineRun

HEIGHT = 250.0


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
    end = max(steps for steps, _ in looked) or 1.0
    frame = Frame((0.0, end * 1.02), extent([value for _, value in (*looked, *trained)]), bottom=HEIGHT - 44)
    lines = [frame.line(looked, "best")]
    if len(trained) > 1 and trained != looked:
        lines.append(
            frame.line(trained, "curve", style="stroke: var(--faint); fill: none; stroke-width: 1.6")
        )
    axes = [frame.y_axis(), frame.x_axis("training steps")]
    return drawing(*axes, *lines, height=HEIGHT, label="Mean return against training steps")
