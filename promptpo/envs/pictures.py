"""Which parts of an observation are pictures, and how they are laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import at, leaves, path_expression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from promptpo.envs.spaces import AnySpace

SMALLEST = 24
"""Rows and columns that a picture has at least; smaller arrays of bytes are grids of codes."""

MOST_FRAMES = 8
"""Pictures on top of each other in one observation."""

GREY, COLOUR = (1,), (3, 4)
WHITE = 255


@dataclass(frozen=True, slots=True)
class Picture:
    """One part of an observation that is a picture, or several on top of each other, the latest last.

    Attributes:
        path: The keys and indices that lead to it.
        frames: How many pictures there are; 0 where there is no such axis.
        channels: 3 for red, green, blue (4: and opacity), 1 for grey; 0 where there is no such axis.
    """

    path: tuple[str | int, ...]
    frames: int
    channels: int

    @property
    def expression(self) -> str:
        """The Python that reads it."""
        return path_expression("obs", self.path)

    def latest(self, observation: Any) -> NDArray[np.uint8]:
        """The latest picture, (height, width, 3); grey ones in three equal channels."""
        array = np.asarray(at(observation, self.path))
        array = array[-1] if self.frames else array
        array = array if self.channels else array[:, :, None]
        array = array[:, :, :3] if self.channels in COLOUR else np.repeat(array[:, :, :1], 3, axis=2)
        return np.ascontiguousarray(array, dtype=np.uint8)


def pictures_in(space: AnySpace) -> list[Picture]:
    """The parts of a space that are pictures: bytes from 0 to 255 in at least 24 rows and columns."""
    found = (picture_of(leaf, path) for path, leaf in leaves(space))
    return [picture for picture in found if picture is not None]


def picture_of(space: AnySpace, path: tuple[str | int, ...]) -> Picture | None:
    """How a space that holds pictures is laid out; None for any other."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or space.high.max(initial=0) != WHITE:
        return None
    shape = space.shape
    channels = shape[-1] if len(shape) > 2 and shape[-1] in (*GREY, *COLOUR) else 0  # noqa: PLR2004 - rows, columns
    inner = shape[:-1] if channels else shape
    frames = inner[0] if len(inner) > 2 and inner[0] <= MOST_FRAMES else 0  # noqa: PLR2004 - rows, columns
    inner = inner[1:] if frames else inner
    if len(inner) != 2 or min(inner) < SMALLEST:  # noqa: PLR2004 - rows, columns
        return None
    return Picture(path, frames, channels)
