"""Find the images in an observation space, and their layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import at, leaves, path_expression

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from promptpo.envs.spaces import AnySpace

MIN_SIDE = 24
"""Minimum number of rows and columns of an image; smaller uint8 arrays are grids of codes."""

MAX_FRAMES = 8
"""Maximum number of stacked frames in one observation."""

GREY, COLOUR = (1,), (3, 4)
WHITE = 255


@dataclass(frozen=True, slots=True)
class Picture:
    """The layout of an image, or of stacked frames with the latest last, in an observation.

    Attributes:
        path: The keys and indices that lead to it.
        frames: Number of frames; 0 if there is no such axis.
        channels: 3 for RGB, 4 for RGBA, 1 for grey; 0 if there is no such axis.
    """

    path: tuple[str | int, ...]
    frames: int
    channels: int

    @property
    def expression(self) -> str:
        """The Python expression that reads it."""
        return path_expression("obs", self.path)

    def latest(self, observation: Any) -> NDArray[np.uint8]:
        """Return the latest frame, of shape (height, width, 3); grey ones get three equal channels."""
        array = np.asarray(at(observation, self.path))
        array = array[-1] if self.frames else array
        array = array if self.channels else array[:, :, None]
        array = array[:, :, :3] if self.channels in COLOUR else np.repeat(array[:, :, :1], 3, axis=2)
        return np.ascontiguousarray(array, dtype=np.uint8)


def pictures_in(space: AnySpace) -> list[Picture]:
    """Return the images in a space: uint8 arrays from 0 to 255 with at least 24 rows and columns."""
    found = (picture_of(leaf, path) for path, leaf in leaves(space))
    return [picture for picture in found if picture is not None]


def picture_of(space: AnySpace, path: tuple[str | int, ...]) -> Picture | None:
    """Return the layout of a space that holds images; None for any other space."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8 or space.high.max(initial=0) != WHITE:
        return None
    shape = space.shape
    channels = shape[-1] if len(shape) > 2 and shape[-1] in (*GREY, *COLOUR) else 0  # noqa: PLR2004 - rows, columns
    inner = shape[:-1] if channels else shape
    frames = inner[0] if len(inner) > 2 and inner[0] <= MAX_FRAMES else 0  # noqa: PLR2004 - rows, columns
    inner = inner[1:] if frames else inner
    if len(inner) != 2 or min(inner) < MIN_SIDE:  # noqa: PLR2004 - rows, columns
        return None
    return Picture(path, frames, channels)
