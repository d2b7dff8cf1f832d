"""Describe image observations in a spec: their layout, and the main features of real frames."""

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

    from promptpo.envs.foreign import AnyEnv
    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Field, Parts

MAX_COLOURS, MAX_PIECES = 10, 3
"""Colours listed, by falling area, and connected pieces listed of each."""

ENLARGED_PIXELS = 420
"""Length to which the longer side of a small picture is enlarged, in pixels."""


def with_pictures(parts: Parts, env: AnyEnv, observed: Observed) -> Parts:
    """Describe images in the observation; return the parts unchanged if there are none."""
    found = pictures_in(env.observation_space)
    if not found:
        return parts
    by_path = {picture.expression: picture for picture in found}
    fields = [
        _explain(item, by_path[item.path]) if item.path in by_path else item for item in parts.observation
    ]
    lines = [line for picture in found for line in _lines(picture, picture.latest(observed.observations[0]))]
    return replace(parts, observation=fields, blocks={**parts.blocks, "FIRST_FRAME": "\n".join(lines)})


def first_frames(env: AnyEnv, observed: Observed) -> tuple[tuple[str, bytes], ...]:
    """Return captions and PNG files of the first observation and a later one, enlarged.

    Empty if observations are no images.
    """
    found = pictures_in(env.observation_space)
    if not found:
        return ()
    course = [step for step in observed.steps if step.seed == observed.steps[0].seed]
    shown = {
        f"`{found[0].expression}` at the start of an episode": course[0].observation,
        f"The same after {len(course)} random actions": course[-1].next_observation,
    }
    scale = max(1, round(ENLARGED_PIXELS / max(found[0].latest(course[0].observation).shape[:2])))
    return tuple(
        (f"{name}, {scale} by {scale} pixels for each of its own:", enlarge(found[0].latest(seen), scale))
        for name, seen in shown.items()
    )


def enlarge(frame: NDArray[np.uint8], scale: int) -> bytes:
    """Encode a frame as PNG, with `scale` by `scale` pixels for each of its own."""
    from PIL import Image

    picture, file = Image.fromarray(frame), io.BytesIO()
    picture.resize((picture.width * scale, picture.height * scale), Image.Resampling.NEAREST).save(
        file, "PNG"
    )
    return file.getvalue()


def _explain(item: Field, picture: Picture) -> Field:
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
    """Describe the size of a first frame and its largest colour areas, one line each."""
    height, width = first.shape[:2]
    kind = "(red, green, blue)" if picture.channels in COLOUR else "grey values"
    which = f" ({picture.expression})" if picture.path else ""
    yield (
        f"A real first frame{which}, {height} rows by {width} columns, by {kind}; places are [rows, columns], "
        "first to last"
    )
    colours, counts = np.unique(first.reshape(-1, first.shape[2]), axis=0, return_counts=True)
    for at in np.argsort(-counts, kind="stable")[:MAX_COLOURS]:
        named = tuple(map(int, colours[at])) if picture.channels in COLOUR else int(colours[at][0])
        places = _boxes((first == colours[at]).all(axis=2))
        yield f"{named}: {counts[at] / counts.sum():.1%} of the pixels, {places}"
    if len(colours) > MAX_COLOURS:
        yield f"{len(colours) - MAX_COLOURS} more colours"


def _boxes(mask: NDArray[np.bool_]) -> str:
    """Describe the bounding boxes of the largest connected pieces of a mask."""
    pieces: list[dict[str, Any]] = looking.components(mask)  # type: ignore[no-untyped-call] # the guest's file
    boxes = [
        f"[{piece['top']}-{piece['bottom']}, {piece['left']}-{piece['right']}]"
        for piece in pieces[:MAX_PIECES]
    ]
    return ", ".join(boxes) + (
        f" and {len(pieces) - MAX_PIECES} more pieces" if len(pieces) > MAX_PIECES else ""
    )
