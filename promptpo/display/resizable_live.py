"""A live display that leaves no copy of itself behind when the terminal becomes narrower."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderResult
from rich.control import Control
from rich.live import Live
from rich.segment import ControlType, Segment


class ResizingLive(Live):
    """As `rich.live.Live`, for terminals that wrap the lines that are there when they become narrower.

    Live goes up by as many rows as it wrote lines; lines that the terminal has wrapped since then take more
    rows, and their upper part would stay.

    Args:
        console: Where to draw.
        draw: Called for what to draw.
    """

    def __init__(self, console: Console, draw: Callable[[], RenderableType]) -> None:
        self._drawn = _Drawn(draw)
        super().__init__(
            console=console, refresh_per_second=8, get_renderable=lambda: self._drawn, transient=True
        )

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Put what erases wrapped rows between the way up and what is to be printed."""
        return super().process_renderables([self._erasing(), *renderables])

    def stop(self) -> None:
        """Erase the live part and stop."""
        if self.is_started and self.console.is_interactive:
            self.refresh()  # at the width that the terminal has now
        super().stop()

    def _erasing(self) -> Control:
        rows = wrapped_rows(self._drawn.widths, self.console.width)
        up = ((ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2))
        return Control(*(up * rows))


class _Drawn:
    """Draws what it is told, and remembers how wide its lines became."""

    def __init__(self, draw: Callable[[], RenderableType]) -> None:
        self._draw = draw
        self.widths: list[int] = []

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._draw(), options, pad=False)
        self.widths = [Segment.get_line_length(line) for line in lines]
        for line in lines:
            yield from line
            yield Segment.line()


def wrapped_rows(widths: Sequence[int], columns: int) -> int:
    """How many rows more than lines there are once a terminal of so many columns has wrapped them."""
    return sum(max(0, -(-width // columns) - 1) for width in widths)
