"""The six domains of ICPI as Gymnasium environments, ``promptpo/Chain-v0`` and so on."""

from __future__ import annotations

from collections.abc import Mapping

import gymnasium

from promptpo_baselines.icpi.domains.base import Domain, DomainEnv
from promptpo_baselines.icpi.domains.catch import MiniCatchEnv
from promptpo_baselines.icpi.domains.chain import ChainEnv, DistractorChainEnv
from promptpo_baselines.icpi.domains.invaders import MiniInvadersEnv
from promptpo_baselines.icpi.domains.maze import MazeEnv
from promptpo_baselines.icpi.domains.point_mass import PointMassEnv

ENVIRONMENTS: Mapping[str, type[DomainEnv]] = {
    "promptpo/Chain-v0": ChainEnv,
    "promptpo/DistractorChain-v0": DistractorChainEnv,
    "promptpo/Maze-v0": MazeEnv,
    "promptpo/MiniCatch-v0": MiniCatchEnv,
    "promptpo/MiniInvaders-v0": MiniInvadersEnv,
    "promptpo/PointMass-v0": PointMassEnv,
}

DOMAINS: Mapping[str, Domain] = {env_id: env.domain for env_id, env in ENVIRONMENTS.items()}


def register() -> None:
    """Make the domains known to Gymnasium; doing it twice is harmless."""
    for env_id, env in ENVIRONMENTS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point=f"{env.__module__}:{env.__name__}",
                max_episode_steps=env.domain.time_limit,
            )
