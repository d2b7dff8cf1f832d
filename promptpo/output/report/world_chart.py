"""How well a run's world is understood: a held-out episode as it went, and as the model predicted it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from promptpo.output.report.svg import Frame, drawing, element, extent, short_number

ROW, LEFT = 70.0, 190.0


def world_chart(world: Mapping[str, Any]) -> Markup | None:
    """A row for each quantity, the predicted line over the real one; None where there is nothing to draw.

    Args:
        world: The data of a journal's event about a world model.
    """
    series = (world.get("trace") or {}).get("series") or []
    if not series:
        return None
    steps = (0.0, float(max(1, len(series[0]["real"]))))
    parts: list[Markup] = []
    for n, one in enumerate(series):
        bounds = extent([*one["real"], *one["predicted"]])
        frame = Frame(steps, bounds, left=LEFT, top=ROW * n + 6, bottom=ROW * (n + 1))
        parts += [
            element("text", one["name"], x=4, y=(frame.top + frame.bottom) / 2, class_="name"),
            *(
                element(
                    "text", short_number(value), x=frame.left - 6, y=frame.y(value) + 4, text_anchor="end"
                )
                for value in (min(one["real"]), max(one["real"]))
            ),
            element("line", x1=frame.left, x2=frame.right, y1=frame.bottom, y2=frame.bottom, class_="grid"),
            frame.line(list(enumerate(one["real"], 1)), "series obs"),
            frame.line(list(enumerate(one["predicted"], 1)), "series predicted"),
        ]
    bottom = ROW * len(series)
    axis = Frame(steps, (0.0, 1.0), left=LEFT, top=0, bottom=bottom + 4)
    label = "Real and predicted quantities over the steps of one held-out episode"
    return drawing(*parts, axis.x_axis("step"), height=bottom + 44, label=label)
