"""What a spec says of observations that are pictures: how they are laid out, and what stands out in real ones."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.pictures import COLOUR, Picture, pictures_in
from promptpo_sandbox.guest import looking

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from promptpo.envs.family import AnyEnv
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Field, Parts

BLOCK = "FIRST_FRAME"

MOST_COLOURS, MOST_PIECES = 10, 3
"""Colours that are told, those of the largest areas first, and the pieces of each."""

ENLARGED, MARGIN, APART = 420, 24, 40
"""Pixels to which the longer side of a small picture is enlarged, of the edge with numbers, and between two numbers."""


def with_pictures(parts: Parts, env: AnyEnv, observed: Observed) -> Parts:
    """The parts with what there is to know about pictures in the observation; the same where there are none."""
    found = pictures_in(env.observation_space)
    if not found:
        return parts
    by_path = {picture.expression: picture for picture in found}
    fields = [
        _explained(item, by_path[item.path]) if item.path in by_path else item for item in parts.observation
    ]
    blocks = {
        f"{BLOCK}_{n + 1}" if n else BLOCK: "\n".join(
            _lines(picture, picture.latest(observed.observations[0]))
        )
        for n, picture in enumerate(found)
    }
    return replace(parts, observation=fields, blocks=dict(parts.blocks) | blocks)


def first_frames(env: AnyEnv, observed: Observed) -> tuple[tuple[str, bytes], ...]:
    """The first observation, and one some steps later, as pictures with rulers: captions and PNG files.

    Empty where observations are no pictures.
    """
    found = pictures_in(env.observation_space)
    if not found:
        return ()
    course = [step for step in observed.steps if step.seed == observed.steps[0].seed]
    shown = {
        f"`{found[0].expression}` at the start of an episode": course[0].observation,
        f"The same after {len(course)} random actions": course[-1].next_observation,
    }
    return tuple(
        (f"{name}, enlarged, with its rows and columns numbered:", with_rulers(found[0].latest(observation)))
        for name, observation in shown.items()
    )


def with_rulers(frame: NDArray[np.uint8]) -> bytes:
    """A picture as a PNG file, enlarged where it is small, with the numbers of rows and columns at its edges."""
    from PIL import Image, ImageDraw

    height, width = frame.shape[:2]
    scale = max(1, round(ENLARGED / max(height, width)))
    picture = Image.fromarray(frame).resize((width * scale, height * scale), Image.Resampling.NEAREST)
    sheet = Image.new("RGB", (picture.width + MARGIN, picture.height + MARGIN), "white")
    sheet.paste(picture, (MARGIN, MARGIN))
    draw = ImageDraw.Draw(sheet)
    apart = next(n for n in (8, 10, 16, 20, 25, 50, 100, 200, 500, 10_000) if n * scale >= APART)
    for at in range(0, max(height, width), apart):
        place = MARGIN + at * scale
        for size, line, corner in (
            (width, (place, MARGIN - 4, place, MARGIN), (place, 2)),
            (height, (MARGIN - 4, place, MARGIN, place), (1, place - 1)),
        ):
            if at < size:
                draw.line(line, fill="black")
                draw.text(corner, str(at), fill="black")
    file = io.BytesIO()
    sheet.save(file, "PNG", optimize=True)
    return file.getvalue()


def _explained(item: Field, picture: Picture) -> Field:
    axes = ["frame"] if picture.frames else []
    axes += ["row", "column"] + (["channel"] if picture.channels else [])
    text = f"{item.name}[{', '.join(axes)}], row 0 at the top, column 0 at the left"
    if picture.frames:
        text += ", the latest frame last"
    if picture.channels in COLOUR:
        text += ", channels red, green, blue" + (", opacity" if picture.channels > len("rgb") else "")
    elif picture.channels:
        text += ", one channel, 0 black"
    return replace(item, meaning=f"{text}. {item.meaning}" if item.meaning else text)


def _lines(picture: Picture, first: Any) -> Iterator[str]:
    """What stands out in a first frame, one line each."""
    height, width = first.shape[:2]
    kind = "(red, green, blue)" if picture.channels in COLOUR else "grey values"
    which = f" ({picture.expression})" if picture.path else ""
    yield (
        f"A real first frame{which}, {height} rows by {width} columns, by {kind}; places are [rows, columns], "
        "first to last"
    )
    colours, counts = np.unique(first.reshape(-1, first.shape[2]), axis=0, return_counts=True)
    for at in np.argsort(-counts, kind="stable")[:MOST_COLOURS]:
        named = tuple(map(int, colours[at])) if picture.channels in COLOUR else int(colours[at][0])
        places = _boxes((first == colours[at]).all(axis=2))
        yield f"{named}: {counts[at] / counts.sum():.1%} of the pixels, {places}"
    if len(colours) > MOST_COLOURS:
        yield f"{len(colours) - MOST_COLOURS} more colours"


def _boxes(mask: NDArray[np.bool_]) -> str:
    """The places of the largest pieces of a mask."""
    pieces: list[dict[str, Any]] = looking.components(mask)  # type: ignore[no-untyped-call] # the guest's file
    told = [f"[{one['top']}-{one['bottom']}, {one['left']}-{one['right']}]" for one in pieces[:MOST_PIECES]]
    return ", ".join(told) + (
        f" and {len(pieces) - MOST_PIECES} more pieces" if len(pieces) > MOST_PIECES else ""
    )
