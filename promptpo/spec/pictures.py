"""Text of a spec about image observations: their layout, and what stands out in real ones."""

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

MOST_COLOURS, MOST_PIECES = 10, 3
"""Colours that are told, those of the largest areas first, and the pieces of each."""

ENLARGED = 420
"""Pixels to which the longer side of a small picture is enlarged."""


def with_pictures(parts: Parts, env: AnyEnv, observed: Observed) -> Parts:
    """The parts with what there is to know about pictures in the observation; the same where there are none."""
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
    """The first observation, and one some steps later, enlarged: captions and PNG files.

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
    scale = max(1, round(ENLARGED / max(found[0].latest(course[0].observation).shape[:2])))
    return tuple(
        (f"{name}, {scale} by {scale} pixels for each of its own:", enlarge(found[0].latest(seen), scale))
        for name, seen in shown.items()
    )


def enlarge(frame: NDArray[np.uint8], scale: int) -> bytes:
    """A picture as a PNG file, `scale` by `scale` pixels for each of its own."""
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
    """Describe what stands out in a first frame, one line each."""
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
    told = [
        f"[{piece['top']}-{piece['bottom']}, {piece['left']}-{piece['right']}]"
        for piece in pieces[:MOST_PIECES]
    ]
    return ", ".join(told) + (
        f" and {len(pieces) - MOST_PIECES} more pieces" if len(pieces) > MOST_PIECES else ""
    )
