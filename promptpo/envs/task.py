"""What is to be solved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be solved.

    Attributes:
        env_id: The environment as Gymnasium writes it, ``module:EnvId`` included.
        env_kwargs: Keyword arguments for ``gymnasium.make``; JSON values.
        max_episode_steps: Horizon in steps; None means the environment's own.
    """

    env_id: str
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    max_episode_steps: int | None = None

    @property
    def name(self) -> str:
        """The id with its keyword arguments, as a person would write it."""
        if not self.env_kwargs:
            return self.env_id
        return f"{self.env_id} {json.dumps(dict(self.env_kwargs), sort_keys=True)}"
