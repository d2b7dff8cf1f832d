"""Film strips of the episodes that a model compares, if it sees."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TypeAlias

from promptpo.errors import RenderingError
from promptpo.llm.base import Still
from promptpo_sandbox import Episode

Camera: TypeAlias = Callable[[Episode], tuple[bytes, tuple[int, ...]]]
"""Makes a strip of a recorded episode, as a PNG file, and tells its steps; raises `RenderingError`."""

logger = logging.getLogger(__name__)


async def strips_of(camera: Camera | None, episodes: Mapping[str, Episode]) -> tuple[Still, ...]:
    """A strip of each recorded episode under its name; of those that can be rendered, none without a camera.

    Args:
        camera: Makes them.
        episodes: By what is said above each.
    """
    found: list[Still] = []
    if camera is None:
        return ()
    for name, episode in episodes.items():
        try:
            png, steps = await asyncio.to_thread(camera, episode)
        except RenderingError as error:
            logger.warning("no film strips are shown: %s", error)
            break
        found.append(Still(f"{name}, after steps {', '.join(map(str, steps))}:", png))
    return tuple(found)
