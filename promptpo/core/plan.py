"""The plan of a round: what each sample is asked for, and which attempts it builds on."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from promptpo.core.budget import affordable, tuning_steps
from promptpo.core.candidate import Attempt, CandidateId
from promptpo.core.feature import Kind, Plan, RunStatus

if TYPE_CHECKING:
    from promptpo.core.config import Config
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.core.recipe import Recipe
    from promptpo.core.returns import Evidence


def run_status(context: SearchContext, history: History) -> RunStatus:
    """Status of the run: what is left of it, and how much of that goes to tuning.

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
    planned = for_tuning(context, history, (), own=own)
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
    left, best = context.spender.ledger.steps_left(), history.best()
    if left is None or best is None:
        return True
    return left >= context.config.train_episodes * _length(history.evidence(best).episodes)


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


def plan_round(context: SearchContext, history: History, *, candidates: int) -> list[Plan]:
    """Plan the request of each sample of the next round.

    The paper's recipe asks N times for the same thing. The evolutionary one gives each sample an island and samples its
    parents by score and shortness (FunSearch, Romera-Paredes et al. 2023). Otherwise one request explores, two where the leader
    came of exploring, and the others refine: the first the leader, each further one a program that is drawn by its probability
    of being the best.

    Args:
        context: Of the run.
        history: What is known.
        candidates: Samples of the round.
    """
    round_, recipe = history.rounds + 1, context.config.switches
    if recipe.history == "winners":
        return [_as_published(history, round_, slot) for slot in range(candidates)]
    ranked = history.ranking()
    kinds = _kinds(history, recipe, candidates, ranked)
    rng = random.Random(f"{context.config.seed} {round_}")  # noqa: S311 - no secret
    seen: Counter[Kind] = Counter()
    plans = []
    for slot, kind in enumerate(kinds):
        parents = tuple(ranked[:1])
        if slot and ranked and kind in {"level", "part"}:
            parents = _draw_parent(history, kind, rng)
        if recipe.history == "parents" and ranked:
            parents = _parents(ranked, recipe, slot, round_, rng)
        elif kind == "mend":
            fell = faster(history)
            parents = (fell, *parents) if fell is not None else parents
        seen[kind] += 1
        may_end = recipe.directions and bool(parents)
        plans.append(Plan(round_, slot, kind, parents, seen[kind], stalled=history.stalled, may_end=may_end))
    return plans


def _kinds(history: History, recipe: Recipe, candidates: int, ranked: Sequence[Attempt]) -> list[Kind]:
    """The kinds of request of a round, by slot: at least half refine."""
    if not history.attempts:
        return ["first"] * candidates
    if not recipe.directions or not ranked or recipe.history == "parents":
        return ["level"] * candidates
    explore = min(candidates // 2, 1 + _is_new_structure(history, ranked[0])) or min(1, history.stalled)
    refine: list[Kind] = ["level", "part"] if history.runner_up() else ["level"]
    if history.unlucky(ranked[0]):
        refine.insert(1, "starts")
    mending: list[Kind] = ["mend"] if faster(history) is not None else []
    elsewhere: list[Kind] = ["structure"] * explore
    return [*(mending + refine * candidates)[: candidates - explore], *elsewhere]


def _is_new_structure(history: History, leader: Attempt) -> bool:
    """Whether the leader is of the last round and was asked for as another structure: in the last slot."""
    written = (
        leader.candidate.parents[0] if leader.candidate.tuned and leader.candidate.parents else leader.id
    )
    asked = [attempt.id for attempt in history.of_round(history.rounds) if not attempt.candidate.tuned]
    places = list(filter(None, map(CandidateId.parse, asked)))
    return history.rounds > 1 and written == str(max(places, default=""))


def _draw_parent(history: History, kind: Kind, rng: random.Random) -> tuple[Attempt, ...]:
    """The parents of a request: of "part" the leader and the runner-up, else one by its probability of being the best."""
    best, second = history.best(), history.runner_up()
    if kind == "part" and best is not None and second is not None:
        return best, second
    likely = history.chances()
    id_ = rng.choices(list(likely), list(likely.values()))[0]
    return tuple(attempt for attempt in history.attempts if attempt.id == id_)


def _as_published(history: History, round_: int, slot: int) -> Plan:
    """The published procedure's request: the same for all samples."""
    best = history.best()
    return Plan(
        round_,
        slot,
        "level" if history.attempts else "first",
        parents=(best,) if best else (),
        stalled=history.stalled,
        winners=True,
        shown=_winners(history),
        reflections=tuple(history.reflections),
    )


def _winners(history: History) -> tuple[Attempt, ...]:
    """The best of each round, oldest first."""
    rounds = [history.of_round(n) for n in range(1, history.rounds + 1)]
    return tuple(max(attempts, key=Attempt.rank) for attempts in rounds if any(map(history.runs, attempts)))


def island_of(attempt: Attempt, islands: int) -> int:
    """The island a candidate was born on: samples are dealt to islands in turn."""
    place = CandidateId.parse(attempt.id)
    return (place.slot - 1) % islands if place else 0


def _parents(
    ranked: Sequence[Attempt], recipe: Recipe, slot: int, round_: int, rng: random.Random
) -> tuple[Attempt, ...]:
    """Parents for one sample: from its island, likelier when better and shorter; migrants now and then."""
    island = slot % recipe.islands
    pool = [a for a in ranked if island_of(a, recipe.islands) == island] or list(ranked)
    if recipe.islands > 1 and round_ % recipe.migrate_every == 0 and ranked[0] not in pool:
        pool = [ranked[0], *pool]
    chosen: list[Attempt] = []
    while pool and len(chosen) < recipe.best_k:
        longest = max(len(a.candidate.source) for a in pool)
        weights = [
            math.exp(-1.5 * place) * math.exp(-0.5 * len(a.candidate.source) / longest)
            for place, a in enumerate(pool)
        ]
        picked = rng.choices(pool, weights)[0]
        chosen.append(picked)
        pool = [a for a in pool if a is not picked]
    return tuple(sorted(chosen, key=ranked.index))


def faster(history: History) -> Attempt | None:
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
