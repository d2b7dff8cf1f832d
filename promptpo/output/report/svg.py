"""Small hand-made SVG: elements, a scale with round ticks, and a frame with axes.

Colours are CSS classes, so that one drawing serves the light and the dark page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH = 480.0
"""Width of a chart in its own units; the page scales it to the column."""

RIGHT = WIDTH - 12.0
"""Where its lines end."""

Scale = Callable[[float], float]


def element(name: str, *children: object, **attributes: object) -> Markup:
    """One element; attributes with a trailing underscore lose it, other underscores become hyphens."""
    parts = [
        f'{key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    ]
    inner = Markup("").join(escape(child) for child in children)
    return Markup(f"<{' '.join([name, *parts])}>{inner}</{name}>")  # noqa: S704 - every part is escaped


def drawing(
    *children: Markup, height: float, label: str, width: float = WIDTH, fixed: bool = False
) -> Markup:
    """A whole picture with a text for those who do not see it.

    Args:
        *children: What it shows.
        height: In its own units.
        label: What it shows, in words.
        width: In its own units.
        fixed: Keep the natural size (and let the page scroll) instead of scaling to the column.
    """
    return element(
        "svg",
        element("title", label),
        *children,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        width=f"{width:g}" if fixed else None,
        height=f"{height:g}" if fixed else None,
    )


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def linear(low: float, high: float, start: float, end: float) -> Scale:
    """The map from values to positions; a range without width is widened around its value."""
    if not high > low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, low + pad
    factor = (end - start) / (high - low)
    return lambda value: start + (value - low) * factor


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers within a range."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low] if math.isfinite(low) else []
    raw = (high - low) / about
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(magnitude * m for m in (1, 2, 5, 10) if magnitude * m >= raw)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def short_number(value: float) -> str:
    """A tick's label: 12k, 1.5M, 0.25."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:.3g}{letter}"
    return f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Frame:
    """The inner rectangle of a chart and its two scales.

    Attributes:
        left: Position of the y axis.
        right: Right edge.
        top: Upper edge.
        bottom: Position of the x axis.
        x_range: Values at the left and right edge.
        y_range: Values at the lower and upper edge.
    """

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 52.0
    right: float = RIGHT
    top: float = 12.0
    bottom: float = 206.0

    @property
    def x(self) -> Scale:
        """Values to horizontal positions."""
        return linear(*self.x_range, self.left, self.right)

    @property
    def y(self) -> Scale:
        """Values to vertical positions."""
        return linear(*self.y_range, self.bottom, self.top)

    def y_axis(self) -> Markup:
        """Grid lines with their values."""
        lines = []
        for value in ticks(*self.y_range):
            at = self.y(value)
            lines.append(element("line", x1=self.left, x2=self.right, y1=at, y2=at, class_="grid"))
            lines.append(element("text", short_number(value), x=self.left - 6, y=at + 4, text_anchor="end"))
        return Markup("").join(lines)

    def x_axis(self, title: str, label: Callable[[float], str] = short_number) -> Markup:
        """Values below the frame, and what they are."""
        marks = [
            element(
                "text", label(value), x=self.x(value), y=self.bottom + 16, text_anchor=self._anchor(value)
            )
            for value in ticks(*self.x_range)
        ]
        middle = (self.left + self.right) / 2
        return Markup("").join(
            [
                element("line", x1=self.left, x2=self.right, y1=self.bottom, y2=self.bottom, class_="axis"),
                *marks,
                element("text", title, x=middle, y=self.bottom + 34, text_anchor="middle", class_="title"),
            ]
        )

    def _anchor(self, value: float) -> str:
        """So that what stands below the last tick stays inside."""
        return "end" if self.right - self.x(value) < 12 else "middle"  # noqa: PLR2004 - half of a word

    def line(
        self,
        points: Sequence[tuple[float, float]],
        class_: str,
        *,
        step: bool = False,
        **attributes: str | None,
    ) -> Markup:
        """A line through (x, y) values; with `step`, each value holds until the next."""
        commands: list[str] = []
        for i, (x, y) in enumerate(points):
            at = f"{self.x(x):.1f}", f"{self.y(y):.1f}"
            if step and i:
                commands.append(f"H{at[0]}V{at[1]}")
            else:
                commands.append(f"{'L' if i else 'M'}{at[0]} {at[1]}")
        return element("path", d="".join(commands), class_=class_, **attributes)


def extent(values: Sequence[float], margin: float = 0.06) -> tuple[float, float]:
    """The range of the finite values, with some air; (0, 1) when there are none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    air = (high - low) * margin or abs(high) * 0.1 or 1.0
    return low - air, high + air
