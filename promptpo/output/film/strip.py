"""Film strips: some pictures of an episode in one, each under the number of its step."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from promptpo.output.film.replay import film

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo_sandbox import Episode

PICTURES, COLUMNS = 8, 4
"""Pictures of a strip at most, and how many stand side by side."""

WIDTH = 192
"""Pixels of one picture, at most."""

HEADING, GAP = 14, 4
"""Pixels above a picture, for its number, and around it."""

SECONDS = 10.0
"""How long rendering one episode may take, or little longer."""

INK, PAPER = (0, 0, 0), (255, 255, 255)


def strip(
    frames: Sequence[tuple[int, bytes]], *, columns: int = COLUMNS, places: Mapping[int, str] | None = None
) -> bytes:
    """One PNG file of several.

    Args:
        frames: Step numbers and PNG files, at least one; from left to right, then from top to bottom.
        places: By step, where the body is that the pictures follow; it stands beside the step's number.
        columns: How many stand side by side.
    """
    pictures = [(step, Image.open(io.BytesIO(data)).convert("RGB")) for step, data in frames]
    width = max(picture.width for _, picture in pictures) + GAP
    height = max(picture.height for _, picture in pictures) + HEADING + GAP
    columns = min(columns, len(pictures))
    rows = math.ceil(len(pictures) / columns)
    sheet = Image.new("RGB", (columns * width + GAP, rows * height), PAPER)
    draw = ImageDraw.Draw(sheet)
    for n, (step, picture) in enumerate(pictures):
        left, top = GAP + n % columns * width, n // columns * height
        place = (places or {}).get(step, "")
        draw.text((left, top + 1), f"step {step}{', ' if place else ''}{place}", fill=INK)
        sheet.paste(picture, (left, top + HEADING))
    file = io.BytesIO()
    sheet.save(file, "PNG", optimize=True)
    return file.getvalue()


def spread(frames: Sequence[tuple[int, bytes]], most: int = PICTURES) -> list[tuple[int, bytes]]:
    """So many of the pictures, evenly, the first and the last among them."""
    if len(frames) <= most:
        return list(frames)
    return [frames[round(i * (len(frames) - 1) / (most - 1))] for i in range(most)]


def in_words(places: Mapping[int, tuple[float, float]]) -> dict[int, str]:
    """Places as the strip says them."""
    return {step: f"x = {x:.2f}, y = {y:.2f}" for step, (x, y) in places.items()}


def camera(task: Task) -> Callable[[Episode], tuple[bytes, tuple[int, ...]]]:
    """What makes a strip of a recorded episode of a task, rendered as `film` does; also the steps it shows.

    Calling it raises `RenderingError` where the environment cannot be rendered here.
    """

    def taken(episode: Episode) -> tuple[bytes, tuple[int, ...]]:
        found = film(task, episode, frames=PICTURES - 1, width=WIDTH, seconds=SECONDS)
        frames = spread([(step, base64.b64decode(data)) for step, data in found.frames])
        return strip(frames, places=in_words(found.placed)), tuple(step for step, _ in frames)

    return taken
