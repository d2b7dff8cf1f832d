"""One page about several runs: a table, returns with their intervals, and learning curves on one axis."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from promptpo.envs.task import label_of as env_label
from promptpo.output.report.page import asset, templates
from promptpo.output.report.svg import Frame, drawing, element, extent
from promptpo.output.runs import RunLine
from promptpo.telling.feedback import number, with_noise

COLUMNS = ("run", "held-out return", "against the first", "success", "steps searched", "calls", "US dollars", "seconds",
           "environment", "written by", "seed")  # fmt: skip

COLOURS, DASHES = ("accent", "good", "warm", "violet", "bad", "faint"), ("", "7 4", "2 3")
"""A run's line: colours first, then dashes, so that eighteen runs can be told apart."""


LONGEST = 26
"""Letters of a run's name that fit beside its interval."""


def compare_page(lines: Sequence[RunLine]) -> str:
    """The text of the page.

    Args:
        lines: The runs; differences are to the first.
    """
    return (
        templates()
        .get_template("compare.html.j2")
        .render(
            lines=lines,
            mark=Markup(mark(lines)),  # noqa: S704 - letters and digits
            columns=COLUMNS,
            rows=[cells(line, lines[0]) for line in lines],
            swatches=[_swatch(n) for n in range(len(lines))],
            tasks=[
                (
                    task,
                    _intervals(runs) if _tested(runs) else None,
                    _curves(runs) if any(line.curve for _, line in runs) else None,
                )
                for task, runs in _by_task(lines).items()
            ],
            style=Markup(asset("style.css")),  # noqa: S704 - our own file
        )
    )


def mark(lines: Sequence[RunLine]) -> str:
    """The element by which a page says which runs it compares."""
    names = "\n".join(str(line.directory.resolve()) for line in lines)
    return f'<meta name="promptpo-runs" content="{hashlib.sha256(names.encode()).hexdigest()}">'


def cells(line: RunLine, first: RunLine) -> list[str]:
    """What the table says of a run, by `COLUMNS`."""
    low, high = line.ci95
    value = "not finished" if not line.finished else "nothing ran"
    if line.mean_return is not None:
        value = number(line.mean_return)
        value += f" ({number(low)} to {number(high)})" if low is not None and high is not None else ""
    return [
        label_of(line.directory),
        value,
        _difference(line, first),
        "" if line.success_rate is None else f"{line.success_rate:.0%}",
        f"{line.searched_steps:,}",
        "" if line.calls is None else f"{line.calls:,}",
        _price(line),
        "" if line.seconds is None else f"{line.seconds:,.0f}",
        _task_of(line),
        _writer(line),
        "" if line.seed is None else str(line.seed),
    ]


def _price(line: RunLine) -> str:
    if line.unpriced:
        return f"more than {line.usd:.4f}" if line.usd else "unknown"
    return f"{line.usd:.4f}" if line.usd else "0"


def _task_of(line: RunLine) -> str:
    """The environment, with what makes its returns those of another task."""
    told = [f"{name}={value!r}" for name, value in line.env_kwargs.items()]
    told += [f"at most {line.horizon} steps"] if line.horizon else []
    told += ["wrapped"] if line.setting.get("wrappers") else []
    told += ["variants"] if line.setting.get("variants") else []
    told += ["a reward program"] if line.setting.get("reward") else []
    return f"{env_label(line.env_id)} ({', '.join(told)})" if told else env_label(line.env_id)


def _writer(line: RunLine) -> str:
    """Who wrote the policy; where a model is part of a baseline, which of them."""
    if not line.writer or line.method in ("promptpo", "search", ""):
        return line.writer or line.method
    return f"{line.method} ({line.writer})"


def label_of(directory: Path) -> str:
    """What a run is called: its folder, with the one above where it says more."""
    return "/".join(directory.resolve().parts[-2:])


def _difference(line: RunLine, first: RunLine) -> str:
    found = None if line is first else line.against(first)
    if found is None:
        return ""
    if found.tie:
        return "the same in every episode"
    words = {1: "better", 0: "could be noise", -1: "worse"}[found.verdict]
    return f"{with_noise(found.mean, found.standard_error, signed=True)}, {words}"


def _by_task(lines: Sequence[RunLine]) -> Mapping[str, list[tuple[int, RunLine]]]:
    """Runs with their places in the table, by environment: returns of different ones share no axis."""
    found: dict[str, list[tuple[int, RunLine]]] = {}
    for n, line in enumerate(lines):
        given = {**line.env_kwargs, **line.setting} | (
            {"max_episode_steps": line.horizon} if line.horizon else {}
        )
        kwargs = ", ".join(f"{name}={value!r}" for name, value in given.items())
        found.setdefault(f"{line.env_id}{f' ({kwargs})' if kwargs else ''}", []).append((n, line))
    return found


def _tested(runs: Sequence[tuple[int, RunLine]]) -> bool:
    return any(line.mean_return is not None for _, line in runs)


def _style(n: int) -> dict[str, str | None]:
    colour = f"var(--{COLOURS[n % len(COLOURS)]})"
    dashes = DASHES[n // len(COLOURS) % len(DASHES)]
    return {"style": f"stroke: {colour}; fill: none; stroke-width: 2.2", "stroke_dasharray": dashes or None}


def _swatch(n: int) -> Markup:
    line = element("line", x1=0, x2=34, y1=5, y2=5, **_style(n))
    return element("svg", line, viewBox="0 0 34 10", class_="swatch", aria_hidden="true")


def _intervals(runs: Sequence[tuple[int, RunLine]]) -> Markup:
    shown = [(n, line) for n, line in runs if line.mean_return is not None]
    bounds = [v for _, line in shown for v in (*line.ci95, line.mean_return) if v is not None]
    height = 26.0 * len(shown) + 52
    frame = Frame(extent(bounds), (0.0, 1.0), left=168.0, bottom=height - 40)
    parts = [frame.x_axis("held-out return")]
    for row, (n, line) in enumerate(shown):
        y, name = 18.0 + 26 * row, label_of(line.directory)
        parts.append(
            element(
                "text",
                name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}",
                x=160,
                y=y + 4,
                text_anchor="end",
            )
        )
        low, high = line.ci95
        if low is not None and high is not None:
            parts.append(element("line", x1=frame.x(low), x2=frame.x(high), y1=y, y2=y, **_style(n)))
        colour = f"fill: var(--{COLOURS[n % len(COLOURS)]})"
        parts.append(element("circle", cx=frame.x(line.mean_return or 0.0), cy=y, r=4.5, style=colour))
    return drawing(*parts, height=height, label="Held-out mean returns with 95 % intervals")


def _curves(runs: Sequence[tuple[int, RunLine]]) -> Markup:
    shown = [(n, line) for n, line in runs if line.curve]
    end = max(value for _, line in shown for value in (line.curve[-1][0], float(line.searched_steps)))
    frame = Frame((0.0, end * 1.02), extent([value for _, line in shown for _, value in line.curve]))
    drawn = []
    for n, line in shown:
        points = [*line.curve, (max(float(line.searched_steps), line.curve[-1][0]), line.curve[-1][1])]
        path = frame.line(points, "curve", step=True, **_style(n))
        drawn.append(element("g", element("title", label_of(line.directory)), path))
    parts = [frame.y_axis(), frame.x_axis("environment steps"), *drawn]
    return drawing(
        *parts, height=250.0, label="The best so far against environment steps, a line for each run"
    )
