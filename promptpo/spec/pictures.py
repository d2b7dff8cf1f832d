"""What a spec says of observations that are pictures: how they are laid out, and what stands out in real ones."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.pictures import COLOUR, Picture, pictures_in
from promptpo_sandbox.guest import looking

if TYPE_CHECKING:
    import gymnasium
    from numpy.typing import NDArray

    from promptpo.spec.observe import Observed
    from promptpo.spec.parts import Field, Parts

components: Callable[..., list[dict[str, Any]]] = looking.components

BLOCK = "FIRST_FRAME"

MOST_COLOURS = 10
"""Colours that are told, those of the largest areas first."""

FEW_COLOURS = 7
"""The same of pictures whose colours are shaded."""

MOSTLY_OTHER = 0.1
"""A later frame is told, too, where more than this share of its pixels is other than in the first."""

EXACT = 40
"""Pictures of more colours than this are told with colours that are alike taken together."""

BUCKET = 32
"""Colours are alike where each channel is in the same of the ranges of this width."""

MOST_LATER = 6
"""Frames after one in which it is looked for whether something moved."""

MOST_SMALL, DISTINCT = 5, 90
"""Colours of small areas that are told, and how far, summed over channels, they are from every colour of a larger area."""

MOST_PIECES, LEAST_PIXELS = 3, 2
"""Pieces of one colour that are told, and their least size."""

WIDE = 0.3
"""A colour of a larger share of the picture is told by where it is and not piece by piece."""

MOST_CHANGES, FEW_PIXELS = 4, 4
"""Regions in which something changed that are told, and the least changed pixels of each."""


ENLARGED, MARGIN, APART = 420, 24, 40
"""Pixels to which the longer side of a small picture is enlarged, of the edge with numbers, and between two numbers."""


@dataclass(frozen=True, slots=True)
class _Patch:
    """The pixels of one colour."""

    colour: tuple[int, ...]
    mask: NDArray[np.bool_]

    @property
    def area(self) -> int:
        return int(self.mask.sum())


def with_pictures(parts: Parts, env: gymnasium.Env[Any, Any], observed: Observed) -> Parts:
    """The parts with what there is to know about pictures in the observation; the same where there are none."""
    found = pictures_in(env.observation_space)
    if not found:
        return parts
    by_path = {picture.expression: picture for picture in found}
    fields = [
        _explained(item, by_path[item.path]) if item.path in by_path else item for item in parts.observation
    ]
    seeds = dict.fromkeys(step.seed for step in observed.steps)
    blocks = dict(parts.blocks)
    for n, picture in enumerate(found):
        firsts = [picture.latest(obs) for obs in observed.observations[: len(seeds)]]
        first_seed = observed.steps[0].seed
        course = [picture.latest(step.next_observation) for step in observed.steps if step.seed == first_seed]
        inside = [picture.latest(step.next_observation) for step in observed.inside]
        name = f"{BLOCK}_{n + 1}" if len(found) > 1 else BLOCK
        blocks[name] = "\n".join(_lines(picture, firsts, course, inside, observed.inside_at))
    return replace(parts, observation=fields, blocks=blocks)


def first_frames(env: gymnasium.Env[Any, Any], observed: Observed) -> tuple[tuple[str, bytes], ...]:
    """The first observation, and one some steps later, as pictures with rulers: captions and PNG files.

    Empty where observations are no pictures.
    """
    found = pictures_in(env.observation_space)
    if not found:
        return ()
    first = observed.steps[0]
    course = [step for step in observed.steps if step.seed == first.seed]
    after, later = (
        (observed.inside_at + 1, observed.inside[0]) if observed.inside else (len(course), course[-1])
    )
    shown = [
        (f"`{found[0].expression}` at the start of an episode", first.observation),
        (f"The same after {after} random actions", later.next_observation),
    ]
    return tuple(
        (
            f"{caption}, enlarged, with its rows and columns numbered:",
            with_rulers(found[0].latest(observation)),
        )
        for caption, observation in shown
    )


def with_rulers(frame: NDArray[np.uint8]) -> bytes:
    """A picture as a PNG file, enlarged where it is small, with the numbers of rows and columns at its edges."""
    from PIL import Image, ImageDraw

    height, width = frame.shape[:2]
    scale = max(1, round(ENLARGED / max(height, width)))
    picture = Image.fromarray(frame).resize((width * scale, height * scale), Image.Resampling.NEAREST)
    sheet = Image.new("RGB", (picture.width + MARGIN, picture.height + MARGIN), (255, 255, 255))
    sheet.paste(picture, (MARGIN, MARGIN))
    draw = ImageDraw.Draw(sheet)
    apart = next(n for n in (8, 10, 16, 20, 25, 50, 100, 200, 500, 10_000) if n * scale >= APART)
    for at in range(0, max(height, width), apart):
        place = MARGIN + at * scale
        if at < width:
            draw.line((place, MARGIN - 4, place, MARGIN), fill=(0, 0, 0))
            draw.text((place, 2), str(at), fill=(0, 0, 0))
        if at < height:
            draw.line((MARGIN - 4, place, MARGIN, place), fill=(0, 0, 0))
            draw.text((1, place - 1), str(at), fill=(0, 0, 0))
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


def _lines(
    picture: Picture, firsts: Sequence[Any], course: Sequence[Any], inside: Sequence[Any], inside_at: int
) -> Iterator[str]:
    """What stands out in first frames and well inside an episode, one line each."""
    first = firsts[0]
    height, width = first.shape[:2]
    kind = "(red, green, blue)" if picture.channels in COLOUR else "grey values"
    which = f" ({picture.expression})" if picture.path else ""
    yield (
        f"A real first frame{which}, {height} rows by {width} columns, by {kind}; places are [rows, columns], "
        "first to last"
    )
    yield from _colours(first, picture, course[:MOST_LATER])
    if len(firsts) > 1:
        different = np.any([(other != first).any(axis=2) for other in firsts[1:]], axis=0)
        share = float(different.mean())
        text = "are all the same" if not share else f"differ in {share:.1%} of their pixels"
        yield f"the first frames of {len(firsts)} starts {text}{f': {_box(different)}' if share else ''}"
    yield from _changes([first, *course])
    after, later = (inside_at + 1, inside) if inside else (len(course), course[-1:])
    if later and float((later[0] != first).any(axis=2).mean()) > MOSTLY_OTHER:
        yield f"the frame after {after} random actions, well inside an episode"
        yield from _colours(later[0], picture, later[1:])


def _colours(frame: NDArray[np.uint8], picture: Picture, later: Sequence[Any] = ()) -> Iterator[str]:
    """What has which colour, one line for each; of small areas whether they are elsewhere in later frames."""
    exact, patches = _patches(frame)
    most = MOST_COLOURS if exact else FEW_COLOURS
    about = "" if exact else "about "
    for patch in patches[:most]:
        yield f"{about}{_named(patch.colour, picture)}: {_where(patch)}"
    small = _distinct(patches[:most], patches[most:])
    for patch in small:
        how = _stays(patch, frame, later, exact=exact)
        yield f"small but distinct, {about}{_named(patch.colour, picture)}: {_where(patch)}{how}"
    others = [patch for patch in patches[most:] if all(patch is not one for one in small)]
    if others:
        rest = sum(patch.area for patch in others) / frame[:, :, 0].size
        yield f"{len(others)} more colours on {rest:.1%} of the pixels"


def _distinct(large: Sequence[_Patch], small: Sequence[_Patch]) -> list[_Patch]:
    """Of small patches those that can be told by their colour, as what acts often can; the most distinct first."""

    def distance(patch: _Patch, others: Sequence[_Patch]) -> int:
        return min(
            (sum(abs(a - b) for a, b in zip(patch.colour, one.colour, strict=True)) for one in others),
            default=0,
        )

    chosen: list[_Patch] = []
    for patch in sorted(small, key=lambda one: -distance(one, large)):
        if len(chosen) < MOST_SMALL and distance(patch, [*large, *chosen]) > DISTINCT:
            chosen.extend([patch] if components(patch.mask, LEAST_PIXELS) else [])
    return chosen


def _stays(patch: _Patch, frame: NDArray[np.uint8], later: Sequence[Any], *, exact: bool) -> str:
    """Whether a patch is where it was in the frames that follow."""
    if not later:
        return ""
    code = _codes(frame if exact else frame // BUCKET)[patch.mask][0]
    there = [_codes(each if exact else each // BUCKET) == code for each in later]
    if not all(mask.any() for mask in there):
        return ", gone in a later frame"
    stays = all(np.array_equal(mask, patch.mask) for mask in there)
    return ", at the same place in later frames" if stays else ", moves"


def _patches(frame: NDArray[np.uint8]) -> tuple[bool, list[_Patch]]:
    """The pixels of each colour, the largest area first; whether the colours are exact."""
    codes = _codes(frame)
    exact = len(np.unique(codes)) <= EXACT
    if not exact:
        codes = _codes(frame // BUCKET)
    patches = []
    for code in np.unique(codes):
        mask = codes == code
        middle = np.median(frame[mask], axis=0)
        patches.append(_Patch(tuple(int(value) for value in middle), mask))
    return exact, sorted(patches, key=lambda patch: -patch.area)


def _codes(frame: NDArray[np.uint8]) -> NDArray[np.int64]:
    wide = frame.astype(np.int64)
    return (wide[:, :, 0] << 16) | (wide[:, :, 1] << 8) | wide[:, :, 2]


def _named(colour: tuple[int, ...], picture: Picture) -> str:
    return str(colour) if picture.channels in COLOUR else str(colour[0])


def _where(patch: _Patch) -> str:
    share = patch.area / patch.mask.size
    if share > WIDE:
        return f"{share:.0%} of the pixels, {_box(patch.mask)}"
    pieces = components(patch.mask, LEAST_PIXELS)
    if not pieces:
        return f"{patch.area} single pixels within {_box(patch.mask)}"
    told = [
        f"{piece['area']} pixels at [{_span(piece['top'], piece['bottom'])}, {_span(piece['left'], piece['right'])}]"
        for piece in pieces[:MOST_PIECES]
    ]
    more = f" and {len(pieces) - MOST_PIECES} more pieces" if len(pieces) > MOST_PIECES else ""
    return "; ".join(told) + more


def _box(mask: NDArray[np.bool_]) -> str:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return f"[{_span(rows[0], rows[-1])}, {_span(columns[0], columns[-1])}]"


def _span(first: Any, last: Any) -> str:
    return f"{int(first)}" if first == last else f"{int(first)}-{int(last)}"


def _changes(frames: Sequence[Any]) -> Iterator[str]:
    """Where pictures changed under random actions."""
    if len(frames) < 2:  # noqa: PLR2004 - nothing to compare
        return
    changed = np.any([(a != b).any(axis=2) for a, b in itertools.pairwise(frames)], axis=0)
    steps = len(frames) - 1
    regions = components(changed, FEW_PIXELS)
    if not regions:
        yield f"in {steps} steps of random actions nothing changed"
        return
    told = [
        f"[{_span(region['top'], region['bottom'])}, {_span(region['left'], region['right'])}]"
        for region in regions[:MOST_CHANGES]
    ]
    more = f" and {len(regions) - MOST_CHANGES} more" if len(regions) > MOST_CHANGES else ""
    yield f"in {steps} steps of random actions pixels changed within {', '.join(told)}{more}"
