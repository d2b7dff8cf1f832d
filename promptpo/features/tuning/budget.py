"""How many steps a round's tuning takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.core.budget import ALLOTMENTS, UNLIMITED_STEPS

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History


def tuning_budget(
    context: SearchContext, history: History, attempts: Sequence[Attempt], *, own: int = 0
) -> int:
    """Steps for tuning a round's candidates, as far as the steps that are left tell.

    Args:
        context: Of the run.
        history: All that is known.
        attempts: The round's; none where they are not known yet.
        own: Steps that the round's candidates will take before.
    """
    config, horizon = context.config, context.horizon
    left, best = context.work.ledger.steps_left(), history.best()
    played = [a.evaluation.mean_steps for a in attempts if a.evaluation.episodes]
    played += [history.evidence(best).mean_steps] if best else []
    length = max(played, default=float(horizon))  # what comes may last as long as the best does
    episodes = config.candidates * config.train_episodes + config.score_episodes
    return tuning_steps(
        None if left is None else max(0, left - own),
        reserved=(config.train_episodes + config.score_episodes)
        * horizon,  # tuned, an episode may last as long as any
        rounds=config.budget.rounds - history.rounds,
        coming=math.ceil(episodes * length),
        length=length,
        learns=context.learns,
    )


def tuning_steps(
    left: int | None, *, rounds: int, coming: int, length: float, learns: bool, reserved: int = 0
) -> int:
    """Steps for tuning one round's candidates.

    Rounds get even parts of what later candidates and their judging do not need, the last at least half of what is there; a part
    that is too small to find anything stays for later rounds. Where nothing learns from the rounds, each gets all that is
    left: going on is worth more than beginning again.

    Args:
        left: Of the run; None without a limit.
        rounds: That are left, this one included.
        coming: Steps that the candidates of a round need in training and validation.
        length: Steps of an episode, about.
        learns: Whether a language model learns from the rounds.
        reserved: Steps that are kept back to evaluate what comes out, of a quarter of what is left at most.
    """
    most = round(ALLOTMENTS["tuning"].cap * length)
    if left is None:
        return min(most, UNLIMITED_STEPS)
    left -= min(left // 4, reserved)
    if not learns:
        return min(most, left)
    paid = left // max(1, rounds) - coming
    if rounds <= 1:
        paid = max(paid, left // 2)
    return min(most, paid) if paid >= ALLOTMENTS["tuning"].floor * length > 0 else 0
