"""What all steps that were played say of rewards and of endings, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from promptpo.spec.render import number

if TYPE_CHECKING:
    from promptpo.spec.observe import Observed, Step
    from promptpo.spec.parts import Field

MAX_VALUES = 6
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
    """What one step gave over all steps that were played, and where that was extreme."""
    rewards = [*_rewards(observed.steps), *_rewards(observed.more)]
    texts = Counter(number(one.value) for one in rewards)
    head = f"In {observed.sampling} one step gave"
    if len(texts) == 1:
        return f"{head} {next(iter(texts))} each time."
    if len(texts) <= MAX_VALUES:
        each = (
            f"{text} ({n / len(rewards):.0%}{_where([one for one in rewards if number(one.value) == text])})"
            for text, n in texts.most_common()
        )
        return f"{head} {', '.join(each)}."
    least, most = min(rewards), max(rewards)
    mean = sum(one.value for one in rewards) / len(rewards)
    ends = (f"the {name} {_place(one)}" for name, one in (("least", least), ("most", most)))
    return f"{head} {number(least.value)} .. {number(most.value)}, {number(mean)} in the mean; {', '.join(ends)}."


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
    if all(one.ends for one in rewards):
        return ", always at the end of an episode"
    return ", always in the first step" if all(one.number == 1 for one in rewards) else ""


def _place(one: _StepReward) -> str:
    return "at the end of an episode" if one.ends else f"in step {one.number}"


def ends_seen(observed: Observed) -> str:
    """How the episodes ended that were played."""
    told = []
    for name in ("terminated", "truncated"):
        steps = sorted(one.steps for one in observed.endings if getattr(one, name))
        if steps:
            span = f"{steps[0]:,}" if steps[0] == steps[-1] else f"{steps[0]:,} to {steps[-1]:,}"
            told.append(f"{len(steps)} {name} after {span} steps")
    longest = max((one.steps for one in observed.endings), default=0)
    ended = "; ".join(told) or f"none ended within {longest:,} steps"
    return f"{len(observed.endings)} episodes of random actions: {ended}"


def left_bounds(fields: Sequence[Field]) -> str:
    """A sentence for a person on numbers that leave their declared bounds; empty where none does."""
    left = [
        f"{item.name} (declared {_spans(item.spans)}, seen {_spans(item.seen)})"
        for item in fields
        if item.is_left
    ]
    if not left:
        return ""
    return f"observations leave the bounds that the observation space declares: {', '.join(left)}"


def _spans(spans: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{number(low)} .. {number(high)}" for low, high in spans)
