"""A spec whose steps earn what a reward program says, instead of what the environment gives."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.spec.prose import sentences_of

if TYPE_CHECKING:
    from promptpo.envs.task import RewardProgram
    from promptpo.spec.parts import Parts

_PURPOSE = re.compile(
    r"\b(?:goals?|aims?|objective|tasks?|purpose|rewards?|rewarded|penal\w+|bonus|scores?|points for|(?:must|has to|needs? to)"
    r"|as (?:fast|far|long|quickly|high) as possible)\b",
    re.IGNORECASE,
)
"""What tells a sentence on what is to be done, or on what it earns."""

ENV_REWARD = "In the class Reward below this is `env_reward`."


def without_own_reward(parts: Parts, reward: RewardProgram | None) -> Parts:
    """The parts without the environment's own reward, unless the program builds on it, and without its purpose.

    The goal, where there is one, comes first; what the environment's author wanted is not what is asked for.
    """
    if reward is None:
        return parts
    parts = replace(
        parts, description="\n".join(filter(None, [_goal(reward), without_purpose(parts.description)]))
    )
    success = "Reward.success(), asked after the last step" if reward.says_success else ""
    if reward.reads_environment:
        text = "\n".join(filter(None, [ENV_REWARD, parts.reward_text]))
        return replace(parts, reward_text=text, success=success)
    return replace(parts, reward_text="", reward_seen="", success=success)


def _goal(reward: RewardProgram) -> str:
    goal = " ".join(reward.goal.split())
    return f"What is asked for, in the user's words: {goal}" if goal else ""


def without_purpose(text: str) -> str:
    """A description without the sentences on what is to be done, and on what earns a reward."""
    return " ".join(sentence for sentence in sentences_of(text) if not _PURPOSE.search(sentence))


def reward_block(reward: RewardProgram) -> str:
    """Describe the reward program, for the end of a spec."""
    goal = [f"# The goal, in the user's words: {line}" for line in [" ".join(reward.goal.split())] if line]
    lines = [
        *goal,
        "# What a step earns is what this program says, not what the environment gives by itself. A fresh object for",
        "# every episode; step is called after each step, with the environment's own reward and the numbers of its info.",
    ]
    return "\n".join([*lines, reward.source.strip()])
