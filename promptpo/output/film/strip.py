"""Film strips: several pictures of an episode in one, each below its step number."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageOps

from promptpo.output.film.rendering import Frame, film

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo_sandbox import Episode

PICTURES, COLUMNS = 8, 4
"""Maximum number of pictures in a strip, and pictures side by side."""

FRAME_PIXELS = 192
"""Maximum width of one picture, in pixels."""

HEADING, GAP = 14, 4
"""Pixels above a picture, for its step number, and around it."""

SECONDS = 10.0
"""Time for rendering one episode, which may be exceeded slightly."""

INK, PAPER = (0, 0, 0), (255, 255, 255)


def strip(frames: Sequence[Frame]) -> bytes:
    """Return one PNG file of frames of equal size, at least one; from left to right, then from top to bottom."""
    tiles = []
    for step, data, place in frames:
        picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
        tiles.append(ImageOps.expand(picture, (GAP, HEADING, 0, GAP), PAPER))
        ImageDraw.Draw(tiles[-1]).text((GAP, 1), f"step {step}{place and f', {place}'}", fill=INK)
    (width, height), columns = tiles[0].size, min(COLUMNS, len(tiles))
    sheet = Image.new("RGB", (columns * width + GAP, math.ceil(len(tiles) / columns) * height), PAPER)
    for n, tile in enumerate(tiles):
        sheet.paste(tile, (n % columns * width, n // columns * height))
    file = io.BytesIO()
    sheet.save(file, "PNG", optimize=True)
    return file.getvalue()


def film_strip(task: Task, episode: Episode) -> tuple[bytes, tuple[int, ...]]:
    """Return a strip of a recorded episode, rendered as `film` does, and the steps it shows.

    Raises:
        RenderingError: The environment cannot be rendered here.
    """
    frames = film(task, episode, frames=PICTURES - 1, width=FRAME_PIXELS, seconds=SECONDS).frames
    return strip(frames), tuple(step for step, *_ in frames)
