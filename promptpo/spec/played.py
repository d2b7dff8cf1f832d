"""Describe observed rewards and endings in words."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from promptpo.spec.observe import Step
from promptpo.spec.render import short_number

if TYPE_CHECKING:
    from promptpo.spec.observe import Observed

END = "at the end of an episode"

MAX_REWARDS = 6
"""Number of distinct rewards up to which each is listed."""


def reward_seen(observed: Observed) -> str:
    """Describe the rewards of all observed steps, and where the extremes occurred."""
    steps = [*observed.steps, *observed.more]
    found = defaultdict[str, list[Step]](list)
    for step in steps:
        found[short_number(step.reward)].append(step)
    head = f"Step rewards over {observed.sampling}:"
    if len(found) == 1:
        return f"{head} always {next(iter(found))}."
    if len(found) <= MAX_REWARDS:
        often = sorted(found.items(), key=lambda pair: -len(pair[1]))
        ends = {text for text, those in often if {*map(_place, those)} == {END}}
        each = (
            f"{text} ({_share(len(those), len(steps))}{f', always {END}' if text in ends else ''})"
            for text, those in often
        )
        return f"{head} {', '.join(each)}."
    least, most = (pick(steps, key=lambda step: step.reward) for pick in (min, max))
    mean = sum(step.reward for step in steps) / len(steps)
    span = f"{short_number(least.reward)} .. {short_number(most.reward)}, mean {short_number(mean)}"
    return f"{head} {span}; lowest {_place(least)}, highest {_place(most)}."


def _share(part: int, whole: int) -> str:
    """Format a share as whole per cent, or as a count if that would read as none or all."""
    told = f"{part / whole:.0%}"
    return f"{part:,} of {whole:,} steps" if told in {"0%", "100%"} else told


def _place(step: Step) -> str:
    return END if step.terminated or step.truncated else f"in step {step.number}"


def ends_seen(observed: Observed) -> str:
    """Describe how many observed episodes ended in each way, and after how many steps."""
    ways = defaultdict[str, list[int]](list)
    for ending in observed.endings:
        flags = [name for name in ("terminated", "truncated") if getattr(ending, name)]
        ways[" and ".join(flags) or "unfinished"].append(ending.steps)
    each = []
    for way, steps in sorted(ways.items(), reverse=True):
        span = f"{min(steps):,}" if len({*steps}) == 1 else f"{min(steps):,} to {max(steps):,}"
        each.append(f"{len(steps)} {way} after {span}")
    return f"{len(observed.endings)} episodes of random actions: {', '.join(each)} steps"
