"""The run's status in words: what is left, whether numbers will be tuned, what reference policies return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo.prompts import scores
from promptpo.prompts.feedback import number
from promptpo.prompts.limits import QUICK_MILLISECONDS
from promptpo.prompts.shortening import count_of
from promptpo_sandbox import Limits

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import RunStatus
    from promptpo.core.returns import Evidence

SANDBOX_LIMITS = Limits()
"""Limits of the sandbox on a call of `act`, the construction of a policy, and an episode."""

REFERENCES = {
    "random": "random actions return",
    "zero": "the zero action returns",
    "teacher": "the trained agent returns",
}


def describe_status(status: RunStatus) -> str:
    """Describe the status of a run in one paragraph."""
    parts = [f"Round {status.round} of at most {status.rounds}."]
    left = []
    if status.steps is not None and status.steps_left is not None:
        left.append(f"{status.steps_left:,} of {status.steps:,} environment steps")
    if status.calls_left is not None:
        left.append(f"{status.calls_left} model calls")
    if left:
        parts.append(f"Left: {' and '.join(left)}.")
    if status.tunes:
        parts.append(_tuning(status))
    if status.starts > 1:
        parts.append(
            f"All programs play training episodes from the same initial states, 1 to {status.starts}."
        )
    if status.threshold is not None:
        parts.append(f"The task counts as solved at a mean return of {number(status.threshold)}.")
    return " ".join(parts)


def _tuning(status: RunStatus) -> str:
    """Describe what is planned for tuning."""
    if not status.number_of_episodes:
        return "This round's share of the steps is too small to tune PARAMS on rollouts, unless episodes turn out short: write the values you believe are best."
    too = " and of the best so far" if status.round > 1 else ""
    solved = ", unless one solves the task as written" if status.threshold is not None else ""
    return (
        f"About {status.tuning_steps:,} steps ({count_of(status.number_of_episodes, 'episode')} of {count_of(status.length, 'step')}) are planned "
        f"for tuning the PARAMS of this round's programs{too}, in total{solved}."
    )


def references_in_words(references: Mapping[str, Evidence]) -> str:
    """Describe the returns of the reference policies; empty if they are not known."""
    known = [
        f"{REFERENCES.get(name, f'{name} returns')} {scores.score(evidence)}"
        for name, evidence in references.items()
        if evidence.episodes
    ]
    text = "; ".join(known)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def seconds_in_words(attempt: Attempt) -> str:
    """Describe how long a program takes to act, compared with its limit; empty if it is fast."""
    evaluation = attempt.evaluation
    if not evaluation.steps:
        return ""
    each = 1000 * evaluation.policy_seconds / evaluation.steps
    if each < QUICK_MILLISECONDS:
        return ""
    return (
        f"A call of `act` took about {each:.0f} ms (limits: {SANDBOX_LIMITS.step_seconds:g} s, and "
        f"{SANDBOX_LIMITS.episode_seconds:g} s per episode)."
    )
