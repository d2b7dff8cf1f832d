"""Feedback on the rollouts of a candidate, as text for the next prompt.

Aggregates over all episodes come first, then the worst and the best episode: a single vivid failure shown
alone misleads a model into discarding a good policy (R2PO, 2026, reports it for CartPole).
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from promptpo.core.candidate import Attempt, Diagnosis, EpisodeSummary
from promptpo.core.feature import EpisodeNarrator
from promptpo.prompts.columns import missing
from promptpo.prompts.limits import SUMMARY
from promptpo.prompts.shortening import count_of, cut_between_words, whole_lines
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.spec.reading import names_of

if TYPE_CHECKING:
    from promptpo.spec import TaskSpec
    from promptpo_sandbox import Episode, Rollout

SHOWN = 60
"""Maximum length of a constant action, in characters."""


def select_episodes(episodes: Sequence[Episode]) -> list[tuple[str, Episode]]:
    """Return the worst and the best finished episode with their roles; of equal returns, one represents all."""
    finished = sorted((e for e in episodes if e.failure is None), key=lambda e: e.return_)
    if not finished:
        return []
    if finished[0].return_ == finished[-1].return_:
        return [("typical", finished[0])]
    return [("worst", finished[0]), ("best", finished[-1])]


def aggregate(evaluation: Evaluation, horizon: int = 0) -> str:
    """Summarise all episodes of an evaluation in one or two sentences."""
    if evaluation.outcome != "ok":
        text = failure(evaluation)
        return text[0].upper() + text[1:]
    returns = evaluation.returns
    text = f"Mean return {number(evaluation.mean_return)} over {count_of(len(returns), 'episode')}"
    if len(set(returns)) > 1:
        text += (
            f" (min {number(min(returns))}, median {number(statistics.median(returns))}, "
            f"max {number(max(returns))})"
        )
    if evaluation.success_rate is not None:
        text += f"; success in {evaluation.success_rate:.0%} of them"
    parts = parts_in_words(evaluation.mean_parts)
    by_parts = f" Mean return by part of the reward: {parts}." if parts else ""
    return f"{text}.{by_parts} {endings(evaluation.episodes, horizon)}"


def parts_in_words(parts: Mapping[str, float]) -> str:
    """Describe the sums of a reward's components, by name."""
    return ", ".join(f"{name} {number(value)}" for name, value in parts.items())


def failure(evaluation: Evaluation) -> str:
    """Describe how an evaluation failed, as a sentence without its subject."""
    where = ""
    if evaluation.failed_at is not None and evaluation.failed_at[1] is not None:
        where = f" at step {evaluation.failed_at[1]} of an episode"
    finished = len(evaluation.episodes)
    done = f" ({count_of(finished, 'episode')} had finished before)" if finished else ""
    return f"{OUTCOME_WORDS[evaluation.outcome]}{where}: {evaluation.error.rstrip('.')}{done}."


def endings(episodes: Sequence[EpisodeRecord], horizon: int = 0) -> str:
    """Describe the length of episodes and how they ended.

    Args:
        episodes: The episodes.
        horizon: Maximum episode length in steps: shorter ones were truncated by the environment itself; 0 if unknown.
    """
    if not episodes:
        return ""
    ended = sum(episode.terminated for episode in episodes)
    early = sum(not episode.terminated and episode.steps < horizon for episode in episodes)
    counts = {
        "terminated": ended,
        "ended early by truncation": early,
        "reached the horizon": len(episodes) - ended - early,
    }
    every = "it" if len(episodes) == 1 else "all"
    how = ", ".join(f"{every if n == len(episodes) else n} {what}" for what, n in counts.items() if n)
    text = f"Length {span([e.steps for e in episodes])} steps; {how}."
    clipped = sum(episode.clipped for episode in episodes)
    if clipped:
        share = clipped / max(1, sum(episode.steps for episode in episodes))
        text += f" Actions were clipped to their bounds in {share:.0%} of the steps."
    return text


OUTCOME_WORDS = {
    "ok": "ran",
    "rejected": "rejected before it ran",
    "crashed": "crashed",
    "timeout": "took too long",
    "memory": "used too much memory",
    "invalid_action": "returned an invalid action",
}


def what_it_did(outcome: str) -> str:
    """Describe how a program failed, as a predicate: ``was rejected before it ran``."""
    words = OUTCOME_WORDS[outcome]
    return f"was {words}" if outcome == "rejected" else words


def summary_line(attempt: Attempt) -> str:
    """Describe an attempt in one line, for lists of attempts not shown in full."""
    evaluation = attempt.evaluation
    name = attempt.id
    if attempt.candidate.duplicate_of:
        return f"{name}: the same program as {attempt.candidate.duplicate_of}"
    if evaluation.outcome != "ok":
        return f"{name}: {OUTCOME_WORDS[evaluation.outcome]}: {evaluation.error}"
    line = f"{name}: mean return {number(evaluation.mean_return)}"
    if evaluation.success_rate is not None:
        line += f", success {evaluation.success_rate:.0%}"
    about = cut_between_words(" ".join(attempt.prose.split()), 140)
    return f"{line} ({about})" if about else line


def summarize_episode(
    role: str, episode: Episode, text: str, given: str = "", horizon: int = 0
) -> EpisodeSummary:
    """Summarise one episode for the feedback, with its initial information in words; `horizon` as for `endings`."""
    early = "truncated by the environment" if episode.steps < horizon else "reached the horizon"
    ending = "terminated" if episode.terminated else early
    shown = whole_lines(text, 2 * SUMMARY)
    return EpisodeSummary(
        role, episode.seed, episode.return_, episode.steps, ending, shown, episode.parts, given
    )


def episode_in_words(
    episode: EpisodeSummary, most: int = 10_000, starts: Mapping[int, str] | None = None
) -> str:
    """Describe an episode as prompts show it, with its summary cut after a whole line at `most` characters."""
    start = f"initial state {starts[episode.seed]}, " if starts and episode.seed in starts else ""
    name = f"The {episode.role} training episode" if episode.role.isalpha() else f"Episode {episode.role}"
    by_parts = f", of which {parts_in_words(episode.parts)}" if episode.parts else ""
    given = f"{episode.given}, " if episode.given else ""
    head = f"{name} ({start}{given}return {number(episode.return_)}{by_parts}, {count_of(episode.steps, 'step')}, {episode.ending}):"
    return f"{head}\n{whole_lines(episode.text, most)}".strip()


def for_feedback_class(episode: Episode, *, sees_all: bool) -> Any:
    """Return an episode as plain data for the feedback class that the model wrote."""
    trajectory = episode.trajectory
    if trajectory is None:
        raise ValueError("the episode was not recorded")
    observations = list(trajectory.observations)
    if not sees_all:
        return observations[: len(trajectory.rewards)]
    return {
        "observations": observations,
        "actions": list(trajectory.actions),
        "rewards": [float(reward) for reward in trajectory.rewards],
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "success": episode.success,
    }


def number(value: float) -> str:
    """Format a number with as many digits as a reader needs."""
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if 1000 <= abs(value) < 1e9:  # noqa: PLR2004
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004


def with_noise(mean: float, error: float, *, signed: bool = False, size: float = 0.0) -> str:
    """Format a mean and its standard error to the error's second digit: ``62.3 ± 9.6``; only the mean if the error is unknown.

    Args:
        mean: The mean.
        error: Its standard error.
        signed: Whether to write the sign of positive numbers, too.
        size: Size of the quantities whose difference this is; an error below a millionth of it counts as rounding.
    """
    plus = "+" if signed and mean > 0 else ""
    if not math.isfinite(error):
        return plus + number(mean)
    if error < 1e-6 * max(abs(mean), abs(size)):
        return f"{plus}{number(mean)} ± 0"
    if not math.isfinite(mean) or not 1e-4 < error < 1e6 or abs(mean) >= 1e6:  # noqa: PLR2004
        return f"{plus}{number(mean)} ± {number(error)}"
    digits = max(0, 1 - math.floor(math.log10(float(f"{error:.1e}"))))
    mean = round(mean, digits) + 0.0  # no -0.0
    return f"{plus}{mean:.{digits}f} ± {error:.{digits}f}"


def span(values: Sequence[int]) -> str:
    """Format a range, ``16 to 30``, or its only value."""
    return f"{values[0]}" if min(values) == max(values) else f"{min(values)} to {max(values)}"


def only_action_taken(rollout: Rollout) -> str:
    """Return the action that a policy took in every step, as JSON; empty if actions differ.

    A single episode proves nothing, since its observation may never change.
    """
    kept = [episode.trajectory.actions for episode in rollout.episodes if episode.trajectory is not None]
    write = json.JSONEncoder(ensure_ascii=False, sort_keys=True, default=methodcaller("tolist")).encode
    actions = [write(action) for each in kept for action in each]
    if len(kept) < 2 or len(set(actions)) != 1:  # noqa: PLR2004 - see above
        return ""
    return actions[0] if len(actions[0]) <= SHOWN else f"{actions[0][: SHOWN - 1]}…"


class BriefNarrator(EpisodeNarrator):
    """Summarises episodes for people in a run without a language model.

    Args:
        spec: Spec of the task.
    """

    def __init__(self, spec: TaskSpec) -> None:
        self._names, self._horizon = names_of(spec.text), spec.horizon or spec.cut or 0

    def sum_up(self, evaluation: Evaluation) -> str:
        """Summarise an evaluation in one or two sentences."""
        return aggregate(evaluation, self._horizon)

    async def summarise(self, rollout: Rollout, evaluation: Evaluation) -> tuple[str, Diagnosis]:
        """Return the same summary, and which observations were NaN."""
        trace, constant = missing(rollout.episodes, self._names), only_action_taken(rollout)
        return self.sum_up(evaluation), Diagnosis(trace=trace, constant=constant)
