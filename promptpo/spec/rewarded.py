"""Adapt a spec to a reward program that replaces the environment's reward."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.envs.task import RewardProgram
    from promptpo.spec.parts import Parts

ENV_REWARD = "In the class Reward below this is `env_reward`."


def without_own_reward(parts: Parts, reward: RewardProgram | None) -> Parts:
    """Add the user's goal to the parts, and drop the environment's own reward unless the program builds on it."""
    if reward is None:
        return parts
    goal = " ".join(reward.goal.split())
    return replace(
        parts,
        description="\n\n".join(
            filter(None, [goal and f"The goal, in the user's words: {goal}", parts.description])
        ),
        reward_seen=f"{ENV_REWARD} {parts.reward_seen}" if reward.reads_environment else "",
        success="Reward.success(), asked after the last step" if reward.says_success else "",
    )


def reward_block(reward: RewardProgram) -> str:
    """Return the block at the end of a spec that shows the reward program."""
    goal = [f"# The goal, in the user's words: {line}" for line in [" ".join(reward.goal.split())] if line]
    lines = [
        *goal,
        "# The reward of a step is what this program returns, not the environment's own reward. A new object for",
        "# every episode; step is called after each step, with the environment's own reward and the numbers of its info.",
    ]
    return "\n".join([*lines, reward.source.strip()])
