"""Film strips of episodes for a model that accepts images."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from promptpo.errors import RenderingError
from promptpo.llm.base import Image
from promptpo_sandbox import Episode

Camera: TypeAlias = Callable[[Episode], tuple[bytes, tuple[int, ...]]]
"""Renders a recorded episode as a strip in PNG; returns it with the steps shown, or raises `RenderingError`."""

logger = logging.getLogger(__name__)


async def strips_of(camera: Camera | None, episodes: Mapping[str, Episode]) -> tuple[Image, ...]:
    """Return captioned strips of recorded episodes; empty without a camera, and only those that can be rendered.

    Args:
        camera: Renders the strips; None if the model accepts no images.
        episodes: Episodes by caption.
    """
    found: list[Image] = []
    if camera is None:
        return ()
    for name, episode in episodes.items():
        try:
            png, steps = await asyncio.to_thread(camera, episode)
        except RenderingError as error:
            logger.warning("no film strips are shown: %s", error)
            break
        found.append(Image(f"{name}, after steps {', '.join(map(str, steps))}:", png))
    return tuple(found)
