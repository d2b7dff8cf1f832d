"""Where a run is when a round begins, as its requests are told, and what of its steps is for tuning."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from promptpo.run.budget import affordable, tuning_steps
from promptpo.telling.plan import RunStatus

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.history import History
    from promptpo.run.records import Attempt
    from promptpo.search.context import SearchContext


def outlook(context: SearchContext, history: History) -> RunStatus:
    """What is left of the run, and how much of it tuning will get.

    Args:
        context: Of the run.
        history: All attempts so far.
    """
    config, ledger, budget = context.config, context.spender.ledger, context.config.budget
    best, number = history.best(), history.rounds + 1
    length = round(_length(history.evidence(best).episodes)) if best else context.horizon
    left, candidates = ledger.steps_left(), config.candidates
    if best:
        each, look = config.train_episodes * length, block_of(config) * length
        candidates = affordable(left, candidates, each=each, look=look)
    own = candidates * config.train_episodes * length  # this round's programs, before they are tuned
    tunes = config.switches.tune and config.tune != "none"
    planned = for_tuning(context, history, (), own=own)
    return RunStatus(
        round=number,
        rounds=budget.rounds,
        candidates=candidates,
        starts=config.train_episodes,
        steps=budget.steps,
        steps_left=left,
        calls_left=None if budget.calls is None else max(0, budget.calls - ledger.calls),
        tunes=tunes,
        tuning_steps=planned if tunes else 0,
        length=length,
        threshold=None
        if "solved_from" in context.spec.text
        else context.threshold,  # else the spec has said it
    )


def block_of(config: Config) -> int:
    """Fresh starts that a race plays at once: a quarter of a round's, each variant of a family equally often."""
    turn = len(config.task.family) or 1
    return -(-config.score_episodes // (4 * turn)) * turn


def for_tuning(context: SearchContext, history: History, attempts: Sequence[Attempt], *, own: int = 0) -> int:
    """Steps for tuning a round's candidates, as far as the steps that are left tell.

    Args:
        context: Of the run.
        history: All that is known.
        attempts: The round's; none where they are not known yet.
        own: Steps that the round's candidates will take before.
    """
    config, horizon = context.config, context.horizon
    left, best = context.spender.ledger.steps_left(), history.best()
    played = [_length(a.evaluation.episodes) for a in attempts if a.evaluation.episodes]
    played += [_length(history.evidence(best).episodes)] if best else []
    length = max(played, default=float(horizon))  # what comes may last as long as the best does
    episodes = config.candidates * config.train_episodes + config.score_episodes
    return tuning_steps(
        None if left is None else max(0, left - own),
        looks=(config.train_episodes + config.score_episodes)
        * horizon,  # tuned, an episode may last as long as any
        rounds=config.budget.rounds - history.rounds,
        coming=math.ceil(episodes * length),
        length=length,
        learns=context.learns,
    )


def _length(episodes: Sequence[Any]) -> float:
    return statistics.fmean(episode.steps for episode in episodes)
