"""Frames as files: PNG and GIF by Pillow, MP4 by imageio."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from promptpo.errors import MissingExtraError

Frame = NDArray[np.uint8]
"""Array of shape (height, width, 3)."""

COLOURS = 31
"""Highest level of each colour in a small picture; five bits, since fewer colours compress better."""


def png(frame: Frame) -> bytes:
    """Return a picture as a PNG file."""
    file = io.BytesIO()
    Image.fromarray(frame).save(file, "PNG")
    return file.getvalue()


def smaller(frame: Frame, width: int) -> Frame:
    """Return the picture at no more than `width` pixels, with colours rounded so that it compresses well."""
    picture = Image.fromarray(frame).reduce(-(-frame.shape[1] // width))
    rounded = [round(round(value * COLOURS / 255) * 255 / COLOURS) for value in range(256)]
    return np.asarray(picture.point(rounded * 3))


def write_video(frames: Sequence[Frame], fps: float, path: Path) -> None:
    """Write frames as a GIF if the file's suffix says so, else as an MP4.

    Raises:
        MissingExtraError: The package that writes an MP4 is not installed.
    """
    if path.suffix.lower() == ".gif":
        _write_gif(frames, fps, path)
        return
    try:
        import imageio.v2 as imageio

        importlib.import_module("imageio_ffmpeg")  # imageio finds it by itself; say early that it is missing
    except ImportError as error:
        raise MissingExtraError('an MP4 needs imageio-ffmpeg: pip install "promptpo[video]"') from error
    # the codec requires even numbers of pixels
    options: dict[str, Any] = {"fps": fps, "codec": "libx264", "macro_block_size": 2}
    imageio.mimsave(path, list(frames), **options)


def _write_gif(frames: Sequence[Frame], fps: float, path: Path) -> None:
    # GIF counts hundredths of a second, and viewers slow down below two of them.
    stride = max(1, round(fps / 50))
    pictures = [Image.fromarray(frame).quantize(128) for frame in frames[::stride]]
    duration = max(20, round(1000 * stride / fps))
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=duration, loop=0, optimize=True
    )
