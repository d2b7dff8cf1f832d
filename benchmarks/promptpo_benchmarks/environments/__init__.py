"""Environments of our own, registered with Gymnasium under the namespace ``promptpo``.

Importing this package registers them, and promptpo does so when one of their ids is asked for (an entry point
in pyproject.toml names this package); plain Gymnasium needs ``promptpo_benchmarks.environments:promptpo/NoiseWorld-0-v0``.
"""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

NAMESPACE = "promptpo"


def register_environments() -> None:
    """Register every environment; doing it twice is harmless."""
    if f"{NAMESPACE}/NoiseWorld-0-v0" in registry:
        return
    for number in range(7):
        register(
            f"{NAMESPACE}/NoiseWorld-{number}-v0",
            entry_point="promptpo_benchmarks.environments.noise_world:NoiseWorldEnv",
            kwargs={"board": number},
            max_episode_steps=25 if number == 0 else 100,
        )
    register(
        f"{NAMESPACE}/Glucose-v0",
        entry_point="promptpo_benchmarks.environments.glucose:GlucoseEnv",
        max_episode_steps=288,
    )
    register(
        f"{NAMESPACE}/Epidemic-v0",
        entry_point="promptpo_benchmarks.environments.epidemic:EpidemicEnv",
        max_episode_steps=180,
    )
    register(
        f"{NAMESPACE}/TrafficRing-v0",
        entry_point="promptpo_benchmarks.environments.traffic:TrafficRingEnv",
        max_episode_steps=600,
    )
    register(
        f"{NAMESPACE}/TrafficMerge-v0",
        entry_point="promptpo_benchmarks.environments.traffic:TrafficMergeEnv",
        max_episode_steps=300,
    )


register_environments()
