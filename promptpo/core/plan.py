"""The basis of a round: the status of the run, steps for tuning, and which programs it may build on."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from promptpo.core.budget import affordable, tuning_steps
from promptpo.core.candidate import Attempt
from promptpo.core.feature import RunStatus

if TYPE_CHECKING:
    from promptpo.core.config import Config
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.core.returns import Evidence


def run_status(context: SearchContext, history: History) -> RunStatus:
    """Status of the run: what is left of it, and how much of that goes to tuning.

    Args:
        context: Of the run.
        history: All attempts so far.
    """
    config, ledger, budget = context.config, context.work.ledger, context.config.budget
    best, number = history.best(), history.rounds + 1
    length = round(_length(history.evidence(best).episodes)) if best else context.horizon
    left, candidates = ledger.steps_left(), config.candidates
    if best:
        each, block = config.train_episodes * length, validation_block_size(config) * length
        candidates = affordable(left, candidates, each=each, validation=block)
    own = candidates * config.train_episodes * length  # this round's programs, before they are tuned
    planned = tuning_budget(context, history, (), own=own)
    return RunStatus(
        round=number,
        rounds=budget.rounds,
        candidates=candidates,
        starts=config.train_episodes,
        steps=budget.steps,
        steps_left=left,
        calls_left=None if budget.calls is None else max(0, budget.calls - ledger.calls),
        tunes=config.switches.tune,
        tuning_steps=planned if config.switches.tune else 0,
        length=length,
        threshold=None
        if "solved_from" in context.spec.text
        else context.threshold,  # else the spec has said it
    )


def pays_for_one(context: SearchContext, history: History) -> bool:
    """Whether the steps that are left pay for another candidate's training, if its episodes are as long as the best one's."""
    left, best = context.work.ledger.steps_left(), history.best()
    if left is None or best is None:
        return True
    return left >= context.config.train_episodes * _length(history.evidence(best).episodes)


def validation_block_size(config: Config) -> int:
    """Fresh starts that a race plays at once: a quarter of a round's, each variant of a family equally often."""
    turn = len(config.task.family) or 1
    return -(-config.score_episodes // (4 * turn)) * turn


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
    played = [_length(a.evaluation.episodes) for a in attempts if a.evaluation.episodes]
    played += [_length(history.evidence(best).episodes)] if best else []
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


def _length(episodes: Sequence[Any]) -> float:
    return statistics.fmean(episode.steps for episode in episodes)


def find_short_lived(history: History) -> Attempt | None:
    """A program that fell early and yet was far better per step than the leader; of several the best per step.

    It fell early: the environment ended most of its episodes before half of the steps that the leader usually has. It
    was far better: a step of it earned more than the leader's by at least the size of that.
    """
    leader = history.best()
    if leader is None:
        return None
    length, paid = _per_step(history.evidence(leader))
    found: list[tuple[float, Attempt]] = []
    for attempt in history.attempts:
        evidence = history.evidence(attempt)
        ended = sum(e.terminated and not e.success for e in evidence.episodes)
        if attempt is leader or not history.runs(attempt) or 2 * ended <= len(evidence.episodes):
            continue
        steps, each = _per_step(evidence)
        if 2 * steps < length and each - paid > abs(paid):
            found.append((each, attempt))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _per_step(evidence: Evidence) -> tuple[float, float]:
    """Steps of a usual episode, and what a step earns."""
    steps = [e.steps for e in evidence.episodes]
    return statistics.median(steps), sum(evidence.returns) / max(1, sum(steps))


def per_step(evidence: Evidence) -> float:
    """Mean reward per step."""
    return _per_step(evidence)[1]
