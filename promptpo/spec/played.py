"""Statistics of rewards and endings over all played steps, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from promptpo.spec.render import short_number

if TYPE_CHECKING:
    from promptpo.spec.observe import Observed, Step

MAX_REWARDS = 6
"""So many different rewards are told one by one."""


class _StepReward(NamedTuple):
    """What one step gave.

    Attributes:
        value: The reward.
        number: Of the step in its episode, from 1.
        ends: Whether the episode ended with it.
    """

    value: float
    number: int
    ends: bool


def reward_seen(observed: Observed) -> str:
    """Say what one step gave over all played steps, and where that was extreme."""
    rewards = [*_rewards(observed.steps), *_rewards(observed.more)]
    texts = Counter(short_number(reward.value) for reward in rewards)
    head = f"In {observed.sampling} one step gave"
    if len(texts) == 1:
        return f"{head} {next(iter(texts))} each time."
    if len(texts) <= MAX_REWARDS:
        each = (
            f"{text} ({n / len(rewards):.0%}{_where([reward for reward in rewards if short_number(reward.value) == text])})"
            for text, n in texts.most_common()
        )
        return f"{head} {', '.join(each)}."
    least, most = min(rewards), max(rewards)
    mean = sum(reward.value for reward in rewards) / len(rewards)
    ends = (f"the {name} {_place(reward)}" for name, reward in (("least", least), ("most", most)))
    return f"{head} {short_number(least.value)} .. {short_number(most.value)}, {short_number(mean)} in the mean; {', '.join(ends)}."


def _rewards(steps: Sequence[Step]) -> list[_StepReward]:
    found, before = list[_StepReward](), None
    for step in steps:
        first = before is None or before.seed != step.seed or before.terminated or before.truncated
        at = 1 if first else found[-1].number + 1
        found.append(_StepReward(step.reward, at, step.terminated or step.truncated))
        before = step
    return found


def _where(rewards: Sequence[_StepReward]) -> str:
    """Where in an episode a reward is given, if there is a rule."""
    if all(reward.ends for reward in rewards):
        return ", always at the end of an episode"
    return ", always in the first step" if all(reward.number == 1 for reward in rewards) else ""


def _place(reward: _StepReward) -> str:
    return "at the end of an episode" if reward.ends else f"in step {reward.number}"


def ends_seen(observed: Observed) -> str:
    """How the episodes ended that were played."""
    told = []
    for name in ("terminated", "truncated"):
        steps = sorted(ending.steps for ending in observed.endings if getattr(ending, name))
        if steps:
            span = f"{steps[0]:,}" if steps[0] == steps[-1] else f"{steps[0]:,} to {steps[-1]:,}"
            told.append(f"{len(steps)} {name} after {span} steps")
    longest = max((ending.steps for ending in observed.endings), default=0)
    ended = "; ".join(told) or f"none ended within {longest:,} steps"
    return f"{len(observed.endings)} episodes of random actions: {ended}"
