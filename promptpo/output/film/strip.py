"""Film strips: some pictures of an episode in one, each under the number of its step."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageOps

from promptpo.output.film.rendering import film

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

Shot = tuple[int, bytes, str]
"""Step, PNG file, and where the body is that the pictures follow."""


def strip(frames: Sequence[Shot]) -> bytes:
    """One PNG file of several pictures of the same size, at least one; from left to right, then from top to bottom."""
    tiles = []
    for step, data, place in frames:
        picture = Image.open(io.BytesIO(data)).convert("RGB")
        tiles.append(ImageOps.expand(picture, (GAP, HEADING, 0, GAP), PAPER))
        ImageDraw.Draw(tiles[-1]).text((GAP, 1), f"step {step}{place and f', {place}'}", fill=INK)
    (width, height), columns = tiles[0].size, min(COLUMNS, len(tiles))
    sheet = Image.new("RGB", (columns * width + GAP, math.ceil(len(tiles) / columns) * height), PAPER)
    for n, tile in enumerate(tiles):
        sheet.paste(tile, (n % columns * width, n // columns * height))
    file = io.BytesIO()
    sheet.save(file, "PNG", optimize=True)
    return file.getvalue()


def camera(task: Task) -> Callable[[Episode], tuple[bytes, tuple[int, ...]]]:
    """What makes a strip of a recorded episode of a task, rendered as `film` does; also the steps it shows.

    Calling it raises `RenderingError` where the environment cannot be rendered here.
    """

    def taken(episode: Episode) -> tuple[bytes, tuple[int, ...]]:
        found = film(task, episode, frames=PICTURES - 1, width=WIDTH, seconds=SECONDS)
        frames = [(step, base64.b64decode(data), place) for step, data, place in found.frames]
        return strip(frames), tuple(step for step, *_ in frames)

    return taken
