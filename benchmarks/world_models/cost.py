"""What world models cost in computing time: holding one against recorded steps, and planning in one."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import gymnasium

from promptpo.search.references import random_policy
from promptpo.world.baseline import write_world
from promptpo.world.data import Experience
from promptpo.world.planners import DEPTH, SIMULATIONS, planning_policy
from promptpo.world.scoring import MOST_STEPS, scored
from sandbox import Limits, Predictions, Replay, Sandbox, Trial

ACTS = 40
"""Actions that are timed."""


@dataclass(frozen=True)
class WorldCost:
    """Seconds of computing time, without the sandbox's own process unless said.

    Attributes:
        transitions: Steps that a model was held against, at 1, 5 and 25 steps ahead and once more for chance.
        scoring: Of this process, while it waited for and judged all predictions.
        judging: Of that, comparing them with what happened.
        act: Of the policy's process, for one action of tree search on CartPole.
        limit: What the sandbox allows one action.
    """

    transitions: int
    scoring: float
    judging: float
    act: float
    limit: float


class _Here:
    def __init__(self, box: Sandbox) -> None:
        self._box = box

    async def replay(self, request: Replay) -> Predictions:
        """See `Executor.replay`."""
        return self._box.replay(request)


def measure_cost() -> WorldCost:
    """Score a plain model of CartPole on 10,000 transitions, and plan in it."""
    env = gymnasium.make("CartPole-v1")
    both = (env.observation_space, env.action_space)
    known, asked = Experience(*both), Experience(*both)
    policy = random_policy(env.action_space)
    with Sandbox() as box:
        played = box.rollout(policy, [env], [Trial(seed) for seed in range(60)], record=True)
        known.add([played])
        source = write_world(*both, known.fitting)
        count = 60
        while sum(map(len, asked.fitting)) < MOST_STEPS:
            trials = [Trial(seed) for seed in range(count, count + 200)]
            asked.add([box.rollout(policy, [env], trials, record=True)])
            count += 200
        here: Any = _Here(box)
        before = time.process_time()
        score = asyncio.run(scored(here, source, None, asked.fitting, both))
        scoring = time.process_time() - before
        plan = planning_policy(source, None, *both)
        acted = box.rollout(plan, [env], [Trial(0, None, ACTS)])
    if score.failure is not None or acted.failure is not None:
        raise RuntimeError(f"{score.failure or acted.failure}")
    return WorldCost(
        score.transitions,
        round(scoring, 3),
        score.seconds,
        round(acted.policy_seconds / acted.steps, 4),
        Limits().step_seconds,
    )


def in_words(cost: WorldCost) -> str:
    """Two lines."""
    return (
        f"scoring {cost.transitions:,} transitions: {cost.scoring:.2f} s of own CPU, {cost.judging:.2f} s of it to "
        f"judge predictions\nplanning, {SIMULATIONS} simulations of depth {DEPTH} on CartPole: {cost.act:.3f} s an "
        f"action; {cost.limit:g} s are allowed"
    )
