"""Where a run is when a round begins, as its requests are told."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.search.judge import BLOCKS
from promptpo.search.tuning.split import Round, kept_for_the_last, tuning_steps
from promptpo.telling.standing import Where

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History


FIRST_LOOK = 2
"""Candidates, the leader among them, whose first look at fresh episodes is kept back from the round's programs."""


def outlook(
    history: History, spender: Spender, config: Config, *, horizon: int, threshold: float | None
) -> Where:
    """What is left of the run, and how much of it tuning will get.

    Args:
        history: All attempts so far.
        spender: Counts calls and steps.
        config: What decides the run.
        horizon: Longest episode, in steps.
        threshold: Return from which on the task counts as solved, where requests should say it.
    """
    ledger = spender.ledger
    best = history.best()
    lengths = [
        statistics.fmean(e.steps for e in a.evaluation.episodes)
        for a in history.attempts
        if a.evaluation.episodes
    ]
    episodes = history.evidence(best).episodes if best else ()
    length = round(statistics.fmean(e.steps for e in episodes)) if episodes else horizon
    left, calls = ledger.steps_left(), config.budget.calls
    candidates = config.candidates
    if left is not None and episodes:  # an answer that no steps are left to play is paid for nothing
        block = -(-config.score_episodes // BLOCKS)
        again = FIRST_LOOK * block * length  # who is not looked at again is worth little
        candidates = max(1, min(candidates, (left - again) // max(1, config.train_episodes * length)))
    own = candidates * config.train_episodes * length  # this round's programs, before they are tuned
    part = Round(
        number=history.rounds + 1,
        left=config.budget.rounds - history.rounds,
        lengths=[length],
        measuring=(config.train_episodes + config.score_episodes) * horizon,
        language_model=spender.llm.language_model,
        coming=own + config.score_episodes * length,
        closing=config.score_episodes * length,
    )
    rest = None if left is None else max(0, left - own)
    planned = tuning_steps(part, rest)
    tunes = config.switches.tune and config.tune != "none"
    kept = tunes and kept_for_the_last(part, rest)
    return Where(
        round=history.rounds + 1,
        rounds=config.budget.rounds,
        candidates=candidates,
        starts=config.train_episodes,
        steps=config.budget.steps,
        steps_left=left,
        calls_left=None if calls is None else max(0, calls - ledger.calls),
        tunes=tunes,
        tuning_steps=planned if tunes else 0,
        kept=kept,
        unless_early=kept
        and not kept_for_the_last(replace(part, lengths=[round(min(lengths, default=length))]), rest),
        length=length,
        threshold=threshold,
    )
