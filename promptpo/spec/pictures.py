"""What a spec says of observations that are pictures: how they are laid out, and what stands out in real ones."""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
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

EXACT = 40
"""Pictures of more colours than this are told with colours that are alike taken together."""

BUCKET = 32
"""Colours are alike where each channel is in the same of the ranges of this width."""

MOST_PIECES, LEAST_PIXELS, FEW_PIXELS = 3, 2, 4
"""Pieces that are told, the least pixels of one of a colour, and of one that changes."""

WIDE = 0.3
"""A colour of a larger share of the picture is told by where it is and not piece by piece."""


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
        name = f"{BLOCK}_{n + 1}" if len(found) > 1 else BLOCK
        blocks[name] = "\n".join(_lines(picture, firsts, course))
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
    shown = [
        (f"`{found[0].expression}` at the start of an episode", first.observation),
        (f"The same after {len(course)} random actions", course[-1].next_observation),
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


def _lines(picture: Picture, firsts: Sequence[Any], course: Sequence[Any]) -> Iterator[str]:
    """What stands out in first frames, one line each, and where pictures change."""
    first = firsts[0]
    height, width = first.shape[:2]
    kind = "(red, green, blue)" if picture.channels in COLOUR else "grey values"
    which = f" ({picture.expression})" if picture.path else ""
    yield (
        f"A real first frame{which}, {height} rows by {width} columns, by {kind}; places are [rows, columns], "
        "first to last"
    )
    exact, patches = _patches(first)
    for patch in patches[:MOST_COLOURS]:
        yield f"{'' if exact else 'about '}{_named(patch.colour, picture)}: {_where(patch)}"
    if others := patches[MOST_COLOURS:]:
        rest = sum(patch.area for patch in others) / first[:, :, 0].size
        yield f"{len(others)} more colours on {rest:.1%} of the pixels"
    if len(firsts) > 1:
        yield f"the first frames of {len(firsts)} starts {_differing([(one, first) for one in firsts[1:]])}"
    yield f"in {len(course)} steps of random actions frames {_differing(itertools.pairwise([first, *course]))}"


def _differing(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Where the pictures of pairs differ."""
    changed = np.any([(a != b).any(axis=2) for a, b in pairs], axis=0)
    regions = components(changed, FEW_PIXELS) if changed.any() else []
    told = [
        f"[{_span(r['top'], r['bottom'])}, {_span(r['left'], r['right'])}]" for r in regions[:MOST_PIECES]
    ]
    more = f" and {len(regions) - MOST_PIECES} more" if len(regions) > MOST_PIECES else ""
    return f"differ within {', '.join(told)}{more}" if told else "are all the same"


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
