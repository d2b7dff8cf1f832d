"""Environments that carry something over from the last episode, made to forget it."""

from __future__ import annotations

from typing import Any

import gymnasium


class FreshWorld(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Gives BipedalWalker a new physics world for every episode.

    Its Box2D world outlives the episode and remembers the length of the last time step, so that the
    first step after a reset differs from that of a new environment.
    """

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in a world without a past."""
        import Box2D

        walker: Any = self.env.unwrapped
        walker._destroy()  # noqa: SLF001
        walker.world = Box2D.b2World()
        return self.env.reset(seed=seed, options=options)
