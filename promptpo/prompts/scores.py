"""Evidence in words: candidates' returns and their differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from promptpo.core.candidate import SEEDS_PER_PURPOSE
from promptpo.prompts.feedback import OUTCOME_WORDS, number, with_noise
from promptpo.prompts.limits import NAMED
from promptpo.prompts.shortening import count_of
from promptpo.rollouts.evaluation import extremes

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.history import History
    from promptpo.core.returns import Evidence


def score(evidence: Evidence) -> str:
    """Return mean and standard error: ``293.1 ± 3.2 over 26 episodes``."""
    n = len(evidence.episodes)
    if not n:
        return "no finished episode"
    success = f", success in {evidence.success_rate:.0%}" if evidence.success_rate is not None else ""
    return (
        f"{with_noise(evidence.mean_return, evidence.standard_error)} over {count_of(n, 'episode')}{success}"
    )


def starts(history: History) -> Mapping[int, str]:
    """Return a short name for each seed: 1, 2, ... for training and v1, v2, ... for validation."""
    seeds = sorted({e.seed for a in history.attempts for e in history.evidence(a).episodes})
    return {
        seed: str(n) if seed < SEEDS_PER_PURPOSE else f"v{seed - SEEDS_PER_PURPOSE + 1}"
        for n, seed in enumerate(seeds, 1)
    }


def render_scores(history: History, leader: Attempt) -> str:
    """Return a table of all candidates, best first: mean, paired difference to the leader, and return from each initial state.

    Initial states are sorted by the leader's return, worst first, so that the bad ones are always shown. A return is marked if the
    environment ended the episode but not others of the program.
    """
    names = starts(history)
    played = sorted(history.evidence(leader).episodes, key=lambda e: e.return_)
    columns = [e.seed for e in played[:NAMED]]
    more = f", the {len(columns)} worst of {len(played)}" if len(played) > len(columns) else ""
    fresh = (
        "; v1, v2 ... are validation states, which only the better programs play"
        if any(names[s][0] == "v" for s in columns)
        else ""
    )
    rows = [
        "|".join(
            [
                "candidate",
                "mean ± stderr (episodes)",
                f"minus {leader.id} ± stderr",
                *map(names.__getitem__, columns),
            ]
        )
    ]
    ranked = history.ranking()
    others = [a for a in history.attempts if a not in ranked]
    rows += [_row(history, attempt, leader, columns) for attempt in (*ranked, *others)]
    ended = " * = terminated, unlike other episodes of the program." if "*" in "".join(rows) else ""
    return "\n".join([f"Initial states: from {leader.id}'s worst to its best{more}{fresh}.{ended}", *rows])


def _row(history: History, attempt: Attempt, leader: Attempt, columns: Sequence[int]) -> str:
    other = attempt.candidate.duplicate_of
    if other:
        return f"{attempt.id}|the same program as {other}"
    if not history.runs(attempt):
        return f"{attempt.id}|{OUTCOME_WORDS[attempt.evaluation.outcome]}"
    evidence = history.evidence(attempt)
    lasted = any(not e.terminated for e in evidence.episodes)
    returns = {
        e.seed: number(e.return_) + ("*" if e.terminated and not e.success and lasted else "")
        for e in evidence.episodes
    }
    rate = evidence.success_rate
    success = "" if rate is None else f", success {rate:.0%}"
    mean = f"{with_noise(evidence.mean_return, evidence.standard_error)} ({len(evidence.episodes)}{success})"
    return "|".join(
        [attempt.id, mean, _minus(history, attempt, leader), *(returns.get(s, "") for s in columns)]
    )


def _minus(history: History, attempt: Attempt, leader: Attempt) -> str:
    if attempt is leader:
        return "the best"
    if attempt.id in history.equivalents:
        return f"the same ({len(attempt.evaluation.episodes)})"
    found = history.return_difference(attempt, leader)
    size = history.evidence(leader).mean_return
    return with_noise(found.mean, found.standard_error, signed=True, size=size)


def unlucky_starts(history: History, attempt: Attempt) -> str:
    """Describe the initial states from which a program returns less than their difficulty explains, with its returns there."""
    names, below = starts(history), history.unlucky(attempt)
    return ", ".join(f"{names[e.seed]} ({number(e.return_)})" for e in below[:NAMED])


def reward_range(history: History) -> tuple[float, ...]:
    """Return the minimum and maximum reward of single steps, including tuning; empty if unknown."""
    episodes = (e.extremes for a in history.attempts for e in history.evidence(a).episodes)
    return extremes([history.earned, *episodes, *(a.diagnosis.rewards for a in history.attempts)])
