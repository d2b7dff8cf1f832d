"""Repair environments whose state survives a reset."""

from __future__ import annotations

from typing import Any

import gymnasium


class FreshWorld(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Give BipedalWalker a new physics world for every episode.

    Its Box2D world survives a reset and remembers the length of the last time step, so that the
    first step of an episode differs from that of a new environment.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in a new world."""
        import Box2D

        walker: Any = self.env.unwrapped
        walker._destroy()  # noqa: SLF001
        walker.world = Box2D.b2World()
        return self.env.reset(seed=seed, options=options)
