"""Frames as files: PNG with the standard library alone, GIF and MP4 by the packages that do them."""

from __future__ import annotations

import importlib
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from promptpo.errors import MissingExtraError, UsageError

Frame = NDArray[np.uint8]
"""Height by width by three colours."""

_values = np.arange(256)
ROUNDED = (np.minimum((_values + 4) >> 3, 31) * 255 // 31).astype(np.uint8)
"""Each value of a colour, rounded to five bits."""


def png(frame: Frame) -> bytes:
    """One picture as a PNG file."""
    height, width, _ = frame.shape
    # Differences between lines compress far better than the lines themselves ("up" filter, type 2).
    above = np.zeros_like(frame)
    above[1:] = frame[:-1]
    lines = (frame - above).reshape(height, width * 3)
    raw = np.concatenate([np.full((height, 1), 2, np.uint8), lines], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(raw, 6))
        + chunk(b"IEND", b"")
    )


def smaller(frame: Frame, width: int) -> Frame:
    """The picture at no more than `width` pixels, with colours rounded so that it compresses well."""
    factor = -(-frame.shape[1] // width)
    if factor > 1:
        height, columns = frame.shape[0] // factor, frame.shape[1] // factor
        # Adding strided views is ten times as fast as a mean over two axes of small blocks.
        total = np.zeros((height, columns, frame.shape[2]), np.uint32)
        for row in range(factor):
            for column in range(factor):
                total += frame[row : height * factor : factor, column : columns * factor : factor]
        frame = (total // factor**2).astype(np.uint8)
    rounded: Frame = ROUNDED[frame]
    return rounded


def write_video(frames: Sequence[Frame], fps: float, path: Path) -> None:
    """Write frames as an animation; the file's suffix says which kind.

    Raises:
        UsageError: A suffix that is neither .gif nor .mp4.
        MissingExtraError: The package that writes this kind is not installed.
    """
    writers = {".gif": _write_gif, ".mp4": _write_mp4}
    if path.suffix.lower() not in writers:
        raise UsageError(f"a video is written as .gif or .mp4, not as {path.name}.")
    writers[path.suffix.lower()](frames, fps, path)


def _write_gif(frames: Sequence[Frame], fps: float, path: Path) -> None:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError('a GIF needs Pillow: pip install "promptpo[video]"') from error
    # GIF counts hundredths of a second, and viewers slow down below two of them.
    stride = max(1, round(fps / 50))
    pictures = [Image.fromarray(frame).quantize(128) for frame in frames[::stride]]
    duration = max(20, round(1000 * stride / fps))
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=duration, loop=0, optimize=True
    )


def _write_mp4(frames: Sequence[Frame], fps: float, path: Path) -> None:
    try:
        import imageio.v2 as imageio

        importlib.import_module("imageio_ffmpeg")  # imageio finds it by itself; say early that it is missing
    except ImportError as error:
        raise MissingExtraError('an MP4 needs imageio-ffmpeg: pip install "promptpo[video]"') from error
    even: list[Any] = [
        frame[: frame.shape[0] // 2 * 2, : frame.shape[1] // 2 * 2] for frame in frames
    ]  # as the codec wants
    options: dict[str, Any] = {"fps": fps, "codec": "libx264", "macro_block_size": 1}
    imageio.mimsave(path, even, **options)
